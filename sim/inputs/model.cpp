#include "sim/inputs/model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

constexpr std::array kModelColumns = {"layer",         "tensor",     "elements",   "forward_flops",
                                      "dtype",         "unit",       "frozen",     "shape",
                                      "kept_elements", "kept_bytes", "unit_input", "buffer_bytes",
                                      "counter_bytes"};
constexpr std::size_t kRequiredModelColumns = 4;

constexpr std::int64_t kMostOfTensor = INT32_MAX;  // of a tensor
constexpr std::size_t kMostDimensions = 8;

NumberType type_in(const CsvReader& rows) {
  if (rows.text("dtype").empty()) return NumberType::Fp32;
  return rows.value("dtype", parse_tensor_type);
}

std::vector<std::int64_t> shape_in(const CsvReader& rows, std::int64_t elements) {
  if (rows.text("shape").empty()) return {};
  std::vector<std::int64_t> shape = rows.value("shape", parse_shape);
  std::int64_t product = 1;
  for (const std::int64_t dimension : shape) product = std::min(product, kMostOfTensor) * dimension;
  if (product == elements) return shape;
  throw rows.failure("shape", "'" + rows.text("shape") + "' is not the shape of " +
                                  std::to_string(elements) + " elements");
}

/// Elements or bytes of one sample's activations, or of a layer's buffers.
std::int64_t optional_count(const CsvReader& rows, const char* column) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  return rows.text(column).empty() ? 0 : rows.integer(column, 0, kMost);
}

bool frozen_in(const CsvReader& rows) {
  return !rows.text("frozen").empty() && rows.value("frozen", parse_yes_no);
}

/// The optional columns that say anything of a model.
struct ColumnsInUse {
  bool type = false;
  bool unit = false;
  bool frozen = false;
  bool shape = false;
  bool activations = false;
  bool unit_input = false;
  bool buffers = false;

  explicit ColumnsInUse(const Model& model) : activations(model.has_activations()) {
    for (const GradientTensor& tensor : model.tensors) {
      type = type || tensor.type != NumberType::Fp32;
      unit = unit || !tensor.unit.empty();
      frozen = frozen || tensor.frozen;
      shape = shape || !tensor.shape.empty();
      unit_input = unit_input || tensor.unit_input > 0;
      buffers = buffers || tensor.buffer_bytes > 0 || tensor.counter_bytes > 0;
    }
  }

  /// The fields of a row, or of the header where there is no tensor.
  void append(std::vector<std::string>& fields, const GradientTensor* tensor) const {
    if (type) fields.emplace_back(tensor == nullptr ? "dtype" : to_text(tensor->type));
    if (unit) fields.emplace_back(tensor == nullptr ? "unit" : tensor->unit);
    if (frozen) fields.emplace_back(tensor == nullptr ? "frozen" : tensor->frozen ? "yes" : "no");
    if (shape) fields.emplace_back(tensor == nullptr ? "shape" : shape_to_text(tensor->shape));
    const auto count = [&](const char* column, std::int64_t GradientTensor::*member) {
      fields.push_back(tensor == nullptr ? column : std::to_string(tensor->*member));
    };
    if (activations) count("kept_elements", &GradientTensor::kept_elements);
    if (activations) count("kept_bytes", &GradientTensor::kept_bytes);
    if (unit_input) count("unit_input", &GradientTensor::unit_input);
    if (buffers) count("buffer_bytes", &GradientTensor::buffer_bytes);
    if (buffers) count("counter_bytes", &GradientTensor::counter_bytes);
  }
};

}  // namespace

std::int64_t Model::elements() const {
  std::int64_t sum = 0;
  for (const GradientTensor& tensor : tensors) sum += tensor.elements;
  return sum;
}

std::int64_t Model::gradient_elements() const {
  std::int64_t sum = 0;
  for (const GradientTensor& tensor : tensors)
    if (!tensor.frozen) sum += tensor.elements;
  return sum;
}

double Model::forward_flops() const {
  double sum = 0;
  for (const GradientTensor& tensor : tensors) sum += tensor.forward_flops;
  return sum;
}

