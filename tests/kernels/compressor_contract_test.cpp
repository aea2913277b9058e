// The contract of every compressor, by an oracle that sorts indices. It shares the definitions of
// keys with the code under test (definitions.hpp), and nothing else. A new compressor is covered by
// its line in compressors.def, and needs a line in `expected_indices` if its order is a new one.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "tests/kernels/cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

std::vector<float> oracle_u(const Vectors& vectors) {
  std::vector<float> u;
  for (std::size_t i = 0; i < vectors.gradient.size(); ++i) {
    const float sum = vectors.gradient[i] + vectors.residual[i];
    u.push_back(std::isnan(sum) ? float_of(0x7fffffffu) : sum);
  }
  return u;
}

/// The first `count` by a strict order; the lowest index first of what the order does not tell
/// apart.
template <typename Key>
std::vector<std::int32_t> first_by(std::vector<std::int32_t> indices, std::int64_t count, Key key) {
  std::nth_element(
      indices.begin(), indices.begin() + count, indices.end(),
      [&](std::int32_t a, std::int32_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  indices.resize(static_cast<std::size_t>(count));
  std::sort(indices.begin(), indices.end());
  return indices;
}

/// The elements that a compressor sends if it sends `count` of them.
std::vector<std::int32_t> expected_indices(const Case& one, std::span<const float> u,
                                           std::int64_t count) {
  std::vector<std::int32_t> all(u.size());
  std::iota(all.begin(), all.end(), 0);
  if (count == one.elements) return all;
  const auto magnitude = [&](std::int32_t i) { return bits_of(std::fabs(u[std::size_t(i)])); };
  const auto chance = [&](std::int32_t i) {
    return random_key(one.selection.seed, static_cast<std::uint32_t>(i));
  };
  switch (one.method.compressor->rule) {
    case Rule::Everything:
      return count == 0 ? std::vector<std::int32_t>{} : all;
    case Rule::Randk:
      return first_by(all, count, chance);
    case Rule::Rtopk: {  // r = 5 k
      const std::int64_t r = std::min(one.elements, 5 * one.selection.k);
      return first_by(first_by(all, std::max<std::int64_t>(r, 0), magnitude), count, chance);
    }
    case Rule::Topk:
    case Rule::Dgc:
    case Rule::Gaussian:
    case Rule::Trimmed:
    case Rule::Threshold:
      break;
  }
  return first_by(all, count, magnitude);
}

bool takes_moments(const Method& method) {
  return method.compressor->rule == Rule::Gaussian ||
         (method.compressor->rule == Rule::Trimmed && method.mode == Mode::Code);
}

bool decides_by_threshold(const Method& method) {
  return takes_moments(method) || method.compressor->rule == Rule::Threshold;
}

bool count_is_promised(const Case& one, std::span<const float> u, std::int64_t count) {
  if (one.method.compressor->rule == Rule::Threshold)
    return count == std::count_if(u.begin(), u.end(), [&](float x) {
             return !std::isfinite(x) || std::fabs(x) > one.selection.threshold;
           });
  const std::int64_t k = one.selection.k;
  if (k <= 0) return count == 0;
  if (k >= one.elements) return count == one.elements;
  if (one.method.compressor->exact_count) return count == k;
  switch (one.method.compressor->rule) {
    case Rule::Everything:
      return count == one.elements;
    case Rule::Dgc:  // more would have been selected again, to k
      return 3 * count <= 4 * k;
    case Rule::Trimmed:
      return one.method.mode == Mode::Paper ? count == k : count >= k;
    default:
      return true;
  }
}

/// Nothing is lost. At places that were sent the values are u, and zero is left; elsewhere u is
/// left. With values of 16 bits, the rounding error is left: value and rest add up to u, unless the
/// value has overflown or u is not finite.
bool conserved(std::span<const float> u, const Answer& answer, ValueType type = ValueType::Fp32) {
  std::size_t sent = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const bool was_sent =
        sent < answer.indices.size() && answer.indices[sent] == static_cast<std::int32_t>(i);
    if (!was_sent && bits_of(answer.residual[i]) != bits_of(u[i])) return false;
    if (!was_sent) continue;
    const float value = answer.values[sent++];
    const float rest = answer.residual[i];
    if (type != ValueType::Fp32 && std::isfinite(value)) {
      if (value + rest != u[i]) return false;
      if (std::fabs(rest) > std::fabs(u[i])) return false;
    } else {
      const bool overflown = type != ValueType::Fp32 && std::isinf(value) && value * u[i] > 0;
      if (!overflown && bits_of(value) != bits_of(u[i])) return false;
      if (bits_of(rest) != 0u) return false;
    }
  }
  return sent == answer.indices.size();  // so indices are in range, rising and each there once
}

void require_contract(const Case& one, const Vectors& vectors) {
  INFO(one);
  const std::vector<float> u = oracle_u(vectors);
  const Answer answer = reference_answer(one.method, vectors, one.selection, -1, one.type);
  REQUIRE(count_is_promised(one, u, answer.encoded.count));
  REQUIRE(conserved(u, answer, one.type));
  const bool as_expected = answer.indices == expected_indices(one, u, answer.encoded.count);
  REQUIRE(as_expected);

  const bool not_finite =
      std::any_of(u.begin(), u.end(), [](float x) { return !std::isfinite(x); });
  const bool has_own_rule = one.selection.k > 0 && one.selection.k < one.elements;
  REQUIRE(answer.encoded.status == (not_finite ? kNotFinite : 0u));
  if (not_finite && has_own_rule && takes_moments(one.method)) {  // these are always sent
    const bool none_stays = std::all_of(answer.residual.begin(), answer.residual.end(),
                                        [](float x) { return std::isfinite(x); });
    REQUIRE(none_stays);
  }
  if (decides_by_threshold(one.method) && !answer.values.empty()) {  // a threshold cuts no ties
    Key least_sent = kLargestKey;
    for (const std::int32_t index : answer.indices)
      least_sent = std::min(least_sent, magnitude_key(u[static_cast<std::size_t>(index)]));
    const std::int64_t at_least = std::count_if(
        u.begin(), u.end(), [&](float value) { return magnitude_key(value) >= least_sent; });
    REQUIRE(answer.encoded.count == at_least);
  }
}

}  // namespace

