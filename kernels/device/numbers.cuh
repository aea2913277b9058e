// Gradients on the device: floats, fp16 or bf16. A kernel computes in floats whatever they are.
//
// A loop over elements has no branch on their type, so that all its loads are in flight together:
// `as_typed` chooses once, and its body is made for each type.
#pragma once
#include "kernels/device/dialect.cuh"
#include "kernels/value_type.hpp"

namespace gradcast::GRADCAST_DEVICE {

/// Gradients in fp32.
template <class Float>
struct Floats {
  using Four = Quad;  // neighbours, as they lie in memory
  Float* first;

  __device__ float operator[](std::int64_t at) const { return first[at]; }
  __device__ void write(std::int64_t at, float value) const { first[at] = value; }
  /// `at`: of the first of four whose place is aligned.
  __device__ Four read_four(std::int64_t at) const {
    return read_once(reinterpret_cast<const Quad*>(first + at));
  }
  __device__ static Quad widened(const Four& four) { return four; }
  __device__ void write_four(std::int64_t at, const Quad& four) const {
    write_through(reinterpret_cast<Quad*>(first + at), four);
  }
};

/// Gradients of 16 bits.
template <ValueType kType, class Code>
struct Codes {
  using Four = PairOfWords;
  Code* first;

  __device__ float operator[](std::int64_t at) const { return value_of_code(kType, first[at]); }
  __device__ void write(std::int64_t at, float value) const {
    first[at] = code_of_value(kType, value);
  }
  __device__ Four read_four(std::int64_t at) const {
    return read_once(reinterpret_cast<const PairOfWords*>(first + at));
  }
  __device__ static Quad widened(const Four& four) {
    return {value_of(four.x), value_of(four.x >> 16), value_of(four.y), value_of(four.y >> 16)};
  }
  __device__ void write_four(std::int64_t at, const Quad& four) const {
    write_through(reinterpret_cast<PairOfWords*>(first + at),
                  {both(four.x, four.y), both(four.z, four.w)});
  }

 private:
  __device__ static float value_of(std::uint32_t low_half) {
    return value_of_code(kType, static_cast<std::uint16_t>(low_half));
  }
  __device__ static std::uint32_t both(float low, float high) {
    return code_of_value(kType, low) | static_cast<std::uint32_t>(code_of_value(kType, high)) << 16;
  }
};

/// Calls body(numbers) with Floats or Codes, by their type. They are known to lie in global memory.
template <class Memory, class Body>
__device__ __forceinline__ void as_typed(const NumbersIn<Memory>& numbers, Body body) {
  using Float = typename NumbersIn<Memory>::Float;
  using Code = typename NumbersIn<Memory>::Code;
  assume_global(numbers.first);
  if (numbers.type == ValueType::Fp32)
    body(Floats<Float>{static_cast<Float*>(numbers.first)});
  else if (numbers.type == ValueType::Fp16)
    body(Codes<ValueType::Fp16, Code>{static_cast<Code*>(numbers.first)});
  else
    body(Codes<ValueType::Bf16, Code>{static_cast<Code*>(numbers.first)});
}

}  // namespace gradcast::GRADCAST_DEVICE
