#include "sim/plan/stack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "kernels/compressor.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

constexpr std::array kStackColumns = {"property", "value", "deviation", "source",
                                      // optional from here on
                                      "compressor", "seen", "presence", "implementation",
                                      "deviation_below", "between"};
constexpr std::size_t kStackRequired = 4;

constexpr const char* kSmallDiscrepancy = "small_discrepancy";
constexpr const char* kSmallScatter = "small_scatter";
constexpr const char* kDiscrepancyElsewhere = "discrepancy_elsewhere";
constexpr const char* kScatterElsewhere = "scatter_elsewhere";
constexpr const char* kShownLinks = "shown_links";
constexpr const char* kNoLinks = "none";

/// The digits to write; more than any deviation is sure of.
constexpr int kDigitsKept = 4;

double parse_deviation(std::string_view text) {
  const double deviation = text.empty() ? 0 : parse_percent(text);
  if (deviation <= kMostTermDeviation) return deviation;
  throw ValueError("'" + std::string(text) + "' is more than 300%: such a figure says nothing");
}

/// "link of home: sockets at 1.18GBps|link of home: intra_bandwidth at 6.7GBps", or "none".
std::vector<std::string> parse_links(std::string_view text) {
  if (text == kNoLinks) return {};
  return split_words(text, '|');  // names have blanks
}

double parse_presence(std::string_view text) {
  const double presence = parse_percent(text);
  if (presence > 0 && presence <= 1) return presence;
  throw ValueError("'" + std::string(text) + "' is not above 0% and at most 100%");
}

double parse_factor(std::string_view text) {
  const double factor = parse_number(text);
  if (factor >= 0.01 && factor <= 100) return factor;
  throw ValueError("'" + std::string(text) + "' is not a factor from 0.01 to 100");
}

double parse_correlation(std::string_view text) {
  const double correlation = parse_number(text);
  if (correlation > -1 && correlation < 1) return correlation;
  throw ValueError("'" + std::string(text) + "' is not above -1 and below 1");
}

/// "per_iteration_overhead | model_factor" as two names.
std::pair<std::string, std::string> parse_pair(const std::string& text) {
  std::vector<std::string> names = split_words(text, '|');
  for (std::string& name : names) {
    while (name.starts_with(' ')) name.erase(0, 1);
    while (name.ends_with(' ')) name.pop_back();
  }
  if (names.size() != 2 || names[0].empty() || names[0] == names[1])
    throw ValueError("'" + text + "' is not two terms, like 'rank_spread | model_factor'");
  return {names[0], names[1]};
}

/// Software alone: what was bought is in the cluster's file.
const ScenarioQuantity& find_software(std::string_view name) {
  std::vector<std::string> known;
  for (const ScenarioQuantity& quantity : all_scenario_quantities())
    if (quantity.software) {
      if (quantity.name == name) return quantity;
      known.emplace_back(quantity.name);
    }
  for (const char* own :
       {"discrepancy", "scatter", kSmallDiscrepancy, kSmallScatter, kModelFactor, kKindFactor,
        "correlation", "pipelines", "fusion", "overlap", "collective", "gradients", "parameters",
        "buffers", "network_streams", "sharding", "shardings"})
    known.emplace_back(own);
  throw ValueError("unknown property '" + std::string(name) + "'" + did_you_mean(name, known) +
                   " (properties of a stack: " + join(known) + ")");
}

UsualSchedule& schedule_of(Stack& stack, const CsvReader& rows) {
  if (!stack.schedule) stack.schedule.emplace();
  stack.schedule->source = rows.text("source");
  return *stack.schedule;
}

void read_factor(Stack& stack, const CsvReader& rows) {
  if (stack.factor) throw rows.failure("property", in_quotes(kModelFactor) + " stands twice");
  stack.factor = rows.value("value", parse_factor);
  stack.discrepancy = rows.value("deviation", parse_deviation);
  stack.discrepancy_below = rows.value("deviation_below", parse_deviation);
}

/// More alike than this, and a file has a kind twice.
constexpr double kSameKind = 0.999;

