// The table of compressors: the name of each, its definition, and what its encoding needs from the
// network.
//
// Every encode forms u = gradient + residual, selects elements of u, and writes their values and
// indices by rising index. It leaves in the residual what it did not send: zero (+0) where an
// element was sent, u elsewhere. So scatter(values) + residual is u, bit for bit, for any input.
// Every NaN in u is the one NaN 0x7fffffff.
//
// Common to all:
//  - k <= 0 selects nothing, k >= elements everything, before any rule of the compressor's own;
//  - elements are ordered by magnitude, NaN above infinity above all that is finite; of equals the
//    lowest index comes first (so Top-k of a vector with fewer than k non-zeros fills up with the
//    first zeros);
//  - more selected than the output holds: the first by index are sent, the others stay in the
//    residual, and the status says so. Nothing is lost.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/rule.hpp"
#include "kernels/selection.hpp"

namespace gradcast {

/// How ranks combine their encoded gradients.
enum class Aggregation {
  AllReduce,  // encodings add up: the ranks sum them, and the size stays the same
  AllGather,  // encodings do not add up: every rank receives all of them
};

/// How many elements were sent, and `Status` bits.
struct Encoded {
  std::int64_t count = 0;
  std::uint32_t status = 0;
};

/// The output of an encode: as many values as indices.
struct SparseOutput {
  std::span<float> values;
  std::span<std::int32_t> indices;
};

/// One worker's sparse gradient, indices rising.
struct SparseSet {
  std::span<const float> values;
  std::span<const std::int32_t> indices;
};

struct Compressor {
  std::string_view name;
  std::string_view summary;
  Aggregation aggregation;
  std::string_view source;
  bool two_modes;    // Mode::Paper and Mode::Code differ; else Mode::Only
  bool exact_count;  // selects exactly k, clamped to 0..elements
  /// Seed, elements and k alone decide what is selected. Workers with one seed then select the same
  /// indices: they need not send them, and their values add up.
  bool shared_seed = false;
  Rule rule;
  /// The definition, in plain loops on the CPU. `residual` has the gradient's length, 1 to 2^31-1,
  /// and is read and written.
  Encoded (*encode)(std::span<const float> gradient, std::span<float> residual,
                    const Selection& selection, const SparseOutput& output);
};

/// In compressors.def order.
std::span<const Compressor* const> all_compressors();

/// nullptr if there is none of that name.
const Compressor* find_compressor(std::string_view name);

/// dense = the sum of all sets, added in the order of the workers. An element that no set names is
/// +0. An index outside `dense` is ignored.
void decode(std::span<const SparseSet> sets, std::span<float> dense);

}  // namespace gradcast