std::vector<Bytes> Model::buffers() const {
  Bytes numbers{};
  Bytes counters{};
  for (const GradientTensor& tensor : tensors) {
    numbers = numbers + Bytes{tensor.buffer_bytes};
    counters = counters + Bytes{tensor.counter_bytes};
  }
  std::vector<Bytes> all;
  for (const Bytes each : {numbers, counters})
    if (each.count > 0) all.push_back(each);
  return all;
}

bool Model::has_shapes() const {
  return std::all_of(tensors.begin(), tensors.end(), [](const GradientTensor& tensor) {
    return tensor.frozen || !tensor.shape.empty();
  });
}

bool Model::has_activations() const {
  return std::any_of(tensors.begin(), tensors.end(), [](const GradientTensor& tensor) {
    return tensor.kept_elements > 0 || tensor.kept_bytes > 0;
  });
}

std::vector<std::int64_t> parse_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  for (const std::string& dimension : split_words(std::string(text), 'x')) {
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(dimension.data(), dimension.data() + dimension.size(), value);
    if (error != std::errc() || end != dimension.data() + dimension.size() || value < 1 ||
        value > kMostOfTensor)
      throw ValueError("'" + std::string(text) +
                       "' is not a shape: dimensions from 1 to 2147483647, like 64x3x7x7");
    shape.push_back(value);
  }
  if (shape.size() <= kMostDimensions) return shape;
  throw ValueError("'" + std::string(text) + "' has more than " + std::to_string(kMostDimensions) +
                   " dimensions");
}

std::string shape_to_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t dimension : shape)
    text += (text.empty() ? "" : "x") + std::to_string(dimension);
  return text;
}

Model load_model(const TextFile& file) {
  Model model{file.path.stem().string(), {}, comment_value(file, "sample")};
  CsvReader rows(file, kModelColumns, kRequiredModelColumns);
  std::set<std::string> seen;
  std::set<std::string> units;
  while (rows.next()) {
    const std::string& tensor = rows.word("tensor");
    if (!seen.insert(tensor).second)
      throw rows.failure("tensor",
                         "'" + tensor + "' stands twice; tensors need names of their own");
    const std::string& unit = rows.text("unit");
    const bool goes_on = !model.tensors.empty() && model.tensors.back().unit == unit;
    if (!goes_on && !unit.empty() && !units.insert(unit).second)
      throw rows.failure("unit", "'" + unit +
                                     "' stands further up too, with other units between; the rows "
                                     "of a unit follow one another");
    if (!model.tensors.empty() && unit.empty() != model.tensors.back().unit.empty())
      throw rows.failure("unit",
                         "a unit is named in some rows only; name one in every row or in "
                         "none");
    const NumberType type = type_in(rows);
    const std::int64_t elements = rows.integer("elements", 1, kMostOfTensor);
    model.tensors.push_back(
        {rows.word("layer"), tensor, elements, rows.number("forward_flops", 0, 1e18), type, type,
         type, unit, frozen_in(rows), shape_in(rows, elements),
         optional_count(rows, "kept_elements"), optional_count(rows, "kept_bytes"),
         optional_count(rows, "unit_input"), optional_count(rows, "buffer_bytes"),
         optional_count(rows, "counter_bytes"), type});
  }
  if (model.tensors.empty()) throw rows.failure("the model has no tensors");
  if (model.gradient_elements() == 0)
    throw rows.failure("all tensors are frozen: there is nothing to train");
  return model;
}

std::string model_csv(const Model& model, const std::vector<std::string>& provenance) {
  const ColumnsInUse columns(model);
  std::vector<std::string> header(kModelColumns.begin(),
                                  kModelColumns.begin() + kRequiredModelColumns);
  columns.append(header, nullptr);
  std::string text = csv_comments(provenance) + csv_line(header);
  for (const GradientTensor& tensor : model.tensors) {
    std::vector<std::string> fields{tensor.layer, tensor.tensor, std::to_string(tensor.elements),
                                    number_to_text(tensor.forward_flops)};
    columns.append(fields, &tensor);
    text += csv_line(fields);
  }
  return text;
}

}  // namespace gradcast