void read_kind(Stack& stack, const CsvReader& rows) {
  const std::vector<SeenBox> seen = rows.value("seen", parse_seen);
  double compute = 0;
  double ranks = 0;
  for (const SeenBox& box : seen)
    for (const SeenRange& range : box)
      if (range.low == range.high) (range.number->name == "compute" ? compute : ranks) = range.low;
  KindFactor kind{
      {rows.value("compressor", parse_term_compressor), Seconds{compute}, static_cast<int>(ranks)},
      rows.value("value", parse_factor),
      rows.value("deviation", parse_deviation),
      rows.value("implementation", parse_term_implementation)};
  if (compute <= 0 || ranks < 1 || ranks > kMostRanks || to_text(seen) != kind.seen())
    throw rows.failure("seen",
                       "a kind of runs is one time of one GPU and a number of ranks, like "
                       "'compute=0.2133 ranks=16'");
  for (const KindFactor& other : stack.kinds)
    if (kind_correlation(other.kind, kind.kind) > kSameKind)
      throw rows.failure("property", in_quotes(kind.name()) + " stands twice");
  stack.kinds.push_back(std::move(kind));
}

void read_correlation(Stack& stack, const CsvReader& rows) {
  const auto [one, other] = rows.value("between", parse_pair);
  for (const TermCorrelation& known : stack.correlations)
    if ((known.one == one && known.other == other) || (known.one == other && known.other == one))
      throw rows.failure("between", in_quotes(rows.text("between")) + " stands twice");
  stack.correlations.push_back({one, other, rows.value("value", parse_correlation)});
}

/// True for a row that is no term.
bool read_own(Stack& stack, const CsvReader& rows) {
  const std::string& name = rows.text("property");
  if (name == "discrepancy") {
    if (stack.factor)
      throw rows.failure("property", "'discrepancy' and 'model_factor' are the same error");
    stack.discrepancy = rows.value("value", parse_deviation);
  } else if (name == "scatter")
    stack.scatter = rows.value("value", parse_deviation);
  else if (name == kSmallDiscrepancy)
    stack.small_discrepancy = rows.value("value", parse_deviation);
  else if (name == kSmallScatter)
    stack.small_scatter = rows.value("value", parse_deviation);
  else if (name == kDiscrepancyElsewhere)
    stack.discrepancy_elsewhere = rows.value("value", parse_deviation);
  else if (name == kScatterElsewhere)
    stack.scatter_elsewhere = rows.value("value", parse_deviation);
  else if (name == kShownLinks)
    stack.shown_links = parse_links(rows.word("value"));
  else if (name == kModelFactor)
    read_factor(stack, rows);
  else if (name == kKindFactor)
    read_kind(stack, rows);
  else if (name == "correlation")
    read_correlation(stack, rows);
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
  else if (name == "buffers")
    schedule_of(stack, rows).buffers_broadcast = rows.value("value", parse_buffers_broadcast);
  else if (name == "network_streams")
    schedule_of(stack, rows).network_streams = rows.value("value", parse_network_streams);
  else if (name == "sharding")
    schedule_of(stack, rows).sharding = rows.value("value", parse_sharding);
  else if (name == "shardings")
    schedule_of(stack, rows).shardings = rows.value("value", parse_shardings);
  else
    return false;
  return true;
}

/// Correlations are of what the file has, and possible.
void require_joint(const Stack& stack, const CsvReader& rows) {
  const auto has = [&](const std::string& name) {
    return (stack.factor && name == kModelFactor) ||
           std::any_of(stack.kinds.begin(), stack.kinds.end(),
                       [&](const KindFactor& kind) { return kind.name() == name; }) ||
           std::any_of(stack.terms.begin(), stack.terms.end(),
                       [&](const StackTerm& term) { return term.name() == name; });
  };
  for (const TermCorrelation& each : stack.correlations)
    for (const std::string* name : {&each.one, &each.other})
      if (!has(*name))
        throw rows.failure("the correlation of '" + each.one + " | " + each.other + "' names '" +
                           *name + "', which the stack does not have");
  try {
    static_cast<void>(joint_terms(stack.correlations));
  } catch (const ValueError& error) {
    throw rows.failure(error.what());
  }
}

