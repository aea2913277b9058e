#include "sim/population/priors.hpp"

#include <algorithm>
#include <array>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kPriorColumns = {"property", "compressor", "stacks", "median",
                                      "spread",   "between",    "source", "implementation"};
constexpr std::size_t kPriorsRequired = 7;

}  // namespace

double parse_spread(std::string_view text) {
  const double spread = parse_percent(text);
  if (spread > 0 && spread <= 3) return spread;
  throw ValueError("'" + std::string(text) + "' is not above 0% and at most 300%");
}

std::vector<std::string> parse_stack_parts(std::string_view text) {
  std::vector<std::string> parts = split_words(text, '+');
  for (const std::string& part : parts)
    if (part.empty())
      throw ValueError(in_quotes(text) +
                       " has an empty part; write parts of names, like 'mpi+gloo'");
  return parts;
}

bool has_any_part(const std::string& stack, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return stack.find(part) != std::string::npos;
  });
}

bool TermPrior::holds_for(const std::string& stack) const {
  return stacks.empty() || has_any_part(stack, stacks);
}

StackPriors load_stack_priors(const TextFile& file) {
  StackPriors priors;
  CsvReader rows(file, kPriorColumns, kPriorsRequired);
  while (rows.next()) {
    const std::string& name = rows.word("property");
    rows.word("source");
    if (name == "discrepancy" || name == "scatter") {
      (name == "scatter" ? priors.scatter : priors.discrepancy) =
          rows.value("median", parse_spread);
      continue;
    }
    TermPrior term;
    term.quantity = &rows.value("property", find_scenario_quantity);
    term.compressor = rows.value("compressor", parse_term_compressor);
    term.implementation = rows.value("implementation", parse_term_implementation);
    if (!rows.text("stacks").empty()) term.stacks = rows.value("stacks", parse_stack_parts);
    term.median = rows.value("median", term.quantity->parse);
    if (term.median <= 0) throw rows.failure("median", "the middle of a lognormal is above 0");
    term.spread = rows.value("spread", parse_spread);
    term.between = rows.value("between", parse_spread);
    term.source = rows.text("source");
    priors.terms.push_back(std::move(term));
  }
  if (priors.terms.empty() || priors.discrepancy == 0 || priors.scatter == 0)
    throw rows.failure("terms, 'discrepancy' and 'scatter' are needed");
  return priors;
}

StackPriors load_stack_priors(DataFiles& files) {
  return load_stack_priors(files.read(kStackLists, "stack-priors"));
}

}  // namespace gradcast
