// Cases for every implementation of the compressors: sizes, inputs, k, and every compressor in
// every mode. The reference is compared with an oracle, and the kernels with the reference, bit for
// bit.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/compressor.hpp"
#include "kernels/definitions.hpp"
#include "kernels/inputs.hpp"

namespace gradcast::cases {

// ---- the tables ---------------------------------------------------------------------------------

/// Ends of warps, of tiles (1024), of what one block takes, and just beside them.
inline constexpr std::int64_t kQuickSizes[] = {1,   2,   3,    4,    5,    31,   32,   33,   127,
                                               128, 129, 1000, 1023, 1024, 1025, 8191, 8192, 8193};
inline constexpr std::int64_t kSlowSizes[] = {65'535,        65'537,        100'003,
                                              (1 << 20) - 1, (1 << 20) + 1, 4'000'037};

/// 0, 1, 2, d/1000, d/2, d-1, d and d+5, each once.
inline std::vector<std::int64_t> ks_of(std::int64_t elements) {
  std::vector<std::int64_t> ks{
      0, 1, 2, elements / 1000, elements / 2, elements - 1, elements, elements + 5};
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  return ks;
}

struct NamedInput {
  Input input;
  std::string_view name;
};

inline constexpr NamedInput kInputs[] = {
#define GRADCAST_NAMED_INPUT(name, what) {Input::name, #name},
    GRADCAST_INPUTS(GRADCAST_NAMED_INPUT)
#undef GRADCAST_NAMED_INPUT
};

/// A compressor in one of its modes.
struct Method {
  const Compressor* compressor;
  Mode mode;
};

inline std::vector<Method> all_methods() {
  std::vector<Method> methods;
  for (const Compressor* compressor : all_sparsifiers()) {
    if (!compressor->two_modes) methods.push_back({compressor, Mode::Only});
    if (compressor->two_modes) methods.push_back({compressor, Mode::Paper});
    if (compressor->two_modes) methods.push_back({compressor, Mode::Code});
  }
  return methods;
}

inline std::string name_of(const Method& method) {
  std::string name(method.compressor->name);
  if (method.mode == Mode::Only) return name;
  return name + (method.mode == Mode::Paper ? " (paper)" : " (code)");
}

// ---- vectors ------------------------------------------------------------------------------------

/// The input of an encode. gradient + residual has the input's character.
struct Vectors {
  std::vector<float> gradient;
  std::vector<float> residual;
};

/// The residual is 0.3 of an independent draw. It is zero if a sum of two would lose the input's
/// purpose: values fixed beforehand, ties, equal leading bits, -0 (-0 + +0 is +0, so -0 there).
inline Vectors make_vectors(Input input, std::int64_t elements, std::uint32_t seed) {
  float share = 0.3f;
  float rest = 0.0f;
  switch (input) {
    case Input::constant:
    case Input::zero:
    case Input::ties:
    case Input::ascending:
    case Input::descending:
    case Input::leading_bits:
      share = 0.0f;
      break;
    case Input::negative_zero:
      share = 0.0f;
      rest = -0.0f;
      break;
    default:
      break;
  }
  Vectors vectors;
  vectors.gradient.resize(static_cast<std::size_t>(elements));
  vectors.residual.resize(static_cast<std::size_t>(elements), rest);
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto at = static_cast<std::size_t>(i);
    vectors.gradient[at] = input_element(input, seed, elements, i);
    if (share != 0) vectors.residual[at] = share * input_element(input, seed + 1, elements, i);
  }
  return vectors;
}

