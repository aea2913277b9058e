#include "sim/plan/stack.hpp"

#include <array>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kStackColumns = {"property", "value", "deviation", "source",
                                      // optional from here on
                                      "compressor", "seen", "presence"};
constexpr std::size_t kStackRequired = 4;

/// A figure that is off by a factor of 20 and more says nothing.
constexpr double kMostDeviation = 3;

/// The digits to write; more than any deviation is sure of.
constexpr int kDigitsKept = 4;

double parse_deviation(std::string_view text) {
  const double deviation = text.empty() ? 0 : parse_percent(text);
  if (deviation <= kMostDeviation) return deviation;
  throw ValueError("'" + std::string(text) + "' is more than 300%: such a figure says nothing");
}

double parse_presence(std::string_view text) {
  const double presence = parse_percent(text);
  if (presence > 0 && presence <= 1) return presence;
  throw ValueError("'" + std::string(text) + "' is not above 0% and at most 100%");
}

/// Software alone: what was bought is in the cluster's file.
const ScenarioQuantity& find_software(std::string_view name) {
  std::vector<std::string> known;
  for (const ScenarioQuantity& quantity : all_scenario_quantities())
    if (quantity.software) {
      if (quantity.name == name) return quantity;
      known.emplace_back(quantity.name);
    }
  for (const char* own : {"discrepancy", "scatter", "pipelines", "fusion", "overlap", "collective",
                          "gradients", "parameters"})
    known.emplace_back(own);
  throw ValueError("unknown property '" + std::string(name) + "'" + did_you_mean(name, known) +
                   " (properties of a stack: " + join(known) + ")");
}

UsualSchedule& schedule_of(Stack& stack, const CsvReader& rows) {
  if (!stack.schedule) stack.schedule.emplace();
  stack.schedule->source = rows.text("source");
  return *stack.schedule;
}

/// True for a row that is no term.
bool read_own(Stack& stack, const CsvReader& rows) {
  const std::string& name = rows.text("property");
  if (name == "discrepancy")
    stack.discrepancy = rows.value("value", parse_deviation);
  else if (name == "scatter")
    stack.scatter = rows.value("value", parse_deviation);
  else if (name == "pipelines")
    stack.pipelines = rows.value("value", parse_yes_no);
  else if (name == "fusion")
    schedule_of(stack, rows).fusion = rows.value("value", parse_fusion);
  else if (name == "overlap")
    schedule_of(stack, rows).overlap = rows.value("value", parse_usual_overlap);
  else if (name == "collective")
    schedule_of(stack, rows).collective = rows.word("value");
  else if (name == "gradients")
    schedule_of(stack, rows).shards_all_reduced = rows.value("value", parse_shards_all_reduced);
  else if (name == "parameters")
    schedule_of(stack, rows).owners_broadcast = rows.value("value", parse_owners_broadcast);
  else
    return false;
  return true;
}

std::string percent(double share) { return percent_to_text(rounded_to(kDigitsKept, share)); }

}  // namespace

UsualOverlap parse_usual_overlap(std::string_view text) {
  for (const UsualOverlap overlap : {UsualOverlap::Yes, UsualOverlap::No, UsualOverlap::Never})
    if (text == to_text(overlap)) return overlap;
  throw ValueError("'" + std::string(text) + "' is not 'yes', 'no' or 'never'");
}

std::string to_text(UsualOverlap overlap) {
  return overlap == UsualOverlap::Yes ? "yes" : overlap == UsualOverlap::No ? "no" : "never";
}

bool parse_shards_all_reduced(std::string_view text) {
  if (text.empty() || text == "reduce-scatter") return false;
  if (text == "all-reduce") return true;
  throw ValueError("'" + std::string(text) + "' is not 'all-reduce' or 'reduce-scatter'");
}

bool parse_owners_broadcast(std::string_view text) {
  if (text.empty() || text == "all-gather") return false;
  if (text == "broadcast") return true;
  throw ValueError("'" + std::string(text) + "' is not 'all-gather' or 'broadcast'");
}

