// Properties of compressors for any vector, by random vectors and by statistics. RapidCheck shrinks
// a failure and prints its seed; RC_PARAMS="seed=... max_success=1000" asks for more.
#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "tests/kernels/cases.hpp"

using namespace gradcast;
using cases::Answer;
using cases::Method;
using cases::Vectors;

namespace {

/// Any bits, so NaNs and denormals too; or one of few values, so ties.
rc::Gen<float> any_float() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<std::uint32_t>(), float_of),
      rc::gen::map(rc::gen::inRange(-3, 4), [](int value) { return static_cast<float>(value); }),
      rc::gen::element(-0.0f, INFINITY, -INFINITY, 1e-40f, 3e38f));
}

Vectors any_vectors() {
  // RapidCheck's sizes stop at 100: some vectors of several tiles, too.
  const auto elements =
      *rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 40), rc::gen::inRange<std::size_t>(1, 3000));
  Vectors vectors;
  vectors.gradient = *rc::gen::container<std::vector<float>>(elements, any_float());
  vectors.residual = *rc::gen::container<std::vector<float>>(elements, any_float());
  return vectors;
}

Selection any_selection(const Method& method, std::size_t elements) {
  const int top = static_cast<int>(elements) + 3;
  Selection selection;
  selection.k = *rc::gen::inRange(-1, top);
  selection.mode = method.mode;
  selection.seed = *rc::gen::arbitrary<std::uint64_t>();
  selection.candidates = *rc::gen::inRange(0, top);
  selection.threshold = *any_float();
  return selection;
}

std::vector<float> u_of(const Vectors& vectors) {
  std::vector<float> u(vectors.gradient.size());
  std::transform(vectors.gradient.begin(), vectors.gradient.end(), vectors.residual.begin(),
                 u.begin(), add_feedback);
  return u;
}

double squared_norm(std::span<const float> x) {
  return std::accumulate(x.begin(), x.end(), 0.0, [](double sum, float value) {
    return sum + static_cast<double>(value) * static_cast<double>(value);
  });
}

Answer encode(std::string_view compressor, const std::vector<float>& u,
              const Selection& selection) {
  return cases::reference_answer({find_compressor(compressor), selection.mode},
                                 {u, std::vector<float>(u.size(), 0.0f)}, selection);
}

}  // namespace

TEST_CASE("properties of every compressor", "[kernels][properties]") {
  for (const Method& method : cases::all_methods())
    rc::prop(cases::name_of(method) + " conserves, in order, and keeps its count", [&] {
      const Vectors vectors = any_vectors();
      const std::vector<float> u = u_of(vectors);
      const auto elements = static_cast<std::int64_t>(u.size());
      const Selection selection = any_selection(method, u.size());
      const auto capacity = *rc::gen::inRange<std::int64_t>(0, elements + 2);
      const Answer answer = cases::reference_answer(method, vectors, selection, capacity);

      std::vector<float> whole = answer.residual;
      for (std::size_t j = 0; j < answer.indices.size(); ++j) {
        if (j > 0) RC_ASSERT(answer.indices[j] > answer.indices[j - 1]);
        float& place = whole.at(static_cast<std::size_t>(answer.indices[j]));
        RC_ASSERT(bits_of(place) == 0u);
        place = answer.values[j];
      }
      RC_ASSERT(cases::first_difference(whole, u) == -1);
      if (method.compressor->exact_count) {
        const std::int64_t wanted = std::clamp<std::int64_t>(selection.k, 0, elements);
        RC_ASSERT(answer.encoded.count == std::min(wanted, capacity));
        RC_ASSERT(((answer.encoded.status & kTruncated) != 0) == (capacity < wanted));
      }
    });
}

