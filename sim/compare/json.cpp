// A comparison for programs.
#include <algorithm>

#include "sim/compare/groups.hpp"
#include "sim/compare/report.hpp"
#include "sim/compare/setups.hpp"
#include "sim/compare/split.hpp"
#include "sim/compare/verdicts.hpp"

namespace gradcast {
namespace {

/// Null where codes travel in as few bits as they have.
Json wire_bytes_of(const MeasuredRun& run) {
  const int bytes = run.wire_bytes_per_element.value_or(kBytesOfPair);
  return bytes > 0 ? Json(bytes) : Json();
}

/// The measured file's columns.
Json measured_columns(const MeasuredRun& run) {
  return {{"source", run.source},
          {"model", run.model},
          {"batch", run.batch},
          {"compute_seconds", run.compute.count()},
          {"cluster", run.cluster},
          {"nodes", run.nodes},
          {"gpus_per_node", run.gpus_per_node},
          {"compressor", run.compressor},
          {"density", run.density},
          {"parameter", run.parameter ? Json(*run.parameter) : Json()},
          {"fusion", to_text(run.fusion)},
          {"overlap", run.overlap ? "yes" : "no"},
          {"iteration_seconds", run.iteration.count()},
          {"trace", run.trace},
          {"costs", run.costs},
          {"mode", run.mode},
          {"collective", run.collective},
          {"nic_bandwidth", run.nic_bandwidth},
          {"nic_latency", run.nic_latency},
          {"nccl_settings", run.nccl_settings},
          {"wire_bytes_per_element", wire_bytes_of(run)},
          {"wire_messages", run.wire_messages},
          {"payload_bytes", run.payload.count > 0 ? Json(run.payload.count) : Json()},
          {"concurrent_jobs", run.concurrent_jobs},
          {"accumulation", run.accumulation},
          {"outside", run.outside},
          {"measured_encode_seconds", or_null(run.measured_encode)},
          {"measured_decode_seconds", or_null(run.measured_decode)},
          {"measured_communication_seconds", or_null(run.measured_communication)},
          {"selection", to_text(run.selection)},
          {"stack", run.stack},
          {"assumed", run.assumed},
          {"compressing", run.compressing ? "yes" : "no"}};
}

/// The parts of the measured time. A what-if has no shares of the measured time.
Json split_columns(const ComparedRun& compared) {
  Json columns;
  const bool what_if = !compared.what_if_costs.empty();
  for (const SplitPart& part : split_of(compared)) {
    const bool nothing = what_if && part.name == "unexplained";
    columns[part.name + "_seconds"] = nothing ? Json() : Json(part.time.count());
    columns[part.name + "_share_percent"] =
        what_if ? Json() : Json(100 * (part.time / compared.run.iteration));
  }
  for (const char* part : {"encode", "decode", "communication"})
    columns[part + std::string("_error_percent")] = nullptr;
  if (!what_if)
    for (const MeasuredPart& part : measured_parts_of(compared))
      columns[part.name + "_error_percent"] = or_null(part.error_percent());
  return columns;
}

/// `rows` 0 and nulls where no row counts.
Json errors_of(const std::optional<ErrorSummary>& errors) {
  const auto number = [&](double ErrorSummary::*which) {
    return errors ? Json((*errors).*which) : Json(nullptr);
  };
  return {{"rows", errors ? errors->rows : 0},
          {"mean_absolute_error_percent", number(&ErrorSummary::mean_absolute)},
          {"median_absolute_error_percent", number(&ErrorSummary::median_absolute)},
          {"p90_absolute_error_percent", number(&ErrorSummary::p90_absolute)},
          {"worst_error_percent", number(&ErrorSummary::worst)},
          {"bias_percent", number(&ErrorSummary::bias)},
          {"bias", errors ? bias_in_words(errors->bias) : ""}};
}

Json errors_by(const std::vector<ComparedRun>& runs, const Aspect& aspect) {
  Json groups = Json::object();
  for (const std::string& value : values_of(runs, aspect))
    groups[value] = errors_of(summary_of(runs, aspect, value));
  return groups;
}

void add_coverage(Json& summary, const std::vector<ComparedRun>& runs) {
  const auto coverage = coverage_of(runs);
  summary["interval_rows"] = coverage ? coverage->rows : 0;
  summary["interval_inside"] = coverage ? Json(coverage->inside) : Json();
  summary["interval_coverage_percent"] = coverage ? Json(coverage->percent()) : Json();
  summary["interval_median_width_percent"] =
      coverage ? Json(coverage->median_width_percent) : Json();
}

void add_rankings(Json& summary, const std::vector<ComparedRun>& runs) {
  std::size_t right = 0;
  summary["rankings"] = Json::array();
  for (const Ranking& ranking : rankings_of(runs)) {
    Json swapped = Json::array();
    for (const SwappedPair& pair : ranking.swapped)
      swapped.push_back({{"faster", pair.faster},
                         {"slower", pair.slower},
                         {"apart_percent", pair.apart_percent}});
    summary["rankings"].push_back({{"source", ranking.setup.run.source},
                                   {"model", ranking.setup.run.model},
                                   {"ranks", ranking.setup.ranks},
                                   {"measured", ranking.measured},
                                   {"forecast", ranking.forecast},
                                   {"right", ranking.right()},
                                   {"swapped", swapped}});
    right += ranking.right() ? 1 : 0;
  }
  summary["rankings_right"] = right;
  summary["rankings_total"] = summary["rankings"].size();
}

void add_verdicts(Json& summary, const std::vector<ComparedRun>& runs) {
  const Verdicts verdicts = verdicts_of(runs);
  summary["verdicts"] = {{"pairs", verdicts.pairs()},
                         {"right", verdicts.right},
                         {"wrong", verdicts.wrong},
                         {"sure", verdicts.sure},
                         {"sure_and_wrong", verdicts.sure_and_wrong},
                         {"too_close", verdicts.too_close}};
  const MethodOrders orders = method_orders_of(runs);
  summary["orders"] = {{"pairs", orders.pairs}, {"right", orders.right}};
}

}  // namespace

Json row_of(const ComparedRun& compared) {
  const IterationResult& result = compared.forecast;
  const bool what_if = !compared.what_if_costs.empty();
  const std::optional<RatioInterval>& interval = compared.speedup_interval;
  Json row = measured_columns(compared.run);
  row.update({{"ranks", compared.ranks},
              {"measured_seconds", compared.run.iteration.count()},
              {"predicted_seconds", compared.predicted().count()},
              {"forecast_stack", compared.stack},
              {"physics_seconds", compared.physics.count()},
              {"outside_seen", compared.outside_seen},
              {"interval_low_seconds", or_null(compared.low)},
              {"interval_high_seconds", or_null(compared.high)},
              {"error_percent", what_if ? Json() : Json(compared.error_percent())},
              {"measured_efficiency", compared.measured_efficiency()},
              {"predicted_efficiency", compared.predicted_efficiency()},
              {"measured_speedup", or_null(compared.measured_speedup)},
              {"predicted_speedup", or_null(compared.predicted_speedup)},
              {"predicted_speedup_low", interval ? Json(interval->low) : Json()},
              {"predicted_speedup_high", interval ? Json(interval->high) : Json()},
              {"dense_fusion", compared.dense_fusion},
              {"pays_sure", compared.pays_sure()},
              {"verdict", compared.verdict().empty() ? Json() : Json(compared.verdict())},
              {"encode_seconds", result.encode.count()},
              {"communication_seconds", result.communication.count()},
              {"decode_seconds", result.decode.count()}});
  row.update(split_columns(compared));
  row.update(
      {{"extrapolated", compared.extrapolated},
       {"what_if_costs", compared.what_if_costs},
       {"own_costs_seconds", or_null(compared.own_costs_forecast)},
       {"times_as_fast", what_if ? Json(compared.run.iteration / compared.predicted()) : Json()},
       {"implementation", compared.implementation},
       {"evidence", compared.evidence},
       {"suspects", compared.suspects},
       {"engine", result.engine}});
  return row;
}

Json summary_json(const std::vector<ComparedRun>& runs) {
  if (const std::string costs = what_if_costs_of(runs); !costs.empty())
    return {{"what_if_costs", costs}, {"rows", runs.size()}};
  Json summary = errors_of(summary_of(runs));
  summary["rows_outside_model"] = std::count_if(
      runs.begin(), runs.end(), [](const ComparedRun& run) { return !run.outside_model.empty(); });
  add_coverage(summary, runs);
  summary["by_compressor"] = errors_by(runs, by_algorithm(runs));
  summary["by_model"] = errors_by(runs, by_model());
  summary["by_source"] = errors_by(runs, by_source());
  summary["speedups"] = Json::array();
  for (const SpeedupPair& pair : speedups_of_fastest(runs))
    summary["speedups"].push_back({{"source", pair.source},
                                   {"model", pair.model},
                                   {"compressor", pair.compressor},
                                   {"over", pair.over},
                                   {"measured", pair.measured},
                                   {"predicted", pair.predicted}});
  add_rankings(summary, runs);
  add_verdicts(summary, runs);
  return summary;
}

}  // namespace gradcast