std::string parse_term_compressor(const std::string& name) {
  if (name.empty() || find_compressor(name) != nullptr) return name;
  std::vector<std::string> known;
  for (const Compressor* each : all_compressors()) known.emplace_back(each->name);
  throw ValueError("unknown compressor '" + name + "'" + did_you_mean(name, known));
}

Transport transport_of(std::string_view stack) {
  if (stack.find("mpi") != std::string_view::npos) return Transport::Mpi;
  return stack.find("gloo") != std::string_view::npos ? Transport::Gloo : Transport::Nccl;
}

std::string StackTerm::name() const {
  return std::string(quantity->name) + (compressor.empty() ? "" : " of " + compressor);
}

Stack load_stack(const TextFile& file) {
  Stack stack;
  stack.name = file.path.stem().string();
  if (const std::string sources = comment_value(file, "sources"); !sources.empty())
    stack.sources = split_words(sources, ' ');
  if (const std::string without = comment_value(file, "without"); !without.empty())
    stack.without = split_words(without, ' ');
  CsvReader rows(file, kStackColumns, kStackRequired);
  std::set<std::string> own;
  while (rows.next()) {
    rows.word("source");
    if (read_own(stack, rows)) {
      if (!own.insert(rows.text("property")).second)
        throw rows.failure("property", in_quotes(rows.text("property")) + " stands twice");
      continue;
    }
    StackTerm term;
    term.quantity = &rows.value("property", find_software);
    term.compressor = rows.value("compressor", parse_term_compressor);
    if (!term.compressor.empty() && term.quantity->of != ScenarioQuantity::Of::Costs)
      throw rows.failure("compressor", in_quotes(term.quantity->name) + " is of no compressor");
    term.value = rows.value("value", term.quantity->parse);
    term.deviation = rows.value("deviation", parse_deviation);
    if (!rows.text("presence").empty()) term.presence = rows.value("presence", parse_presence);
    term.source = rows.text("source");
    term.seen = rows.value("seen", parse_seen);
    for (const StackTerm& other : stack.terms)
      if (other.quantity == term.quantity && other.compressor == term.compressor)
        throw rows.failure("property", in_quotes(term.name()) + " stands twice");
    stack.terms.push_back(std::move(term));
  }
  if (stack.terms.empty() && stack.discrepancy == 0)
    throw rows.failure("the stack has no property");
  return stack;
}

std::string stack_csv(const Stack& stack, const std::vector<std::string>& provenance) {
  std::string text = csv_comments(provenance);
  text += csv_line({"property", "compressor", "value", "deviation", "source", "seen", "presence"});
  for (const StackTerm& term : stack.terms)
    text += csv_line({std::string(term.quantity->name), term.compressor,
                      term.quantity->text(term.value, kDigitsKept), percent(term.deviation),
                      term.source, to_text(term.seen),
                      term.presence < 1 ? percent(term.presence) : ""});
  const std::string source = "of measured times over their forecasts, on a log scale";
  text += csv_line(
      {"discrepancy", "", percent(stack.discrepancy), "", "of communication and software, measured over forecast, on a log scale: of a cluster", "", ""});
  text += csv_line({"scatter", "", percent(stack.scatter), "", source + ": of a run", "", ""});
  if (stack.pipelines)
    text += csv_line({"pipelines", "", "yes", "", "hides collectives under encoding", "", ""});
  if (const auto& usual = stack.schedule) {
    text += csv_line({"fusion", "", to_text(usual->fusion), "", usual->source, "", ""});
    text += csv_line({"overlap", "", to_text(usual->overlap), "", usual->source, "", ""});
    if (!usual->collective.empty())
      text += csv_line({"collective", "", usual->collective, "", usual->source, "", ""});
    if (usual->shards_all_reduced)
      text += csv_line({"gradients", "", "all-reduce", "", usual->source, "", ""});
    if (usual->owners_broadcast)
      text += csv_line({"parameters", "", "broadcast", "", usual->source, "", ""});
  }
  return text;
}

}  // namespace gradcast