TEST_CASE("properties of selections", "[kernels][properties]") {
  rc::prop("no element that Top-k leaves is larger than one that it sends", [] {
    const Vectors vectors = any_vectors();
    const Method topk{find_compressor("topk"), Mode::Only};
    const Answer answer =
        cases::reference_answer(topk, vectors, any_selection(topk, vectors.gradient.size()));
    Key least_sent = kLargestKey;
    for (const float value : answer.values) least_sent = std::min(least_sent, magnitude_key(value));
    for (const float value : answer.residual) RC_ASSERT(magnitude_key(value) <= least_sent);
  });

  rc::prop("rTop-k sends some of Top-r", [] {
    const std::vector<float> u = u_of(any_vectors());
    const Method rtopk{find_compressor("rtopk"), Mode::Only};
    const Selection selection = any_selection(rtopk, u.size());
    const Answer answer = encode("rtopk", u, selection);
    const std::int64_t r = rtopk_candidates(selection, static_cast<std::int64_t>(u.size()));
    const Answer of_r = encode("topk", u, {.k = r});
    const bool among_them = std::includes(of_r.indices.begin(), of_r.indices.end(),
                                          answer.indices.begin(), answer.indices.end());
    RC_ASSERT(among_them);
  });

  rc::prop("a second encode without a gradient sends what the first left: nothing is lost", [] {
    const std::vector<float> u = u_of(any_vectors());
    const auto elements = static_cast<std::int64_t>(u.size());
    const auto k = *rc::gen::inRange<std::int64_t>(0, elements + 1);
    const Answer first = encode("topk", u, {.k = k});
    const Answer rest = encode("topk", first.residual, {.k = elements});
    std::vector<float> whole = rest.values;
    for (std::size_t j = 0; j < first.indices.size(); ++j)
      whole[static_cast<std::size_t>(first.indices[j])] = first.values[j];
    // +0 + +0: the second forms u again, where -0 + +0 is +0.
    for (std::size_t i = 0; i < u.size(); ++i)
      RC_ASSERT(bits_of(whole[i]) == bits_of(add_feedback(u[i], 0.0f)));
  });
}

// Understanding Top-k Sparsification, Theorem 1: where magnitudes are bell-shaped, what Top-k
// leaves is below (1 - k/d)^2, not just 1 - k/d, of the whole. Laplace and normal, d = 100,000.
TEST_CASE("Top-k leaves less than (1 - k/d)^2 of a bell-shaped vector", "[kernels][properties]") {
  rc::prop("for any k, seed and bell", [] {
    constexpr std::int64_t kElements = 100'000;
    const Input bell = *rc::gen::element(Input::normal, Input::laplace);
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const auto k = *rc::gen::inRange<std::int64_t>(1, kElements);
    const std::vector<float> u = cases::make_vectors(bell, kElements, seed).gradient;
    const double left = squared_norm(encode("topk", u, {.k = k}).residual);
    const double share = 1 - static_cast<double>(k) / kElements;
    RC_ASSERT(left <= share * share * squared_norm(u));
  });
}

// ---- statistics ---------------------------------------------------------------------------------

// Each element stays with probability 1 - k/d, so E|u - C(u)|^2 = (1 - k/d) |u|^2. For S draws, the
// mean's standard error is at most sqrt((k/d) (1 - k/d) sum u^4 / S): draws without replacement
// vary less than independent ones. 5 errors.
TEST_CASE("Rand-k leaves 1 - k/d of the squared norm on average", "[kernels][properties]") {
  constexpr int kElements = 2000;
  constexpr int kDraws = 2000;
  for (const Input input : {Input::normal, Input::student_t3})
    for (const int k : {1, 20, 1000, 1999}) {
      CAPTURE(static_cast<int>(input), k);
      const std::vector<float> u = cases::make_vectors(input, kElements, 11).gradient;
      double fourth = 0;
      for (const float value : u) fourth += std::pow(static_cast<double>(value), 4);
      double mean = 0;
      for (std::uint64_t seed = 0; seed < kDraws; ++seed)
        mean += squared_norm(encode("randk", u, {.k = k, .seed = seed}).residual) / kDraws;
      const double share = static_cast<double>(k) / kElements;
      const double error = std::sqrt(share * (1 - share) * fourth / kDraws);
      CHECK(std::abs(mean - (1 - share) * squared_norm(u)) < 5 * error);
    }
}

