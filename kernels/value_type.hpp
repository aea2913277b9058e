// The types of numbers: of gradients, and of a sparsifier's values on their way. Both C++ and CUDA
// read this file: C++17.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

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

/// A tensor's numbers in memory: floats, or codes of 16 bits. A pointer to floats is one of them.
/// Memory: void, or const void where they are only read.
template <class Memory>
struct NumbersIn {
  static constexpr bool kOnlyRead = std::is_const<Memory>::value;
  using Float = std::conditional_t<kOnlyRead, const float, float>;
  using Code = std::conditional_t<kOnlyRead, const std::uint16_t, std::uint16_t>;

  Memory* first = nullptr;
  ValueType type = ValueType::Fp32;

  NumbersIn() = default;
  NumbersIn(Float* floats) : first(floats) {}  // NOLINT(google-explicit-constructor)
  NumbersIn(Memory* numbers, ValueType its_type) : first(numbers), type(its_type) {}
  Float* floats() const { return static_cast<Float*>(first); }  // of fp32
  bool operator==(std::nullptr_t) const { return first == nullptr; }
};
using Numbers = NumbersIn<void>;
using ConstNumbers = NumbersIn<const void>;

/// Elements from the last place of four neighbours' alignment to the first number: 0 to 3.
template <class Memory>
std::int32_t elements_past_alignment(const NumbersIn<Memory>& numbers) {
  const auto size = static_cast<std::uintptr_t>(bytes_of_value(numbers.type));
  return static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(numbers.first) / size % 4);
}

}  // namespace gradcast