/// The least deviation between software costs of a family's compressors, in their logarithm: few
/// were measured.
constexpr double kLeastBetween = 1;

/// A cost of a compressor that nobody measured: the median of what others of its family take. Its
/// variance is theirs, and that between them.
StackTerm family_term(const std::vector<const StackTerm*>& others, const Compressor& compressor) {
  StackTerm term;
  term.quantity = others[0]->quantity;
  term.compressor = compressor.name;
  term.implementation = others[0]->implementation;
  term.of_family = true;
  term.presence = 0;
  std::vector<std::string> names;
  const auto count = static_cast<double>(others.size());
  double middle = 0;
  double square = 0;
  double own = 0;
  for (const StackTerm* other : others) {
    const double log = std::log(other->value);
    middle += log / count;
    square += log * log / count;
    own += other->deviation * other->deviation / count;
    term.presence = std::max(term.presence, other->presence);
    names.push_back(other->compressor);
    for (const SeenBox& box : other->seen)
      if (std::none_of(term.seen.begin(), term.seen.end(),
                       [&](const SeenBox& known) { return to_text({known}) == to_text({box}); }))
        term.seen.push_back(box);
  }
  term.value = std::exp(middle);
  const double between = std::max(kLeastBetween * kLeastBetween, square - middle * middle);
  term.deviation = std::min(kMostTermDeviation, std::sqrt(own + between));
  term.source = "nobody measured it: as " + join(names);
  return term;
}

