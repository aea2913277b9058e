#include "sim/compare/tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/statistics.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/compare/groups.hpp"
#include "sim/compare/setups.hpp"
#include "sim/compare/split.hpp"
#include "sim/compare/verdicts.hpp"
#include "sim/forecast/suspects.hpp"

namespace gradcast {
namespace {

std::string coverage_text(const std::vector<ComparedRun>& runs) {
  const auto coverage = coverage_of(runs);
  if (!coverage) return "";
  return "Measured inside the 90 % interval: " + std::to_string(coverage->inside) + " of " +
         std::to_string(coverage->rows) + " (" + fixed(coverage->percent(), 1) +
         " %), median width " + fixed(coverage->median_width_percent, 1) + " % of the forecast.\n";
}

/// The columns that name the set-up of a line: the model, and the aspects in which set-ups differ.
std::vector<Aspect> naming_aspects(const std::vector<ComparedRun>& runs) {
  std::vector<Aspect> naming{by_model()};
  if (values_of(runs, by_source()).size() > 1) naming.push_back(by_source());
  for (const Aspect& aspect : differing_aspects(runs)) naming.push_back(aspect);
  return naming;
}

std::vector<std::string> names_of(const std::vector<Aspect>& aspects) {
  std::vector<std::string> names;
  for (const Aspect& aspect : aspects) names.push_back(aspect.name);
  return names;
}

std::vector<std::string> values_in(const std::vector<Aspect>& aspects, const ComparedRun& run) {
  std::vector<std::string> values;
  for (const Aspect& aspect : aspects) values.push_back(aspect.of(run));
  return values;
}

void append(std::vector<std::string>& row, const std::vector<std::string>& more) {
  row.insert(row.end(), more.begin(), more.end());
}

/// The columns that name the set-ups of rankings; where two look the same, also the compute.
std::vector<Aspect> setup_names(const std::vector<ComparedRun>& runs,
                                const std::vector<Ranking>& rankings) {
  std::vector<Aspect> naming = naming_aspects(runs);
  std::erase_if(naming, [](const Aspect& aspect) { return !aspect.of_setup; });
  std::set<std::vector<std::string>> names;
  for (const Ranking& ranking : rankings) names.insert(values_in(naming, ranking.setup));
  if (names.size() < rankings.size())
    naming.push_back(
        {"compute*", [](const ComparedRun& run) { return fixed(run.run.compute.count(), 4); }});
  return naming;
}

/// "gaussian < dgc < dense", each order once; only the first few if there are many.
std::string orders_of(const std::vector<Ranking>& rankings) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> orders;
  for (const Ranking& ranking : rankings)
    if (const std::string order = join(ranking.measured, " < ");
        std::find(orders.begin(), orders.end(), order) == orders.end())
      orders.push_back(order);
  const bool more = orders.size() > kMost;
  if (more) orders.resize(kMost);
  return join(orders, "; ") + (more ? "; ..." : ".");
}

/// The pairs that were measured farthest apart, and how many more there are.
std::string swapped_text(const Ranking& ranking) {
  constexpr std::size_t kMost = 3;
  std::vector<SwappedPair> swapped = ranking.swapped;
  std::stable_sort(swapped.begin(), swapped.end(), [](const SwappedPair& a, const SwappedPair& b) {
    return a.apart_percent > b.apart_percent;
  });
  const std::size_t more = swapped.size() - std::min(swapped.size(), kMost);
  swapped.resize(swapped.size() - more);
  std::vector<std::string> pairs;
  for (const SwappedPair& pair : swapped)
    pairs.push_back(pair.faster + " < " + pair.slower + " (" + fixed(pair.apart_percent, 1) +
                    " % apart)");
  return join(pairs, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

/// "0.080 (14.1 %)"
std::string time_and_share(Seconds time, Seconds whole) {
  return fixed(time.count(), 3) + " (" + fixed(100 * (time / whole), 1) + " %)";
}

/// "encode 11.8 % (4 rows), decode 5.8 % (4)", of the rows that the model claims.
std::string measured_parts_errors(const std::vector<ComparedRun>& runs) {
  std::map<std::string, std::vector<double>> errors;
  std::vector<std::string> names;
  for (const ComparedRun& run : runs)
    for (const MeasuredPart& part : measured_parts_of(run)) {
      const auto error = part.error_percent();
      if (!error || !run.run.outside.empty()) continue;
      if (!errors.contains(part.name)) names.push_back(part.name);
      errors[part.name].push_back(*error);
    }
  std::vector<std::string> words;
  for (const std::string& name : names)
    words.push_back(name + " " + fixed(summarize_errors(errors[name]).mean_absolute, 1) + " % (" +
                    std::to_string(errors[name].size()) + (words.empty() ? " rows)" : ")"));
  return words.empty() ? "" : "Mean absolute error of these parts: " + join(words) + ".\n";
}

std::string measured_parts_table(const std::vector<ComparedRun>& runs) {
  TextTable table{{"model", "algorithm", "part", "measured", "forecast", "error %"}, {}};
  const Aspect algorithm = by_algorithm(runs);
  for (const ComparedRun& run : runs)
    for (const MeasuredPart& part : measured_parts_of(run)) {
      const auto error = part.error_percent();
      table.rows.push_back({by_model().of(run), algorithm.of(run), part.name,
                            fixed(part.measured.count(), 4), fixed(part.predicted.count(), 4),
                            error ? with_sign(*error, 1) : "-"});
    }
  if (table.rows.empty()) return "";
  return "\nParts that were measured by themselves:\n" + to_text(table) +
         measured_parts_errors(runs);
}

}  // namespace

bool belong_together(const ComparedRun& a, const ComparedRun& b) {
  return a.run.source == b.run.source && a.run.model == b.run.model &&
         a.run.cluster == b.run.cluster;
}

std::string summary_text(const std::vector<ComparedRun>& runs) {
  TextTable table{{"error %", "rows", "mean absolute", "median", "p90", "worst", "bias"}, {}};
  const auto add = [&](const std::string& name, const std::optional<ErrorSummary>& errors) {
    if (!errors) return;
    const std::string words = bias_in_words(errors->bias);
    table.rows.push_back({name, std::to_string(errors->rows), fixed(errors->mean_absolute, 1),
                          fixed(errors->median_absolute, 1), fixed(errors->p90_absolute, 1),
                          with_sign(errors->worst, 1),
                          with_sign(errors->bias, 1) + (words.empty() ? "" : " " + words)});
  };
  constexpr std::size_t kMostGroups = 5;  // if there are more, each has too few rows
  const auto add_each = [&](const Aspect& aspect, std::size_t most) {
    const auto values = values_of(runs, aspect);
    if (values.size() == 1 || values.size() > most) return;
    const std::size_t before = table.rows.size();
    for (const std::string& value : values)
      add(aspect.name + " " + value, summary_of(runs, aspect, value));
    if (table.rows.size() > before) table.rows.push_back({});
  };
  for (const Aspect& aspect : {by_algorithm(runs), by_model(), by_source()})
    add_each(aspect, runs.size());
  for (const Aspect& aspect : setup_aspects()) add_each(aspect, kMostGroups);
  add("overall", summary_of(runs));
  const auto left_out =
      std::count_if(runs.begin(), runs.end(), [](const ComparedRun& run) { return !run.counts(); });
  std::string text = table.rows.empty() ? "No row has an error that counts.\n" : to_text(table);
  if (left_out > 0)
    text += std::to_string(left_out) + " of " + std::to_string(runs.size()) +
            " rows outside the model (!) are in none of these figures.\n";
  return text + coverage_text(runs);
}

std::string verdicts_text(const std::vector<ComparedRun>& runs) {
  TextTable table{
      {"does it beat dense?", "pairs", "right", "wrong", "sure", "sure and wrong", "too close"},
      {}};
  const auto add = [&](const std::string& name, const Verdicts& verdicts) {
    if (verdicts.pairs() + verdicts.too_close == 0) return;
    table.rows.push_back({name});
    for (const std::size_t count : {verdicts.pairs(), verdicts.right, verdicts.wrong, verdicts.sure,
                                    verdicts.sure_and_wrong, verdicts.too_close})
      table.rows.back().push_back(std::to_string(count));
  };
  const Aspect algorithm = by_algorithm(runs);
  for (const std::string& value : values_of(runs, algorithm))
    add(value, verdicts_of(runs, algorithm, value));
  if (table.rows.size() > 1) {
    table.rows.push_back({});
    add("overall", verdicts_of(runs));
  }
  std::string text;
  if (!table.rows.empty())
    text = to_text(table) +
           "A pair is a compressed run and the fastest measured dense run of its set-up. Sure: the "
           "90 %\ninterval of the forecast speedup excludes 1. Too close: measured within " +
           number_to_text(kTooClosePercent) + " % of dense, and no pair.\n";
  const MethodOrders orders = method_orders_of(runs);
  if (orders.pairs > 0)
    text += "Of two compressed methods more than " + number_to_text(kApartPercent) +
            " % apart, the forecast named the faster one in " + std::to_string(orders.right) +
            " of " + std::to_string(orders.pairs) + " pairs.\n";
  return text;
}

std::string rankings_text(const std::vector<ComparedRun>& runs) {
  const std::vector<Ranking> rankings = rankings_of(runs);
  if (rankings.empty()) return "";
  const auto right = std::count_if(rankings.begin(), rankings.end(),
                                   [](const Ranking& ranking) { return ranking.right(); });
  const std::string total = std::to_string(rankings.size());
  if (static_cast<std::size_t>(right) == rankings.size())
    return "The ranking of the algorithms came out right in " +
           (rankings.size() == 1 ? "the one set-up: " : "all " + total + " set-ups: ") +
           orders_of(rankings) + "\n";
  const std::vector<Aspect> naming = setup_names(runs, rankings);
  TextTable table{names_of(naming), {}};
  append(table.header, {"measured, fastest first", "forecast", "the other way round"});
  for (const Ranking& ranking : rankings) {
    std::vector<std::string> row = values_in(naming, ranking.setup);
    append(row, {join(ranking.measured, " < "),
                 ranking.right() ? "right" : join(ranking.forecast, " < "), swapped_text(ranking)});
    table.rows.push_back(std::move(row));
  }
  return to_text(table) + "The ranking of the algorithms came out right in " +
         std::to_string(right) + " of " + total + " set-ups.\n";
}

std::string speedups_text(const std::vector<ComparedRun>& runs) {
  const std::vector<SpeedupPair> pairs = speedups_of_fastest(runs);
  if (pairs.empty()) return "";
  TextTable table{{"model", "speedup of", "over", "measured", "forecast"}, {}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const SpeedupPair& pair = pairs[i];
    if (i > 0 && pair.model != pairs[i - 1].model) table.rows.push_back({});
    table.rows.push_back({pair.model, pair.compressor, pair.over, fixed(pair.measured, 2),
                          fixed(pair.predicted, 2)});
  }
  return to_text(table);
}

std::string suspects_text(const std::vector<ComparedRun>& runs) {
  TextTable table{
      {"model", "cluster", "jobs", "fusion", "algorithm", "error %", "what alone would explain it"},
      {}};
  const Aspect algorithm = by_algorithm(runs);
  for (const ComparedRun& run : runs) {
    if (!run.counts() || std::abs(run.error_percent()) <= kLargeErrorPercent) continue;
    const std::string nothing =
        run.error_percent() > 0 ? "- (too slow)" : "none of " + tried_suspects() + " alone";
    table.rows.push_back({by_model().of(run), run.run.cluster,
                          std::to_string(run.run.concurrent_jobs), to_text(run.run.fusion),
                          algorithm.of(run), with_sign(run.error_percent(), 1),
                          run.suspects.empty() ? nothing : run.suspects});
  }
  return table.rows.empty() ? "" : to_text(table);
}

std::string split_text(const std::vector<ComparedRun>& runs) {
  const std::vector<Aspect> naming = naming_aspects(runs);
  const Aspect algorithm = by_algorithm(runs);
  TextTable table{names_of(naming), {}};
  append(table.header, {"algorithm", "measured", "compute", "encode, decode", "exposed comm.",
                        "(hidden comm.)", "overhead, wait", "unexplained"});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ComparedRun& run = runs[i];
    if (i > 0 && !belong_together(run, runs[i - 1])) table.rows.push_back({});
    std::vector<std::string> row = values_in(naming, run);
    append(row, {algorithm.of(run), fixed(run.run.iteration.count(), 3)});
    for (const SplitPart& part : split_of(run))
      row.push_back(time_and_share(part.time, run.run.iteration));
    table.rows.push_back(std::move(row));
  }
  return "Where the time goes by the forecast: seconds, and percent of the measured time, to which "
         "the\nparts add up but for hidden communication, which lies under compute.\n" +
         to_text(table) + measured_parts_table(runs);
}

}  // namespace gradcast
