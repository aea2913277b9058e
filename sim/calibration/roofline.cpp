#include "sim/calibration/roofline.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/table.hpp"

namespace gradcast {
namespace {

Json known(double value) { return value > 0 ? Json(value) : Json(); }
Json median_of(const std::optional<BenchTiming>& timing) {
  return timing ? Json(timing->median_seconds) : Json();
}

std::string shown(const Json& value, double scale, int digits) {
  return value.is_null() ? "-" : fixed(scale * value.get<double>(), digits);
}

Json ceiling_row(std::int64_t elements, const BenchTiming& ceiling, double best_bandwidth) {
  Json row;
  row["compressor"] = "ceiling";
  row["mode"] = "";
  row["implementation"] = "e = g + e";
  row["parameter"] = nullptr;
  row["tensors"] = 1;
  row["elements"] = elements;
  row["density"] = nullptr;
  row["distribution"] = "normal";
  row["encode_seconds"] = ceiling.median_seconds;
  row["encode_p95_seconds"] = ceiling.p95_seconds;
  row["warm_seconds"] = nullptr;
  row["cold_seconds"] = nullptr;
  row["samples"] = ceiling.samples;
  row["bytes"] = kCeilingBytes * static_cast<double>(elements);
  row["floor_bytes"] = row["bytes"];
  row["share_of_ceiling"] = 1.0;
  row["share_of_floor"] =
      kCeilingBytes * static_cast<double>(elements) / best_bandwidth / ceiling.median_seconds;
  row["selected_share"] = nullptr;
  row["recall"] = nullptr;
  row["path"] = "";
  return row;
}

Json entry_row(const RooflineEntry& entry, const BenchTiming& ceiling, double best_bandwidth) {
  const BenchPoint& call = entry.point.call;
  const BenchResult& result = entry.result;
  const bool selects = known_compressor(call.compressor).family == Family::Sparsifier;
  const double floor_bytes = encode_floor_of(call);
  const auto wanted =
      static_cast<double>(std::accumulate(call.wanted.begin(), call.wanted.end(), std::int64_t{0}));
  Json row;
  row["compressor"] = call.compressor;
  row["mode"] = mode_text(call.mode);
  row["implementation"] = call.implementation;
  row["parameter"] = known(call.parameter);
  row["tensors"] = call.tensors.size();
  row["elements"] = entry.point.elements();
  row["density"] = entry.point.density;
  row["distribution"] = distribution_of(call);
  row["encode_seconds"] = result.encode.median_seconds;
  row["encode_p95_seconds"] = result.encode.p95_seconds;
  row["warm_seconds"] = median_of(result.warm);
  row["cold_seconds"] = median_of(result.cold);
  row["samples"] = result.encode.samples;
  row["bytes"] = known(result.bytes);
  row["floor_bytes"] = floor_bytes;
  row["share_of_ceiling"] = ceiling.median_seconds / result.encode.median_seconds;
  row["share_of_floor"] = floor_bytes / best_bandwidth / result.encode.median_seconds;
  row["selected_share"] = selects ? Json(result.selected / wanted) : Json();
  row["recall"] = selects ? Json(result.recall) : Json();
  row["path"] = result.path;
  return row;
}

std::vector<std::string> table_row(const Json& row) {
  return {row["compressor"],
          row["mode"],
          row["implementation"],
          row["parameter"].is_null() ? "" : value_to_text(row["parameter"]),
          value_to_text(row["tensors"]),
          value_to_text(row["elements"]),
          value_to_text(row["density"]),
          row["distribution"],
          shown(row["encode_seconds"], 1e6, 1),
          shown(row["warm_seconds"], 1e6, 1),
          shown(row["cold_seconds"], 1e6, 1),
          shown(row["bytes"], 1e-6, 1),
          fixed(row["floor_bytes"].get<double>() / row["elements"].get<double>(), 2),
          shown(row["share_of_ceiling"], 1, 3),
          shown(row["share_of_floor"], 1, 3),
          shown(row["selected_share"], 1, 3),
          shown(row["recall"], 1, 4),
          row["path"]};
}

}  // namespace

Answer roofline_answer(const std::vector<RooflineEntry>& entries,
                       const std::map<std::int64_t, BenchTiming>& ceilings) {
  double best_bandwidth = 0;
  for (const auto& [elements, ceiling] : ceilings)
    best_bandwidth = std::max(
        best_bandwidth, kCeilingBytes * static_cast<double>(elements) / ceiling.median_seconds);
  TextTable table{{"compressor", "mode", "implementation", "parameter", "tensors", "elements",
                   "density", "distribution", "encode us", "warm us", "cold us", "MB moved",
                   "floor B/el", "of ceiling", "of floor", "selected/k", "recall", "path"},
                  {}};
  Answer answer;
  const auto add = [&](const Json& row) {
    table.rows.push_back(table_row(row));
    answer.rows.push_back(row);
  };
  std::int64_t size = 0;
  for (const RooflineEntry& entry : entries) {
    const std::int64_t elements = entry.point.elements();
    const BenchTiming& ceiling = ceilings.at(elements);
    if (elements != size) {
      if (size != 0) table.rows.emplace_back();
      add(ceiling_row(elements, ceiling, best_bandwidth));
    }
    size = elements;
    add(entry_row(entry, ceiling, best_bandwidth));
  }
  answer.table =
      to_text(table) +
      "\nof ceiling: the time of e = g + e at this size over the encode's. floor B/el: the fewest "
      "bytes an\nelement that the encode can move (kernels/README.md). of floor: their time at " +
      fixed(best_bandwidth / 1e9, 1) +
      " GB/s, the most that\ne = g + e reached here, over the encode's.\n"
      "encode: gradients drift from call to call, as in training. warm: the same gradient "
      "again, whose\nthreshold was kept. cold: every call samples its threshold anew. A "
      "'-' there: nothing is kept.\n";
  answer.summary = {{"best_bandwidth_bytes_per_second", best_bandwidth}};
  return answer;
}

}  // namespace gradcast
