// The types in which a sparsifier's values travel. Both C++ and CUDA read this file: C++17.
#pragma once
#include <cstdint>

#include "kernels/half.hpp"

namespace gradcast {

enum class ValueType : std::uint8_t { Fp32, Fp16, Bf16 };

GRADCAST_BOTH int bytes_of_value(ValueType type) { return type == ValueType::Fp32 ? 4 : 2; }

/// The 16 bits that are sent of a value; never called for fp32.
GRADCAST_BOTH std::uint16_t code_of_value(ValueType type, float value) {
  return static_cast<std::uint16_t>(type == ValueType::Fp16 ? half_of(value) : bfloat_of(value));
}

/// The value that the receiver makes of such a code.
GRADCAST_BOTH float value_of_code(ValueType type, std::uint16_t code) {
  return type == ValueType::Fp16 ? float_of_half(code) : float_of_bfloat(code);
}

/// A value as the receiver has it.
GRADCAST_BOTH float as_sent(ValueType type, float value) {
  return type == ValueType::Fp32 ? value : value_of_code(type, code_of_value(type, value));
}

/// The part of a value that stays when it was sent as `sent`: nothing in fp32.
GRADCAST_BOTH float left_of(ValueType type, float value, float sent) {
  return type == ValueType::Fp32 ? 0.0f : residual_of(value, sent);
}

}  // namespace gradcast