/// The selection for a method. The k largest of u, with their equals, pass a fixed threshold:
/// nothing (but what is not finite) for k <= 0, every non-zero for k = elements, everything for a
/// larger k.
inline Selection selection_of(const Method& method, const Vectors& vectors, std::int64_t k,
                              std::uint64_t seed, std::int64_t candidates = 0) {
  Selection selection{k, method.mode, seed, candidates};
  if (method.compressor->rule != Rule::Threshold) return selection;
  const auto elements = static_cast<std::int64_t>(vectors.gradient.size());
  selection.threshold = k <= 0 ? INFINITY : k == elements ? 0.0f : -1.0f;
  if (k <= 0 || k >= elements) return selection;
  std::vector<Key> keys(vectors.gradient.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = magnitude_key(add_feedback(vectors.gradient[i], vectors.residual[i]));
  const auto kth = keys.begin() + (k - 1);
  std::nth_element(keys.begin(), kth, keys.end(), std::greater<>());
  selection.threshold = threshold_below(*kth);
  return selection;
}

// ---- cases --------------------------------------------------------------------------------------

struct Case {
  std::int64_t elements;
  NamedInput input;
  Method method;
  Selection selection;
  ValueType type = ValueType::Fp32;  // of the values
};

inline std::string_view name_of(ValueType type) {
  return type == ValueType::Fp32 ? "fp32" : type == ValueType::Fp16 ? "fp16" : "bf16";
}

inline std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << name_of(one.method) << ", " << one.elements << " elements of " << one.input.name
             << ", k = " << one.selection.k << ", seed " << one.selection.seed << ", values in "
             << name_of(one.type);
}

/// visit(case, vectors) for every size x input x k x method. `one_in` keeps one of so many cases,
/// spread over all of them; it must share no factor with the number of methods.
template <typename Visit>
void for_each_case(std::span<const std::int64_t> sizes, std::size_t one_in, Visit visit) {
  const std::vector<Method> methods = all_methods();
  std::size_t number = 0;
  for (const std::int64_t elements : sizes)
    for (const NamedInput& input : kInputs) {
      const Vectors vectors = make_vectors(input.input, elements, 1);
      for (const std::int64_t k : ks_of(elements))
        for (const Method& method : methods) {
          if (number++ % one_in != 0) continue;
          const std::uint64_t seed = 0x9e3779b97f4a7c15u * number;
          // One in five in each of the 16-bit types, whatever `one_in` and the methods.
          const std::size_t drawn = mix_bits(static_cast<std::uint32_t>(number)) % 5;
          const ValueType type = drawn == 0   ? ValueType::Fp16
                                 : drawn == 1 ? ValueType::Bf16
                                              : ValueType::Fp32;
          visit(Case{elements, input, method, selection_of(method, vectors, k, seed), type},
                vectors);
        }
    }
}

// ---- answers ------------------------------------------------------------------------------------

/// The result of an encode: of values and indices only the part that was written.
struct Answer {
  Encoded encoded;
  std::vector<float> values;
  std::vector<std::int32_t> indices;
  std::vector<float> residual;
};

/// The answer by the definition. `capacity` elements fit into the output; -1: as many as there are.
inline Answer reference_answer(const Method& method, const Vectors& vectors,
                               const Selection& selection, std::int64_t capacity = -1,
                               ValueType type = ValueType::Fp32) {
  const std::size_t room =
      capacity < 0 ? vectors.gradient.size() : static_cast<std::size_t>(capacity);
  Answer answer{{}, std::vector<float>(room), std::vector<std::int32_t>(room), vectors.residual};
  answer.encoded = method.compressor->encode(vectors.gradient, answer.residual, selection,
                                             {answer.values, answer.indices, type});
  const auto sent = static_cast<std::size_t>(answer.encoded.count);
  answer.values.resize(sent);
  answer.indices.resize(sent);
  return answer;
}

/// The first place where two vectors differ in a bit, or -1. Tells -0 from +0 and NaN from NaN.
inline std::int64_t first_difference(std::span<const float> a, std::span<const float> b) {
  const std::size_t both = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < both; ++i)
    if (bits_of(a[i]) != bits_of(b[i])) return static_cast<std::int64_t>(i);
  return a.size() == b.size() ? -1 : static_cast<std::int64_t>(both);
}

/// Bit for bit, but for the status bits that tell of the way and not of the answer.
inline void require_same(const Answer& expected, const Answer& actual) {
  REQUIRE(actual.encoded.count == expected.encoded.count);
  REQUIRE((actual.encoded.status & kResultStatus) == (expected.encoded.status & kResultStatus));
  const bool same_indices = actual.indices == expected.indices;
  REQUIRE(same_indices);
  REQUIRE(first_difference(expected.values, actual.values) == -1);
  REQUIRE(first_difference(expected.residual, actual.residual) == -1);
}

}  // namespace gradcast::cases
