#include "sim/population/known_terms.hpp"

#include <algorithm>
#include <array>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "sim/population/priors.hpp"

namespace gradcast {
namespace {

constexpr std::array kColumns = {"stacks",    "property", "compressor", "value",
                                 "deviation", "seen",     "source",     "implementation"};
constexpr std::size_t kRequired = 7;

}  // namespace

std::vector<KnownTerm> load_known_terms(const TextFile& file) {
  std::vector<KnownTerm> all;
  CsvReader rows(file, kColumns, kRequired);
  while (rows.next()) {
    KnownTerm known;
    known.file = rows.path();
    known.line = rows.line();
    known.stacks = rows.value("stacks", parse_stack_parts);
    known.quantity = &rows.value("property", find_scenario_quantity);
    if (!known.quantity->software)
      throw rows.failure("property", in_quotes(known.quantity->name) + " is the hardware's");
    known.compressor = rows.value("compressor", parse_term_compressor);
    known.implementation = rows.value("implementation", parse_term_implementation);
    known.source = rows.word("source");
    if (!rows.text("seen").empty()) known.seen = rows.value("seen", parse_seen);
    const std::string& value = rows.text("value");
    known.ruled_out = value == "no";
    if (!known.ruled_out && !value.empty()) {
      known.value = rows.value("value", known.quantity->parse);
      if (*known.value <= 0) throw rows.failure("value", "the middle of a lognormal is above 0");
      known.deviation = rows.value("deviation", parse_spread);
    } else if (known.ruled_out == known.seen.has_value()) {
      throw rows.failure("value", "a value, 'no', or what was seen is needed");
    }
    all.push_back(std::move(known));
  }
  return all;
}

std::vector<KnownTerm> load_known_terms(DataFiles& files) {
  return load_known_terms(files.read(kStackLists, "stack-known"));
}

void require_stacks_of(const std::vector<KnownTerm>& known, const std::vector<std::string>& names) {
  for (const KnownTerm& its : known)
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return has_any_part(name, its.stacks); }))
      throw DataError(its.file, its.line,
                      "column 'stacks': " + in_quotes(join(its.stacks, "+")) +
                          " is part of no stack's name (" + join(names) + ")");
}

std::vector<std::string> apply_known(Stack& stack, const std::vector<KnownTerm>& known,
                                     bool measured) {
  std::vector<std::string> taken_out;
  for (const KnownTerm& its : known) {
    if (!has_any_part(stack.name, its.stacks)) continue;
    auto term = std::find_if(stack.terms.begin(), stack.terms.end(), [&](const StackTerm& each) {
      return each.quantity == its.quantity && each.compressor == its.compressor &&
             each.implementation == its.implementation;
    });
    const bool of_all = its.compressor.empty() && its.implementation.empty();
    if (measured && (of_all || term != stack.terms.end())) continue;
    if (its.ruled_out) {
      if (term == stack.terms.end()) continue;
      taken_out.push_back("Without " + term->name() + ": " + its.source);
      stack.terms.erase(term);
      continue;
    }
    if (its.value && term == stack.terms.end()) {
      stack.terms.emplace_back();
      term = stack.terms.end() - 1;
      term->quantity = its.quantity;
      term->compressor = its.compressor;
      term->implementation = its.implementation;
    }
    if (term == stack.terms.end()) continue;
    if (its.value) {
      term->value = *its.value;
      term->deviation = its.deviation;
      term->seen.clear();  // others have seen another value
    }
    if (its.seen) term->seen = *its.seen;
    term->source = its.source;
  }
  return taken_out;
}

}  // namespace gradcast
