#include "sim/inputs/number_type.hpp"

#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::pair<std::string_view, NumberType> kNamesInPyTorch[] = {
    {"float32", NumberType::Fp32}, {"float", NumberType::Fp32},    {"float16", NumberType::Fp16},
    {"half", NumberType::Fp16},    {"bfloat16", NumberType::Bf16},
};

}  // namespace

std::string_view to_text(NumberType type) {
  switch (type) {
    case NumberType::Tf32:
      return "tf32";
    case NumberType::Fp16:
      return "fp16";
    case NumberType::Bf16:
      return "bf16";
    case NumberType::Fp32:
      break;
  }
  return "fp32";
}

NumberType parse_number_type(std::string_view text) {
  std::vector<std::string> known;
  for (const NumberType type : kNumberTypes) {
    if (text == to_text(type)) return type;
    known.emplace_back(to_text(type));
  }
  constexpr std::string_view kPrefix = "torch.";
  const std::string_view name = text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
  for (const auto& [its, type] : kNamesInPyTorch)
    if (name == its) return type;
  throw ValueError("unknown type of numbers '" + std::string(text) + "'" +
                   did_you_mean(text, known) + " (known: " + join(known) + ")");
}

int bytes_of(NumberType type) {
  return type == NumberType::Fp16 || type == NumberType::Bf16 ? 2 : 4;
}

NumberType parse_tensor_type(std::string_view text) {
  const NumberType type = parse_number_type(text);
  if (type != NumberType::Tf32) return type;
  throw ValueError("'tf32' is a type of products, whose numbers are kept as fp32: write 'fp32'");
}

}  // namespace gradcast