TEST_CASE("every compressor keeps its promises, on everything small", "[kernels]") {
  for_each_case(kQuickSizes, 1, require_contract);
}

TEST_CASE("every compressor keeps its promises, on large vectors", "[.][slow]") {
  for_each_case(std::span(kSlowSizes).first(3), 3, require_contract);
  for_each_case(std::span(kSlowSizes).subspan(3, 2), 17, require_contract);
  for_each_case(std::span(kSlowSizes).subspan(5), 41, require_contract);
}

// The output holds fewer than were selected: the first of them are sent, the rest of u stays.
TEST_CASE("an output that is too small loses nothing", "[kernels]") {
  constexpr std::int64_t kSizes[] = {1, 5, 1025};
  for_each_case(kSizes, 1, [](const Case& one, const Vectors& vectors) {
    INFO(one);
    const std::vector<float> u = oracle_u(vectors);
    const Answer whole = reference_answer(one.method, vectors, one.selection, -1, one.type);
    const std::int64_t selected = whole.encoded.count;
    for (const std::int64_t capacity :
         {std::int64_t{0}, selected / 2, selected - 1, selected, selected + 1}) {
      if (capacity < 0) continue;
      INFO("capacity " << capacity);
      const Answer cut = reference_answer(one.method, vectors, one.selection, capacity, one.type);
      const auto sent = static_cast<std::size_t>(std::min(capacity, selected));
      REQUIRE(cut.encoded.count == std::min(capacity, selected));
      REQUIRE(((cut.encoded.status & kTruncated) != 0) == (capacity < selected));
      const bool the_first =
          cut.indices == std::vector<std::int32_t>(whole.indices.begin(),
                                                   whole.indices.begin() + std::ptrdiff_t(sent));
      REQUIRE(the_first);
      REQUIRE(conserved(u, cut, one.type));
    }
  });
}

TEST_CASE("the same call gives the same answer", "[kernels]") {
  constexpr std::int64_t kSizes[] = {33, 1025};
  for_each_case(kSizes, 1, [](const Case& one, const Vectors& vectors) {
    INFO(one);
    require_same(reference_answer(one.method, vectors, one.selection),
                 reference_answer(one.method, vectors, one.selection));
  });
}

TEST_CASE("another seed draws another selection", "[kernels]") {
  const Vectors vectors = make_vectors(Input::normal, 1000, 1);
  for (const char* name : {"randk", "rtopk"}) {
    CAPTURE(name);
    const Method method{find_compressor(name), Mode::Only};
    CHECK(reference_answer(method, vectors, {.k = 10, .seed = 1}).indices !=
          reference_answer(method, vectors, {.k = 10, .seed = 2}).indices);
    CHECK(reference_answer(method, vectors, {.k = 10, .seed = 1}).indices !=
          reference_answer(method, vectors, {.k = 10, .seed = std::uint64_t{1} << 32 | 1}).indices);
  }
}

// u = 1, NaN, -inf, -0, inf, NaN (of another payload and sign). By magnitude: both NaNs, both
// infinities, 1, -0.
TEST_CASE("NaN is largest, infinity next, and signs of zeros and infinities stay", "[kernels]") {
  const Vectors vectors{
      {1.0f, float_of(0x7fc00001u), -INFINITY, -0.0f, INFINITY, float_of(0xffc12345u)},
      {0.0f, 0.0f, 0.0f, -0.0f, 1.0f, 0.0f}};
  const Method topk{find_compressor("topk"), Mode::Only};
  const Answer three = reference_answer(topk, vectors, {.k = 3});
  CHECK(three.indices == std::vector<std::int32_t>{1, 2, 5});  // the first of the infinities
  CHECK(bits_of(three.values[0]) == 0x7fffffffu);
  CHECK(bits_of(three.values[1]) == 0xff800000u);
  CHECK(bits_of(three.values[2]) == 0x7fffffffu);  // every NaN is the one NaN
  CHECK(bits_of(three.residual[3]) == 0x80000000u);
  CHECK(bits_of(three.residual[2]) == 0u);  // +0 where the negative infinity was

  const Answer all = reference_answer(topk, vectors, {.k = 6});
  CHECK(bits_of(all.values[3]) == 0x80000000u);
  CHECK(bits_of(all.residual[3]) == 0u);  // +0, not -0, where -0 was sent
}

TEST_CASE("a mode that a compressor does not have is refused by its name", "[kernels]") {
  for (const Compressor* compressor : all_sparsifiers()) {
    CAPTURE(compressor->name);
    std::vector<float> gradient{1.0f};
    std::vector<float> residual{2.0f};
    const auto encode = [&](Mode mode) {
      compressor->encode(gradient, residual, {.k = 1, .mode = mode}, {});
    };
    for (const Mode mode : {Mode::Only, Mode::Paper, Mode::Code}) {
      if ((mode != Mode::Only) == compressor->two_modes) continue;
      CHECK_THROWS_WITH(encode(mode), Catch::StartsWith(std::string(compressor->name) + " "));
    }
    CHECK(residual[0] == 2.0f);  // nothing was touched
  }
}