/// Gives compressors that nobody measured their family's terms. Without these a compressor would
/// win by what is not known of it.
void add_family_terms(Stack& stack, std::span<const Compressor* const> compressors) {
  std::vector<StackTerm> added;
  std::set<std::pair<const ScenarioQuantity*, std::string>> kinds;
  std::set<std::pair<const ScenarioQuantity*, std::string>> of_all;  // whose row says more
  for (const StackTerm& term : stack.terms)
    (term.compressor.empty() ? of_all : kinds).emplace(term.quantity, term.implementation);
  for (const auto& kind : kinds) {
    if (of_all.contains(kind)) continue;
    std::vector<const StackTerm*> measured;
    for (const StackTerm& term : stack.terms)
      if (std::pair(term.quantity, term.implementation) == kind && !term.of_family &&
          term.value > 0)
        measured.push_back(&term);
    for (const Compressor* compressor : compressors) {
      std::vector<const StackTerm*> family;
      for (const StackTerm* term : measured)
        if (find_compressor(term->compressor)->family == compressor->family) family.push_back(term);
      if (!family.empty() &&
          std::none_of(measured.begin(), measured.end(),
                       [&](const StackTerm* term) { return term->compressor == compressor->name; }))
        added.push_back(family_term(family, *compressor));
    }
  }
  stack.terms.insert(stack.terms.end(), added.begin(), added.end());
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

int parse_network_streams(std::string_view text) {
  return text.empty() ? 1 : parse_count_to(64, text);
}

std::vector<std::string> parse_shardings(std::string_view text) {
  std::vector<std::string> words = split_words(text, ' ');
  if (text.empty()) words.clear();
  for (const std::string& word : words)
    if (parse_sharding(word).kind == Sharding::None && words.size() > 1)
      throw ValueError("'none' stands alone");
  return words;
}

bool UsualSchedule::has(const ShardingChoice& choice) const {
  return shardings.empty() || choice.kind == Sharding::None ||
         std::find(shardings.begin(), shardings.end(), to_text(choice)) != shardings.end();
}

bool parse_buffers_broadcast(std::string_view text) {
  if (text.empty()) return false;
  if (text == "broadcast") return true;
  throw ValueError("'" + std::string(text) + "' is not 'broadcast'");
}

std::string parse_term_compressor(const std::string& name) {
  if (name.empty() || find_compressor(name) != nullptr) return name;
  std::vector<std::string> known;
  for (const Compressor* each : all_compressors()) known.emplace_back(each->name);
  throw ValueError("unknown compressor '" + name + "'" + did_you_mean(name, known));
}

std::string parse_term_implementation(const std::string& name) {
  const std::vector<std::string> known{std::string(kOperators), std::string(kCudaImplementation),
                                       std::string(kCpuImplementation)};
  if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return name;
  throw ValueError("unknown implementation '" + name + "'" + did_you_mean(name, known) +
                   " (implementations: " + join(known) + ")");
}

Transport transport_of(std::string_view stack) {
  if (stack.find("mpi") != std::string_view::npos) return Transport::Mpi;
  return stack.find("gloo") != std::string_view::npos ? Transport::Gloo : Transport::Nccl;
}

std::string_view words_of(Transport transport) {
  constexpr std::string_view kWords[kTransports] = {"NCCL", "MPI through the host", "Gloo"};
  return kWords[static_cast<std::size_t>(transport)];
}

std::string population_of(Transport transport) {
  constexpr std::string_view kNames[kTransports] = {"population", "population-mpi",
                                                    "population-gloo"};
  return std::string(kNames[static_cast<std::size_t>(transport)]);
}

std::string StackTerm::name() const {
  return std::string(quantity->name) + (compressor.empty() ? "" : " of " + compressor) +
         (implementation.empty() ? "" : " by " + implementation);
}

Stack with_terms_of(Stack stack, const Compressor& compressor) {
  const Compressor* const its[] = {&compressor};
  add_family_terms(stack, its);
  return stack;
}

Stack load_stack(const TextFile& file) {
  Stack stack;
  stack.name = file.path.stem().string();
  if (const std::string sources = comment_value(file, "sources"); !sources.empty())
    stack.sources = split_words(sources, ' ');
  if (const std::string without = comment_value(file, "without"); !without.empty())
    stack.without = split_words(without, ' ');
  if (const std::string clusters = comment_value(file, "clusters"); !clusters.empty())
    stack.learned_on = split_words(clusters, ',');  // names may have blanks
  CsvReader rows(file, kStackColumns, kStackRequired);
  std::set<std::string> own;
  while (rows.next()) {
    rows.word("source");
    if (read_own(stack, rows)) {
      const std::string& name = rows.text("property");
      const bool many = name == "correlation" || name == kKindFactor;
      if (!many && !own.insert(name).second)
        throw rows.failure("property", in_quotes(name) + " stands twice");
      continue;
    }
    StackTerm term;
    term.quantity = &rows.value("property", find_software);
    term.compressor = rows.value("compressor", parse_term_compressor);
    if (!term.compressor.empty() && term.quantity->of != ScenarioQuantity::Of::Costs)
      throw rows.failure("compressor", in_quotes(term.quantity->name) + " is of no compressor");
    term.value = rows.value("value", term.quantity->parse);
    term.deviation = rows.value("deviation", parse_deviation);
    term.deviation_below = rows.value("deviation_below", parse_deviation);
    if (!rows.text("presence").empty()) term.presence = rows.value("presence", parse_presence);
    term.source = rows.text("source");
    term.seen = rows.value("seen", parse_seen);
    term.implementation = rows.value("implementation", parse_term_implementation);
    if (!term.implementation.empty() && term.quantity->of != ScenarioQuantity::Of::Costs)
      throw rows.failure("implementation", in_quotes(term.quantity->name) + " is of none");
    for (const StackTerm& other : stack.terms)
      if (other.name() == term.name())
        throw rows.failure("property", in_quotes(term.name()) + " stands twice");
    stack.terms.push_back(std::move(term));
  }
  if (stack.terms.empty() && stack.discrepancy == 0)
    throw rows.failure("the stack has no property");
  require_joint(stack, rows);
  add_family_terms(stack, all_compressors());
  return stack;
}

namespace {

/// The rows of a stack's file. Columns that few stacks need are left out where none does.
class Rows {
 public:
  explicit Rows(bool learned) : learned_(learned) {
    text_ = csv_line(cells({"property", "compressor", "value", "deviation", "source", "seen",
                            "presence", "implementation", "deviation_below", "between"}));
  }

  void add(const std::string& property, const std::string& value, const std::string& source) {
    add({property, "", value, "", source, "", "", "", "", ""});
  }
  void add(std::vector<std::string> row) { text_ += csv_line(cells(std::move(row))); }
  const std::string& text() const { return text_; }

 private:
  std::vector<std::string> cells(std::vector<std::string> row) const {
    constexpr std::size_t kUsual = 8;
    if (!learned_) row.resize(kUsual);
    return row;
  }

  bool learned_;
  std::string text_;
};

std::string percent_or_none(double share) { return share > 0 ? percent(share) : ""; }

}  // namespace

std::string stack_csv(const Stack& stack, const std::vector<std::string>& provenance) {
  const bool one_sided =
      std::any_of(stack.terms.begin(), stack.terms.end(),
                  [](const StackTerm& term) { return term.deviation_below > 0; });
  Rows rows(one_sided || stack.factor || !stack.correlations.empty());
  for (const StackTerm& term : stack.terms) {
    if (term.of_family) continue;
    rows.add({std::string(term.quantity->name), term.compressor,
              term.quantity->text(term.value, kDigitsKept), percent(term.deviation), term.source,
              to_text(term.seen), term.presence < 1 ? percent(term.presence) : "",
              term.implementation, percent_or_none(term.deviation_below), ""});
  }
  const std::string source =
      "of communication and software, measured over forecast, on a log scale";
  if (stack.factor)
    rows.add({kModelFactor, "", number_to_text(rounded_to(kDigitsKept, *stack.factor)),
              percent(stack.discrepancy), "on communication and software of this cluster", "", "",
              "", percent_or_none(stack.discrepancy_below), ""});
  else
    rows.add("discrepancy", percent(stack.discrepancy), source + ": of a cluster");
  for (const KindFactor& each : stack.kinds)
    rows.add({kKindFactor, each.kind.compressor,
              number_to_text(rounded_to(kDigitsKept, each.factor)), percent(each.deviation),
              "on all of runs that compute as long here", each.seen(), "", each.implementation, "",
              ""});
  rows.add("scatter", percent(stack.scatter), source + ": of a run");
  if (stack.small_discrepancy > 0 || stack.small_scatter > 0) {
    const std::string below = "the same of collectives below 1 MiB";
    rows.add(kSmallDiscrepancy, percent(stack.small_discrepancy), below + ": of a cluster");
    rows.add(kSmallScatter, percent(stack.small_scatter), below + ": of a run");
  }
  if (stack.discrepancy_elsewhere > 0 || stack.scatter_elsewhere > 0) {
    const std::string there = "of the stack that it was learned from, for other clusters";
    rows.add(kDiscrepancyElsewhere, percent(stack.discrepancy_elsewhere), there);
    rows.add(kScatterElsewhere, percent(stack.scatter_elsewhere), there);
  }
  if (stack.shown_links)
    rows.add(kShownLinks, stack.shown_links->empty() ? kNoLinks : join(*stack.shown_links, "|"),
             "not measured; its runs would have shown slower ones");
  for (const TermCorrelation& each : stack.correlations)
    rows.add({"correlation", "", number_to_text(each.value), "", "between the logarithms", "", "",
              "", "", each.one + " | " + each.other});
  if (stack.pipelines) rows.add("pipelines", "yes", "hides collectives under encoding");
  if (const auto& usual = stack.schedule) {
    rows.add("fusion", to_text(usual->fusion), usual->source);
    rows.add("overlap", to_text(usual->overlap), usual->source);
    if (!usual->collective.empty()) rows.add("collective", usual->collective, usual->source);
    if (usual->shards_all_reduced) rows.add("gradients", "all-reduce", usual->source);
    if (usual->owners_broadcast) rows.add("parameters", "broadcast", usual->source);
    if (usual->buffers_broadcast) rows.add("buffers", "broadcast", usual->source);
    if (usual->network_streams > 1)
      rows.add("network_streams", std::to_string(usual->network_streams), usual->source);
    if (usual->sharding) rows.add("sharding", to_text(*usual->sharding), usual->source);
    if (!usual->shardings.empty())
      rows.add("shardings", join(usual->shardings, " "), usual->source);
  }
  return csv_comments(provenance) + rows.text();
}

}  // namespace gradcast
