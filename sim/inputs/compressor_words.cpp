#include "sim/inputs/compressor_words.hpp"

#include <cmath>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

const Compressor& known_compressor(std::string_view name, bool with_dense) {
  if (const Compressor* found = find_compressor(name)) return *found;
  std::vector<std::string> known;
  for (const Compressor* compressor : all_compressors())
    if (with_dense || compressor->family != Family::Dense) known.emplace_back(compressor->name);
  for (std::string& own : described_names()) known.push_back(std::move(own));
  throw ValueError("unknown compressor '" + std::string(name) + "'" +
                   did_you_mean(std::string(name), known) + " (known: " + join(known) +
                   "; or the path of a .csv file)");
}

std::string compressor_name(const std::string& typed) {
  const bool list = typed.find(',') != std::string::npos;  // whoever takes one reads it
  if (list || !is_path(typed)) return typed;
  return std::string(known_compressor(typed).name);
}

double parse_parameter(std::string_view text) {
  const double value = parse_number(text);
  if (value >= 0) return value;
  throw ValueError("'" + std::string(text) + "' is not a parameter: a number of 0 or above");
}

double parameter_of(const Compressor& compressor, const std::optional<double>& asked) {
  const Parameter& parameter = compressor.parameter;
  if (!asked) return parameter.usual;
  const std::string name = "compressor '" + std::string(compressor.name) + "'";
  if (parameter.name.empty())
    throw ValueError(name + " takes no parameter: leave it out, instead of " +
                     number_to_text(*asked));
  const bool fits = *asked >= parameter.least && *asked <= parameter.most &&
                    (!parameter.whole || *asked == std::floor(*asked));
  if (fits) return *asked;
  throw ValueError("parameter " + number_to_text(*asked) + " is not one of " + name + ": " +
                   std::string(parameter.name) + (parameter.whole ? ", a whole number" : "") +
                   " from " + number_to_text(parameter.least) + " to " +
                   number_to_text(parameter.most) + " (" + std::string(parameter.meaning) + ")");
}

bool selects_by_parameter(std::string_view name) {
  const Compressor* compressor = find_compressor(name);
  return compressor != nullptr && compressor->parameter.selects;
}

double cost_parameter(const Compressor& compressor, double parameter) {
  return compressor.parameter.selects ? 0 : parameter;
}

std::string parameter_text(const Compressor& compressor, double parameter) {
  if (compressor.parameter.name.empty()) return "";
  return std::string(compressor.parameter.name) + " " + number_to_text(parameter);
}

std::string_view family_text(Family family) {
  switch (family) {
    case Family::Sparsifier:
      return "sparsifiers";
    case Family::Cast:
      return "casts";
    case Family::Quantiser:
      return "quantisers";
    case Family::LowRank:
      return "low rank";
    case Family::Dense:
      break;
  }
  return "dense";
}

std::string sent_text(const Compressor& compressor) {
  const std::string by =
      compressor.aggregation == Aggregation::AllReduce ? ", all-reduced" : ", gathered";
  if (const DescribedCompressor* own = described(compressor)) return own->formula + " bytes" + by;
  switch (compressor.family) {
    case Family::Dense:
      return "4 bytes an element" + by;
    case Family::Sparsifier:
      return (compressor.parameter.selects ? "8 bytes of each element above it"
                                           : "8 bytes of each of k elements") +
             by + (compressor.shared_seed ? "; 4 bytes, all-reduced, with a shared seed" : "");
    case Family::LowRank:
      return "4 bytes x rank x (rows + columns) of a matrix" + by + " in two rounds";
    case Family::Cast:
    case Family::Quantiser:
      break;
  }
  constexpr std::int64_t kMany = 1 << 20;
  const Packing& packing = *compressor.packing;
  const double parameter = compressor.parameter.usual;
  const std::int64_t scales = packing.scale_words(kMany, parameter);
  const int bits = packing.bits(parameter);
  std::string text = std::to_string(bits) + (bits == 1 ? " bit" : " bits") + " an element";
  if (scales > 2)
    text += " and 4 bytes of each " + number_to_text(parameter);
  else if (scales > 0)
    text += " and " + std::to_string(4 * scales) + " bytes";
  return text + by +
         (packing.levels != nullptr ? "; all-reduced in bytes where ranks share the scale" : "");
}

ValueType parse_value_type(std::string_view text) {
  for (const ValueType type : {ValueType::Fp32, ValueType::Fp16, ValueType::Bf16})
    if (text == value_type_text(type)) return type;
  throw ValueError("unknown type of values '" + std::string(text) + "' (known: fp32, fp16, bf16)");
}

std::string value_type_text(ValueType type) {
  return type == ValueType::Fp32 ? "fp32" : type == ValueType::Fp16 ? "fp16" : "bf16";
}

std::string mode_text(Mode mode) {
  return mode == Mode::Paper ? "paper" : mode == Mode::Code ? "code" : "";
}

}  // namespace gradcast
