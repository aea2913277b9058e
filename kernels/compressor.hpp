// The table of compressors: the name of each, its definition, and what its encoding needs from the
// network.
//
// Every encode forms u = gradient + residual. The part that it does not send stays in the residual.
//
// Sparsifiers select elements of u, and write their values and indices by rising index. They leave
// in the residual zero (+0) where an element was sent, u elsewhere. So scatter(values) + residual
// is u, bit for bit, for any input. Values that travel in 16 bits are rounded, and the residual has
// what rounding lost, +0 where either is not finite. Every NaN in u is the one NaN 0x7fffffff.
// Common to all of them:
//  - k <= 0 selects nothing, k >= elements everything, before any rule of the compressor's own
//    (a fixed threshold takes no k);
//  - elements are ordered by magnitude, NaN above infinity above all that is finite; of equals the
//    lowest index comes first (so Top-k of a vector with fewer than k non-zeros fills up with the
//    first zeros);
//  - more selected than the output holds: the first by index are sent, the others stay in the
//    residual, and the status says so. Nothing is lost.
//
// Casts and quantisers send every element in few bits (packing.hpp has the layout). They leave in
// the residual u - what was sent, rounded once to fp32, and +0 where either is not finite. Without
// a residual they have no error feedback: u is the gradient, and what is not sent is lost.
//
// PowerSGD sends two thin matrices in place of each matrix, one after the other (powersgd.cpp).
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "kernels/low_rank.hpp"
#include "kernels/packing.hpp"
#include "kernels/rule.hpp"
#include "kernels/selection.hpp"
#include "kernels/value_type.hpp"

