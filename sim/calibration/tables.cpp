#include "sim/calibration/tables.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "sim/base/table.hpp"
#include "sim/base/units.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {
namespace {

std::string shown_parameter(double parameter) {
  return parameter == 0 ? "" : number_to_text(parameter);
}

std::map<std::string, Seconds> backward_of_layers(const Model& model, const IterationTrace& trace) {
  std::map<std::string, Seconds> backward;
  for (std::size_t i = 0; i < model.tensors.size(); ++i)
    backward[model.tensors[i].layer] += trace.tensors[i].backward;
  return backward;
}

std::optional<Seconds> encode_of(const PerLayerColumn& column, std::int64_t elements) {
  const auto found = column.encode.find(elements);
  return found == column.encode.end() ? std::nullopt : std::optional(found->second);
}

std::string microseconds(std::optional<Seconds> time) {
  return time ? fixed(1e6 * time->count(), 1) : "-";
}

std::string percent(std::optional<Seconds> time, Seconds of) {
  return time && of > Seconds{0} ? fixed(100 * (*time / of), 1) : "-";
}

Json number_of(const PerLayerColumn& column) {
  return column.parameter == 0 ? Json() : Json(column.parameter);
}

Json row_of(const GradientTensor& tensor, const PerLayerColumn& column,
            std::optional<Seconds> encode, Seconds backward) {
  Json row;
  row["layer"] = tensor.layer;
  row["tensor"] = tensor.tensor;
  row["elements"] = tensor.elements;
  row["compressor"] = column.compressor;
  row["mode"] = column.mode;
  row["implementation"] = column.implementation;
  row["parameter"] = number_of(column);
  row["encode_seconds"] = or_null(encode);
  row["layer_backward_seconds"] = backward.count();
  row["share_of_backward"] = encode && backward > Seconds{0} ? Json(*encode / backward) : Json();
  return row;
}

/// Nothing where a tensor's time is not known.
std::optional<Seconds> total_of(const Model& model, const PerLayerColumn& column) {
  Seconds total{0};
  for (const GradientTensor& tensor : model.tensors) {
    const auto encode = encode_of(column, tensor.elements);
    if (!encode) return {};
    total += *encode;
  }
  return total;
}

Json known(double value) { return value > 0 ? Json(value) : Json(); }
Json median_of(const std::optional<BenchTiming>& timing) {
  return timing ? Json(timing->median_seconds) : Json();
}

std::string scaled_text(const Json& value, double scale, int digits) {
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
          scaled_text(row["encode_seconds"], 1e6, 1),
          scaled_text(row["warm_seconds"], 1e6, 1),
          scaled_text(row["cold_seconds"], 1e6, 1),
          scaled_text(row["bytes"], 1e-6, 1),
          fixed(row["floor_bytes"].get<double>() / row["elements"].get<double>(), 2),
          scaled_text(row["share_of_ceiling"], 1, 3),
          scaled_text(row["share_of_floor"], 1, 3),
          scaled_text(row["selected_share"], 1, 3),
          scaled_text(row["recall"], 1, 4),
          row["path"]};
}

}  // namespace

Answer summary_of(const CostFile& file, const std::vector<CalibrationPoint>& points) {
  std::set<std::string> asked;
  for (const CalibrationPoint& point : points)
    for (const CostRow& row : rows_of(point, nullptr)) asked.insert(key_of(row));
  struct Range {
    std::size_t points = 0;
    CostRow least, most;
  };
  using Key =
      std::tuple<std::string, std::string, std::string, double, double, std::string, NumberType>;
  std::vector<Key> order;
  std::map<Key, Range> ranges;
  for (const CostRow& row : file.rows()) {
    if (!asked.contains(key_of(row)) || row.workers != points[0].call.workers[0]) continue;
    const Key key{row.compressor, row.mode,         row.implementation, row.parameter,
                  row.density,    row.distribution, row.input_type};
    if (!ranges.contains(key)) order.push_back(key);
    Range& range = ranges[key];
    if (range.points == 0 || row.elements < range.least.elements) range.least = row;
    if (range.points == 0 || row.elements > range.most.elements) range.most = row;
    ++range.points;
  }
  TextTable table{{"compressor", "mode", "implementation", "parameter", "density", "distribution",
                   "input", "points", "elements from", "encode us", "to", "encode us", "selected"},
                  {}};
  Answer answer;
  for (const Key& key : order) {
    const Range& range = ranges.at(key);
    const auto& [compressor, mode, implementation, parameter, density, distribution, type] = key;
    table.rows.push_back(
        {compressor, mode, implementation, shown_parameter(parameter), number_to_text(density),
         distribution, std::string(to_text(type)), std::to_string(range.points),
         std::to_string(range.least.elements), fixed(1e6 * range.least.encode.count(), 1),
         std::to_string(range.most.elements), fixed(1e6 * range.most.encode.count(), 1),
         number_to_text(rounded_to(6, range.most.selected))});
    answer.rows.push_back({{"compressor", compressor},
                           {"mode", mode},
                           {"implementation", implementation},
                           {"parameter", parameter == 0 ? Json() : Json(parameter)},
                           {"density", density},
                           {"distribution", distribution},
                           {"input_type", to_text(type)},
                           {"points", range.points},
                           {"least_elements", range.least.elements},
                           {"least_encode_seconds", range.least.encode.count()},
                           {"most_elements", range.most.elements},
                           {"most_encode_seconds", range.most.encode.count()},
                           {"most_selected", range.most.selected}});
  }
  answer.table = to_text(table);
  answer.summary = {{"file", file.path().string()}, {"rows", file.rows().size()}};
  return answer;
}

std::string PerLayerColumn::title() const {
  return kind_text(compressor, mode, parameter) + ", " + implementation;
}

Answer per_layer_answer(const Model& model, const IterationTrace& trace,
                        const std::vector<PerLayerColumn>& columns) {
  const auto layer_backward = backward_of_layers(model, trace);
  TextTable table{{"layer", "tensor", "elements", "backward us"}, {}};
  for (const PerLayerColumn& column : columns) {
    table.header.push_back(column.title() + ": us");
    table.header.emplace_back("% of backward");
  }
  Answer answer;
  for (const GradientTensor& tensor : model.tensors) {
    const Seconds backward = layer_backward.at(tensor.layer);
    std::vector<std::string> line{tensor.layer, tensor.tensor, std::to_string(tensor.elements),
                                  microseconds(backward)};
    for (const PerLayerColumn& column : columns) {
      const auto encode = encode_of(column, tensor.elements);
      line.push_back(microseconds(encode));
      line.push_back(percent(encode, backward));
      answer.rows.push_back(row_of(tensor, column, encode, backward));
    }
    table.rows.push_back(line);
  }
  std::vector<std::string> sum{"all", std::to_string(model.tensors.size()) + " tensors",
                               std::to_string(model.elements()), microseconds(trace.backward())};
  answer.summary = {{"backward_seconds", trace.backward().count()}, {"totals", Json::array()}};
  for (const PerLayerColumn& column : columns) {
    const auto total = total_of(model, column);
    sum.push_back(microseconds(total));
    sum.push_back(percent(total, trace.backward()));
    answer.summary["totals"].push_back({{"compressor", column.compressor},
                                        {"mode", column.mode},
                                        {"implementation", column.implementation},
                                        {"parameter", number_of(column)},
                                        {"encode_seconds", or_null(total)}});
  }
  table.rows.emplace_back();
  table.rows.push_back(sum);
  answer.table = to_text(table);
  return answer;
}

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