namespace {

/// Chi squared of how often each of `bins` was drawn. A draw takes k of them without replacement,
/// which makes each count's variance D p (1 - p), p = k/bins; so divided by 1 - p the sum has
/// bins - 1 degrees of freedom.
double chi_squared(std::span<const std::int64_t> counts, double draws, double p) {
  double sum = 0;
  for (const std::int64_t count : counts) {
    const double over = static_cast<double>(count) - draws * p;
    sum += over * over / (draws * p * (1 - p));
  }
  return sum * static_cast<double>(counts.size() - 1) / static_cast<double>(counts.size());
}

/// Chi squared of n degrees of freedom has mean n and deviation sqrt(2 n). Both sides are checked:
/// too even is not random either.
void require_uniform(std::span<const std::int64_t> counts, double draws, double p) {
  const auto freedom = static_cast<double>(counts.size() - 1);
  REQUIRE(std::abs(chi_squared(counts, draws, p) - freedom) < 5 * std::sqrt(2 * freedom));
}

}  // namespace

TEST_CASE("Rand-k takes every index equally often", "[kernels][properties]") {
  constexpr int kDraws = 4000;
  for (const std::size_t elements : {64u, 1000u})  // a power of two, and not
    for (const std::size_t k : {std::size_t{1}, elements / 10, elements / 2}) {
      CAPTURE(elements, k);
      std::vector<std::int64_t> counts(elements);
      const std::vector<float> u(elements, 1.0f);
      for (std::uint64_t draw = 0; draw < kDraws; ++draw)
        for (const std::int32_t index :
             encode("randk", u, {.k = static_cast<std::int64_t>(k), .seed = draw}).indices)
          ++counts[static_cast<std::size_t>(index)];
      require_uniform(counts, kDraws, static_cast<double>(k) / static_cast<double>(elements));
    }
}

// Seeds of successive calls differ in few bits. One of 16 elements is drawn by a seed and one by a
// seed that differs in one bit: each of the 256 pairs is equally likely.
TEST_CASE("Rand-k's draws by neighbouring seeds are independent", "[kernels][properties]") {
  constexpr int kDraws = 20'000;
  const std::vector<float> u(16, 1.0f);
  const auto drawn = [&](std::uint64_t seed) {
    return static_cast<std::size_t>(encode("randk", u, {.k = 1, .seed = seed}).indices[0]);
  };
  for (const int bit : {0, 1, 4, 31, 32, 63}) {
    CAPTURE(bit);
    std::vector<std::int64_t> pairs(256);
    for (std::uint64_t draw = 0; draw < kDraws; ++draw)
      ++pairs[16 * drawn(3 * draw) + drawn((3 * draw) ^ (std::uint64_t{1} << bit))];
    require_uniform(pairs, kDraws, 1.0 / 256);
  }
}

TEST_CASE("rTop-k takes each of its r candidates equally often", "[kernels][properties]") {
  constexpr int kDraws = 4000;
  const std::vector<float> u = cases::make_vectors(Input::normal, 1000, 5).gradient;
  const std::vector<std::int32_t> candidates = encode("topk", u, {.k = 100}).indices;
  std::vector<std::int64_t> counts(1000);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw)
    for (const std::int32_t index :
         encode("rtopk", u, {.k = 20, .seed = draw, .candidates = 100}).indices)
      ++counts[static_cast<std::size_t>(index)];
  std::vector<std::int64_t> of_candidates;
  of_candidates.reserve(candidates.size());
  for (const std::int32_t index : candidates)
    of_candidates.push_back(counts[static_cast<std::size_t>(index)]);
  CHECK(std::accumulate(of_candidates.begin(), of_candidates.end(), std::int64_t{0}) ==
        std::int64_t{20} * kDraws);
  require_uniform(of_candidates, kDraws, 0.2);
}