namespace gradcast {

/// Family of a compressor, by what it sends of a gradient.
enum class Family {
  Dense,       // all of it, as it is
  Sparsifier,  // some elements, as they are
  Cast,        // all elements, in a smaller floating-point type
  Quantiser,   // all elements, in a few levels
  LowRank,     // of each matrix two thin ones, whose product is near it
};

/// Collective by which ranks combine their encoded gradients.
enum class Aggregation {
  AllReduce,  // encodings add up: the ranks sum them, and the size stays the same
  AllGather,  // encodings do not add up: every rank receives all of them
};

/// Number of elements that were sent, and `Status` bits.
struct Encoded {
  std::int64_t count = 0;
  std::uint32_t status = 0;
};

/// The output of an encode: as many values as indices. Values are what the receiver has of them
/// when they travel in that type.
struct SparseOutput {
  std::span<float> values;
  std::span<std::int32_t> indices;
  ValueType type = ValueType::Fp32;
};

/// One worker's sparse gradient, indices rising.
struct SparseSet {
  std::span<const float> values;
  std::span<const std::int32_t> indices;
};

/// The number that a compressor may be given, beside or in place of a density.
struct Parameter {
  std::string_view name;  // "": it takes none
  std::string_view meaning{};
  double usual = 0;
  double least = 0;
  double most = 0;
  bool whole = true;  // only whole numbers
  /// True if the parameter decides which elements are sent, by their values. Their number depends
  /// on the gradient as well, and the costs go by that number, not by the parameter.
  bool selects = false;
};

/// Settings of one encode of a cast or quantiser.
struct PackSettings {
  double parameter = 0;
  std::uint64_t seed = 0;  // of what is drawn at random
};

/// Settings of one encode or decode of a quantiser whose workers share a scale.
struct LevelSettings {
  double parameter = 0;
  std::uint64_t seed = 0;  // of what is drawn at random
  float scale = 0;         // the largest of all workers'
  std::int64_t workers = 1;
};

/// The scale that a worker would take by itself, and `Status` bits.
struct OwnScale {
  float scale = 0;
  std::uint32_t status = 0;
};

/// Definition of a quantiser whose workers share a scale (levels.hpp has the layout). Each worker
/// finds its own scale, the largest is everyone's, each encodes multiples of it, and an all-reduce
/// adds them up. Residuals are as with `Packing`.
struct Levels {
  std::uint32_t (*largest)(double parameter);  // multiple, L
  OwnScale (*own_scale)(std::span<const float> gradient, std::span<const float> residual,
                        double parameter);
  /// `own`: what own_scale said. `lanes` has lane_words(elements, lane_bits(L, workers)) words.
  void (*encode)(std::span<const float> gradient, std::span<float> residual, float own,
                 const LevelSettings& settings, std::span<std::uint32_t> lanes);
  /// dense = the sum of what all workers sent; `lanes`: the sum of their words.
  void (*decode)(std::span<const std::uint32_t> lanes, const LevelSettings& settings,
                 std::span<float> dense);
};

/// Definition of a cast or quantiser.
struct Packing {
  PackRule rule;
  PackSum sum;
  /// Given if workers may share a scale (QSGD's largest norm, TernGrad's largest s), so that an
  /// all-reduce can carry what they send. Else nullptr.
  const Levels* levels = nullptr;
  /// True if the received value is u on average, over all draws: at any parameter, or at the given
  /// one.
  bool unbiased = false;
  double unbiased_parameter = 0;
  int (*bits)(double parameter);  // of a code
  std::int64_t (*scale_words)(std::int64_t elements, double parameter);
  std::int64_t (*words)(std::int64_t elements, double parameter);  // of the whole payload
  /// `residual` has the gradient's length, 1 to 2^31-1, or is empty: no error feedback. `packed`
  /// has as many words as `words` says. Returns `Status` bits.
  std::uint32_t (*encode)(std::span<const float> gradient, std::span<float> residual,
                          const PackSettings& settings, std::span<std::uint32_t> packed);
  /// dense = what all payloads say together (`sum`), taken in the order of the workers.
  void (*decode)(std::span<const std::span<const std::uint32_t>> payloads, double parameter,
                 std::span<float> dense);
};

/// Settings of PowerSGD's calls for one tensor. All workers give the same.
struct LowRankSettings {
  MatrixShape shape;
  std::int64_t rank = 1;
  Mode mode = Mode::Code;
  std::uint64_t seed = 0;  // of columns of Q that are drawn
};

/// Definition of PowerSGD. A tensor takes three calls, with an all-reduce after each of the first
/// two: the caller adds up what the workers send, and divides it by their number. Matrices lie row
/// by row. For each tensor, a worker keeps its residual and Q. Q has columns x rank elements, at
/// first zeros; it is empty if the tensor is not compressed. After an iteration all workers have
/// the same Q.
struct LowRank {
  LowRankNumbers (*numbers)(const MatrixShape& shape, std::int64_t rank, Mode mode);
  /// u = gradient + residual, in the residual's place (for no error feedback, let it be zeros).
  /// `sent` has numbers().first elements: P = u Q; or u itself, and then the residual is zeros.
  /// Returns `Status` bits.
  std::uint32_t (*first)(std::span<const float> gradient, std::span<float> residual,
                         const LowRankSettings& settings, std::span<float> q,
                         std::span<float> sent);
  /// `p`: the mean of P, whose columns are made orthonormal. Q = u^T P is to be sent. Does nothing
  /// where the tensor is not compressed.
  void (*second)(std::span<const float> u, const LowRankSettings& settings, std::span<float> p,
                 std::span<float> q);
  /// `p`: as the second call left it; `q`: the mean of Q. dense = P Q^T, and u - dense stays in the
  /// residual. If the tensor is not compressed, `p` is the mean of u, and so is dense.
  void (*finish)(const LowRankSettings& settings, std::span<const float> p,
                 std::span<const float> q, std::span<float> dense, std::span<float> residual);
};

/// Bytes that a worker sends of a tensor, of which it keeps k elements, to so many ranks.
using PayloadFormula = std::function<double(double elements, double k, double ranks)>;

struct Compressor {
  std::string_view name;
  std::string_view summary;
  Family family = Family::Sparsifier;
  Aggregation aggregation;
  std::string_view source;
  Parameter parameter{};
  bool two_modes = false;    // Mode::Paper and Mode::Code differ; else Mode::Only
  bool exact_count = false;  // selects exactly k, clamped to 0..elements
  /// Seed, elements and k alone decide what is selected. Workers with one seed then select the same
  /// indices: they need not send them, and their values add up.
  bool shared_seed = false;
  /// True if its source keeps in the residual what is not sent. A caller may decide otherwise.
  bool feedback = true;
  Rule rule = Rule::Everything;
  /// The definition of a sparsifier (and of dense), in plain loops on the CPU. `residual` has the
  /// gradient's length, 1 to 2^31-1, and is read and written. nullptr: it is another family's.
  Encoded (*encode)(std::span<const float> gradient, std::span<float> residual,
                    const Selection& selection, const SparseOutput& output) = nullptr;
  /// The definition of a cast or quantiser; nullptr: it is another family's.
  const Packing* packing = nullptr;
  /// The definition of PowerSGD; nullptr: it is another family's.
  const LowRank* low_rank = nullptr;
  /// The payload of a compressor that a user's file describes; nullptr: it is one of the table.
  const PayloadFormula* payload = nullptr;
  /// The compressor of the table that trains in place of a described one, under its name; nullptr:
  /// the file names none.
  const Compressor* mathematics = nullptr;

  const Levels* levels() const { return packing != nullptr ? packing->levels : nullptr; }

  /// Its encodings are gathered, but an all-reduce can carry them where the workers agree on
  /// something before: on a seed, or on a scale.
  bool adds_up_on_request() const { return shared_seed || levels() != nullptr; }
};

/// In compressors.def order.
std::span<const Compressor* const> all_compressors();

/// Compressors that send index-value pairs, and dense, which sends all of them.
std::span<const Compressor* const> all_sparsifiers();
/// Compressors that send every element in few bits.
std::span<const Compressor* const> all_packers();
/// Compressors that send thin matrices in place of a matrix.
std::span<const Compressor* const> all_low_rank();

/// A compressor of the table; else what the source finds. nullptr if there is none of that name.
const Compressor* find_compressor(std::string_view name);

/// Finds compressors that are not in the table. A program sets it once, before its threads begin.
using CompressorSource = const Compressor* (*)(std::string_view name);
void set_compressor_source(CompressorSource source);

/// dense = the sum of all sets, added in the order of the workers. An element that no set names is
/// +0. An index outside `dense` is ignored.
void decode(std::span<const SparseSet> sets, std::span<float> dense);

}  // namespace gradcast
