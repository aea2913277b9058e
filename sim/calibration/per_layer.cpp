#include "sim/calibration/per_layer.hpp"

#include <optional>

#include "sim/base/table.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {
namespace {

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

Json or_null(std::optional<Seconds> time) { return time ? Json(time->count()) : Json(); }

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

}  // namespace

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

}  // namespace gradcast
