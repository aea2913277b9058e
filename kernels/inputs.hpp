// Gradients for tests and measurements. Each element of an input is computed from its index alone,
// so that CPU and GPU can fill 400 M of them without a state. Both C++ and CUDA read this file:
// C++17.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/definitions.hpp"

namespace gradcast {

/// X(name, what it stands for)
#define GRADCAST_INPUTS(X)                                                                 \
  X(normal, "independent normal elements, sigma 0.001")                                    \
  X(laplace, "independent Laplace elements: heavier tails")                                \
  X(student_t2, "Student's t, 2 degrees of freedom: no variance at all")                   \
  X(student_t3, "Student's t, 3 degrees of freedom")                                       \
  X(layermix, "normal, with a scale of each layer and of each row: as a network's layers") \
  X(constant, "every element 0.01")                                                        \
  X(zero, "every element +0")                                                              \
  X(negative_zero, "every element -0")                                                     \
  X(sparse, "99.95 % zeros, the rest normal")                                              \
  X(relu, "90 % zeros, the rest normal")                                                   \
  X(ties, "normal, rounded to eighths of sigma: ties everywhere")                          \
  X(denormal, "normal, sigma 2^-140: most elements denormal")                              \
  X(not_finite, "normal, one in 10,000 each NaN, infinity, -infinity")                     \
  X(ascending, "0, 1, 2, ...")                                                             \
  X(descending, "d, d-1, d-2, ...")                                                        \
  X(hot_block, "tiny, but for a run of d/1000 large neighbours at the start")              \
  X(leading_bits, "all alike in the leading 24 bits")                                      \
  X(outliers, "normal, one in 2,000 at 1e30")

enum class Input : std::uint8_t {
#define GRADCAST_INPUT_NAME(name, what) name,
  GRADCAST_INPUTS(GRADCAST_INPUT_NAME)
#undef GRADCAST_INPUT_NAME
};

/// Uniform in (0, 1]. `stream` numbers the independent draws of one element.
GRADCAST_BOTH float input_uniform(std::uint32_t seed, std::uint32_t stream, std::int64_t index) {
  const std::uint64_t key = (static_cast<std::uint64_t>(seed * 0x9e3779b9u + stream) << 32) ^
                            static_cast<std::uint64_t>(index >> 32) ^
                            std::uint64_t{stream * 0x85ebca6bu};
  const std::uint32_t bits = random_key(key, static_cast<std::uint32_t>(index));
  return (static_cast<float>(bits >> 8) + 0.5f) * (1.0f / 16777216.0f);
}

/// Standard normal (Box and Muller).
GRADCAST_BOTH float input_normal(std::uint32_t seed, std::uint32_t stream, std::int64_t index) {
  const float radius = sqrtf(-2.0f * logf(input_uniform(seed, 2 * stream + 100, index)));
  return radius * cosf(6.2831853f * input_uniform(seed, 2 * stream + 101, index));
}

GRADCAST_BOTH float input_student(std::uint32_t seed, std::int64_t index, int freedom) {
  float chi_squared = 0;
  for (int i = 1; i <= freedom; ++i) {
    const float z = input_normal(seed, static_cast<std::uint32_t>(i), index);
    chi_squared += z * z;
  }
  return input_normal(seed, 0, index) / sqrtf(chi_squared / static_cast<float>(freedom));
}

/// Element `index` of `elements`. Different seeds give independent vectors (except for inputs
/// without randomness).
GRADCAST_BOTH float input_element(Input input, std::uint32_t seed, std::int64_t elements,
                                  std::int64_t index) {
  const float sigma = 1e-3f;
  switch (input) {
    case Input::normal:
      return sigma * input_normal(seed, 0, index);
    case Input::laplace: {
      const float u = input_uniform(seed, 1, index) - 0.5f;
      return (u < 0 ? sigma : -sigma) * logf(1.0f - 2.0f * fabsf(u) + 1e-12f);
    }
    case Input::student_t2:
      return sigma * input_student(seed, index, 2);
    case Input::student_t3:
      return sigma * input_student(seed, index, 3);
    case Input::layermix: {  // layers of 65,536 and rows of 256 elements, lognormal scales
      const float layer = expf(1.5f * input_normal(seed, 11, index >> 16));
      const float row = expf(0.8f * input_normal(seed, 12, index >> 8));
      return sigma * layer * row * input_normal(seed, 0, index);
    }
    case Input::constant:
      return 0.01f;
    case Input::zero:
      return 0.0f;
    case Input::negative_zero:
      return -0.0f;
    case Input::sparse:
      return input_uniform(seed, 2, index) < 0.9995f ? 0.0f : input_normal(seed, 0, index);
    case Input::relu:
      return input_uniform(seed, 2, index) < 0.9f ? 0.0f : input_normal(seed, 0, index);
    case Input::ties:
      return rintf(input_normal(seed, 0, index) * 8.0f) / 8.0f;
    case Input::denormal:
      return ldexpf(input_normal(seed, 0, index), -140);
    case Input::not_finite: {
      const float u = input_uniform(seed, 2, index);
      if (u < 1e-4f) return float_of(kNan);
      if (u < 2e-4f) return float_of(kInfinityKey);
      if (u < 3e-4f) return float_of(kInfinityKey | 0x80000000u);
      return input_normal(seed, 0, index);
    }
    case Input::ascending:
      return static_cast<float>(index);
    case Input::descending:
      return static_cast<float>(elements - index);
    case Input::hot_block:
      return index < elements / 1000 ? 1.0f + input_uniform(seed, 1, index)
                                     : 1e-6f * input_normal(seed, 0, index);
    case Input::leading_bits:
      return 1.0f + static_cast<float>(random_key(seed, static_cast<std::uint32_t>(index)) % 256u) *
                        1.1920929e-7f;
    case Input::outliers:
      return input_uniform(seed, 2, index) < 5e-4f ? 1e30f : input_normal(seed, 0, index);
  }
  return 0.0f;
}

}  // namespace gradcast
