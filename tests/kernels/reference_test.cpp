// The compressors' definitions on vectors small enough to be worked out by hand.
#include "kernels/reference.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "kernels/normal_quantile.hpp"
#include "tests/kernels/cases.hpp"

using namespace gradcast;
using cases::Answer;
using Indices = std::vector<std::int32_t>;
using Floats = std::vector<float>;

namespace {

/// Encodes u with no residual from before.
Answer encode(std::string_view compressor, const Floats& u, const Selection& selection) {
  return cases::reference_answer({find_compressor(compressor), selection.mode},
                                 {u, Floats(u.size(), 0.0f)}, selection);
}

Floats ramp(std::int64_t elements) {
  return cases::make_vectors(Input::ascending, elements, 1).gradient;
}

}  // namespace

// ---- dense, Top-k -------------------------------------------------------------------------------

TEST_CASE("dense sends everything for whatever k but 0", "[kernels]") {
  CHECK(encode("dense", {3, 0, -1}, {.k = 1}).values == Floats{3, 0, -1});
  CHECK(encode("dense", {3, 0, -1}, {.k = 0}).residual == Floats{3, 0, -1});
}

// u = {1 + 0.5, -4, 2 - 2, 0, 3 - 6} = {1.5, -4, 0, 0, -3}.
TEST_CASE("top-k takes the largest of gradient plus residual, and keeps the rest", "[kernels]") {
  const cases::Vectors vectors{{1, -4, 2, 0, 3}, {0.5, 0, -2, 0, -6}};
  const cases::Method topk{find_compressor("topk"), Mode::Only};
  const Answer two = cases::reference_answer(topk, vectors, {.k = 2});
  CHECK(two.indices == Indices{1, 4});
  CHECK(two.values == Floats{-4, -3});
  CHECK(two.residual == Floats{1.5, 0, 0, 0, 0});
  // There are but three non-zeros: the first zero is the fourth.
  CHECK(cases::reference_answer(topk, vectors, {.k = 4}).indices == Indices{0, 1, 2, 4});
}

TEST_CASE("of equal magnitudes top-k takes the first", "[kernels]") {
  CHECK(encode("topk", {1, -2, 2, 2, -2}, {.k = 3}).indices == Indices{1, 2, 3});
}

// ---- Gaussian-k ---------------------------------------------------------------------------------

TEST_CASE("normal quantiles are those of the tables", "[kernels]") {
  CHECK(-normal_quantile(0.001) == Approx(3.0902323).epsilon(1e-8));
  CHECK(-normal_quantile(0.0005) == Approx(3.2905267).epsilon(1e-8));
  CHECK(std::abs(normal_quantile(0.5)) < 1e-15);
  // And invert the distribution function, P(Z < -z) = erfc(z / sqrt 2) / 2.
  for (const double tail : {1e-9, 1e-6, 1e-4, 0.01, 0.1, 0.25, 0.4})
    CHECK(0.5 * std::erfc(-normal_quantile(tail) / std::sqrt(2.0)) ==
          Approx(tail).epsilon(1e-12).margin(0));
}

TEST_CASE("the paper's quantile is one-sided, its authors' two-sided", "[kernels]") {
  CHECK(gaussian_deviations({.k = 1, .mode = Mode::Paper}, 1000) == -normal_quantile(0.001));
  CHECK(gaussian_deviations({.k = 1, .mode = Mode::Code}, 1000) == -normal_quantile(0.0005));
}

// Mean 0; squares 2 (49 + 25 + 9 + 1) = 168, so the variance is 168/7 = 24 and sigma 4.899. k = 2:
// 2 to 2 2/3 elements (3n from 4 to 8) end the loop.
//  paper: z(1 - 2/8) = 0.6745: above 3.304 are 4, above 4.956 (x 1.5) 4, above 7.434 none, and
//  above
//         3.717 (x 0.5) 4 again: four evaluations, and the last one's elements are sent.
//  code:  z(1 - 1/8) = 1.1503: above 5.636 are 2.
TEST_CASE("Gaussian-k moves its threshold as Algorithm 1 says", "[kernels]") {
  const Floats u{-7, -5, -3, -1, 1, 3, 5, 7};
  CHECK(encode("gaussian", u, {.k = 2, .mode = Mode::Paper}).indices == Indices{0, 1, 6, 7});
  CHECK(encode("gaussian", u, {.k = 2, .mode = Mode::Code}).indices == Indices{0, 7});
}

// Sum 16, mean 2; squares 7 + 81 = 88, variance (88 - 256/8) / 7 = 8, sigma 2.828. k = 4: 2 2/3 to
// 5 1/3 elements end the loop.
//  paper: z(1/2) = 0: above 2 is one, above 1 one, above 0.5 eight, above 0.75 eight.
//  code:  z(3/4) = 0.6745: above 3.908 is one, above 1.954 one, above 0.977 eight: three
//  evaluations.
TEST_CASE("Gaussian-k gives up after four evaluations, the authors' after three", "[kernels]") {
  const Floats u{1, 1, 1, 1, 1, 1, 1, 9};
  CHECK(encode("gaussian", u, {.k = 4, .mode = Mode::Paper}).encoded.count == 8);
  CHECK(encode("gaussian", u, {.k = 4, .mode = Mode::Code}).encoded.count == 8);
  // With 0.3 for 1: sum 11.1, mean 1.3875, sigma 3.076. The authors' thresholds are 3.462, 1.731
  // and 0.866, with one element above; the paper's 1.388, 0.694, 0.347 and 0.173, with eight at
  // last.
  const Floats low{0.3f, 0.3f, 0.3f, 0.3f, 0.3f, 0.3f, 0.3f, 9};
  CHECK(encode("gaussian", low, {.k = 4, .mode = Mode::Paper}).encoded.count == 8);
  CHECK(encode("gaussian", low, {.k = 4, .mode = Mode::Code}).indices == Indices{7});
}

// As above with k = 6: z(1 - 6/8) = -0.6745, so the threshold is -3.304. 3 x 8 is not above 4 x 6.
TEST_CASE("below zero a threshold lets everything through", "[kernels]") {
  CHECK(encode("gaussian", {-7, -5, -3, -1, 1, 3, 5, 7}, {.k = 6, .mode = Mode::Paper})
            .encoded.count == 8);
}

// The eight finite elements have mean 0 and sigma 4.899; z(1 - 2/20) = 1.2816. Above 6.278 are the
// 7s, the infinity and the NaN; above 9.417 the latter two, and 3 x 2 is within 4 to 8.
TEST_CASE("what is not finite is no part of the moments, and always sent", "[kernels]") {
  const Answer answer =
      encode("gaussian", {-7, -5, -3, -1, 1, 3, 5, 7, NAN, INFINITY}, {.k = 2, .mode = Mode::Code});
  CHECK(answer.indices == Indices{8, 9});
  CHECK(answer.encoded.status == kNotFinite);
  CHECK(encode("gaussian", {NAN, 0, NAN, INFINITY}, {.k = 1, .mode = Mode::Code}).indices ==
        Indices{0, 2, 3});
}

// k = 50 of 100, sigma 0: nothing is above the mean 0.25, and all above 0.125 and 0.1875 (x 1.5).
TEST_CASE("Gaussian-k sends all or nothing of a constant", "[kernels]") {
  CHECK(encode("gaussian", Floats(100, 0.25f), {.k = 50, .mode = Mode::Code}).encoded.count == 100);
  CHECK(encode("gaussian", Floats(100, 0.0f), {.k = 50, .mode = Mode::Code}).encoded.count == 0);
}

// k/d = 0.001, and both tails count. The paper's thresholds are 3.0902 sigma with 2 k above
// it, 4.6353 with 0.004 k, 2.3177 with 20.5 k, 3.4765 with 0.508 k; the authors' is 3.2905 with 1
// k. Counts of about 2000 and 4000 deviate by 0.011 k and 0.015 k.
TEST_CASE("of normal elements the paper's Gaussian-k sends half of k, the authors' k",
          "[kernels]") {
  constexpr std::int64_t kElements = 4'194'304;
  constexpr std::int64_t kWanted = kElements / 1000;
  const Floats u = cases::make_vectors(Input::normal, kElements, 7).gradient;
  const auto share = [&](Mode mode) {
    return static_cast<double>(encode("gaussian", u, {.k = kWanted, .mode = mode}).encoded.count) /
           kWanted;
  };
  CHECK(share(Mode::Paper) == Approx(0.508).margin(0.05));
  CHECK(share(Mode::Code) == Approx(1.0).margin(0.07));
}

// ---- moments ------------------------------------------------------------------------------------

// 2^60 + 1 is 2^60 in a double: a 1 is lost where it is added to 2^60, and only there.
TEST_CASE("moments are added in the order of the definition", "[kernels]") {
  const float big = std::ldexp(1.0f, 60);
  const auto sum = [&](std::size_t elements, std::size_t plus, std::size_t one, std::size_t minus) {
    Floats u(elements, 0.0f);
    u[plus] = big;
    u[one] = 1;
    u[minus] = -big;
    return moments_of(u, MomentsOf::Values).sum;
  };
  constexpr std::size_t kTile = 1024;
  // Lane 0 has elements 0 to 3, then 128 to 131.
  CHECK(sum(200, 0, 1, 2) == 0);
  CHECK(sum(200, 0, 2, 1) == 1);
  CHECK(sum(200, 0, 3, 128) == 0);
  CHECK(sum(200, 0, 128, 3) == 1);
  // Lane 16 (elements 64 to 67) comes to lane 0 before lane 1 (4 to 7), and 8 before 4.
  CHECK(sum(200, 0, 4, 64) == 1);
  CHECK(sum(200, 0, 64, 4) == 0);
  CHECK(sum(200, 0, 16, 32) == 1);
  CHECK(sum(200, 0, 32, 16) == 0);
  // Tiles add up likewise: 16 before 1, but 1 before 32; of the sums of 32, the fifth before the
  // second.
  CHECK(sum(300 * kTile, 0, 1 * kTile, 16 * kTile) == 1);
  CHECK(sum(300 * kTile, 0, 16 * kTile, 1 * kTile) == 0);
  CHECK(sum(300 * kTile, 0, 1 * kTile, 32 * kTile) == 0);
  CHECK(sum(300 * kTile, 0, 32 * kTile, 128 * kTile) == 1);
  CHECK(sum(300 * kTile, 0, 128 * kTile, 32 * kTile) == 0);
  // 256 tiles come before the next.
  CHECK(sum(300 * kTile, 0, 255 * kTile, 256 * kTile) == 0);
  CHECK(sum(300 * kTile, 0, 256 * kTile, 255 * kTile) == 1);
}

// 1 - 2 + 0.5 = -0.5 (3.5 of magnitudes), squares 1 + 4 + 0.25 = 5.25.
TEST_CASE("moments leave out what is not finite, and count it", "[kernels]") {
  const Floats u{1, NAN, -2, INFINITY, 0.5, -INFINITY};
  const Moments moments = moments_of(u, MomentsOf::Values);
  CHECK(moments.sum == -0.5);
  CHECK(moments.squares == 5.25);
  CHECK(moments.largest == magnitude_key(2));
  CHECK(moments.unfinite == 3);
  CHECK(moments_of(u, MomentsOf::Magnitudes).sum == 3.5);
}

// ---- Trimmed ------------------------------------------------------------------------------------

// Mean 4.6, largest 10, 5.4 between: thresholds 8.92, 7.84, 6.76, 5.68 and 4.6, with 1, 2, 3, 4 and
// 5 elements above.
TEST_CASE("trimmed steps down from the maximum until k elements pass", "[kernels]") {
  const Floats u{0, 1, -2, 3, -4, 5, 6, -7, 8, 10};
  const auto indices = [&](std::int64_t k) {
    return encode("trimmed", u, {.k = k, .mode = Mode::Code}).indices;
  };
  CHECK(indices(1) == Indices{9});
  CHECK(indices(2) == Indices{8, 9});
  CHECK(indices(3) == Indices{7, 8, 9});
  CHECK(indices(4) == Indices{6, 7, 8, 9});
  CHECK(indices(5) == Indices{5, 6, 7, 8, 9});
  CHECK(indices(6).size() == 10);  // not even those above the mean are enough
  CHECK(encode("trimmed", u, {.k = 6, .mode = Mode::Paper}).indices == Indices{4, 5, 6, 7, 8, 9});
}

// Mean 2, largest 6: the first threshold is 5.2, and four pass.
TEST_CASE("the authors' trimmed sends all that pass, the paper's k of them", "[kernels]") {
  const Floats u{6, 0, 0, -6, 0, 0, 6, 0, 0, 6, 0, 0};
  CHECK(encode("trimmed", u, {.k = 2, .mode = Mode::Code}).indices == Indices{0, 3, 6, 9});
  CHECK(encode("trimmed", u, {.k = 2, .mode = Mode::Paper}).indices == Indices{0, 3});
}

TEST_CASE("the authors' trimmed sends all of a constant: nothing is above the mean", "[kernels]") {
  CHECK(encode("trimmed", {2, -2, 2, -2}, {.k = 1, .mode = Mode::Code}).encoded.count == 4);
}

// The mean of {1, 3} is 2 and the largest 3. Above 2.8 are 3, NaN and the infinity.
TEST_CASE("trimmed's moments leave out what is not finite, too", "[kernels]") {
  const Answer answer = encode("trimmed", {1, NAN, 3, -INFINITY}, {.k = 2, .mode = Mode::Code});
  CHECK(answer.indices == Indices{1, 2, 3});
  CHECK(answer.encoded.status == kNotFinite);
}

// ---- DGC ----------------------------------------------------------------------------------------

// The paper's sample has 2 x 8/2 = 8 elements, that is all: the threshold is the second largest.
TEST_CASE("DGC sends what is at its threshold or above", "[kernels]") {
  CHECK(encode("dgc", {3, 1, 4, 1, -5, 9, 2, 6}, {.k = 2, .mode = Mode::Paper}).indices ==
        Indices{5, 7});
  // Three 9s pass: 3 x 3 is above 4 x 2, so exactly two are selected again, the first.
  CHECK(encode("dgc", {9, 1, 1, 1, 9, 9, 1, 1}, {.k = 2, .mode = Mode::Paper}).indices ==
        Indices{0, 4});
  // k = 3 of 4 (the sample has 2 x 2): 3 x 4 is not above 4 x 3, so four are sent.
  CHECK(encode("dgc", {9, 9, 9, 9}, {.k = 3, .mode = Mode::Paper}).encoded.count == 4);
}

// A sample of 8/100, at least 1 element, drawn from all: element i = random_key(seed, 0) mod 8. Its
// magnitude i has 7 - i elements above; 3 or more (3 x 3 > 4 x 2) are cut down to 2.
TEST_CASE("the authors' DGC sends what is above its threshold, even nothing", "[kernels]") {
  std::set<std::int64_t> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto sampled = static_cast<std::int64_t>(random_key(seed, 0) % 8);
    seen.insert(sampled);
    CAPTURE(seed, sampled);
    CHECK(encode("dgc", ramp(8), {.k = 2, .mode = Mode::Code, .seed = seed}).encoded.count ==
          (7 - sampled >= 3 ? 2 : 7 - sampled));
  }
  CHECK(seen.size() == 8);
  CHECK(encode("dgc", Floats(100, 1.0f), {.k = 10, .mode = Mode::Code}).encoded.count == 0);
}

// 0, 1, ..., 99,999 and k = 100.
//  paper: a sample of 2 x 1000 from strata of 50. Rank 100 x 2000 / 100,000 = 2: the threshold is
//         from the last stratum but one, 99,900 to 99,949, so 51 to 100 elements pass.
//  code:  a sample of 1000 from strata of 100. Rank 100, not scaled: the threshold is from stratum
//         900, about 90,050, and the 9,950 that pass are selected again.
TEST_CASE("the paper's rank is scaled to the sample, its authors' is not", "[kernels]") {
  std::set<std::int64_t> counts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Answer paper =
        encode("dgc", ramp(100'000), {.k = 100, .mode = Mode::Paper, .seed = seed});
    CHECK(paper.encoded.count >= 51);
    CHECK(paper.encoded.count <= 100);
    CHECK(paper.indices.front() == 100'000 - paper.encoded.count);
    counts.insert(paper.encoded.count);
    const Answer code = encode("dgc", ramp(100'000), {.k = 100, .mode = Mode::Code, .seed = seed});
    CHECK(code.encoded.count == 100);
    CHECK(code.indices.front() == 99'900);
  }
  CHECK(counts.size() > 5);
}

TEST_CASE("DGC's sample has no element twice, and one from every stratum", "[kernels]") {
  for (const std::int64_t elements : {1, 7, 8, 1000, 4095, 409'600, 1'000'003})
    for (const std::int64_t least : {1, 9, 5000}) {
      const Sample sample = make_sample(elements, least);
      CAPTURE(elements, least, sample.units, sample.width);
      std::int64_t before = -1;
      bool rising = true;
      for (std::int64_t j = 0; j < sample.size(); ++j) {
        const std::int64_t index = sample_index(sample, 42, j);
        rising = rising && index > before && index < elements;
        before = index;
      }
      CHECK(rising);
      // Never more than wanted, and less only by what runs of 8 leave over.
      const std::int64_t wanted = std::min(elements, std::max(elements / 100, least));
      CHECK(sample.size() <= wanted);
      CHECK(sample.size() > wanted - sample.width);
    }
}

// ---- Rand-k, rTop-k -----------------------------------------------------------------------------

TEST_CASE("of one seed, random keys are all different", "[kernels]") {
  std::set<Key> keys;
  for (std::uint32_t index = 0; index < 100'000; ++index) keys.insert(random_key(99, index));
  CHECK(keys.size() == 100'000);
}

// r = k leaves no choice, r = d every choice.
TEST_CASE("rTop-k lies between Top-k and Rand-k", "[kernels]") {
  const Floats u = cases::make_vectors(Input::normal, 1000, 3).gradient;
  const auto rtopk = [&](std::int64_t candidates) {
    return encode("rtopk", u, {.k = 20, .seed = 5, .candidates = candidates}).indices;
  };
  CHECK(rtopk(20) == encode("topk", u, {.k = 20}).indices);
  CHECK(rtopk(7) == rtopk(20));  // never fewer than k
  CHECK(rtopk(1000) == encode("randk", u, {.k = 20, .seed = 5}).indices);
  CHECK(rtopk(5000) == rtopk(1000));
  CHECK(rtopk(0) == rtopk(100));  // 5 k where nothing is said
  CHECK(rtopk(100) != rtopk(1000));
}

// ---- a fixed threshold --------------------------------------------------------------------------

TEST_CASE("a fixed threshold sends what is larger in magnitude, however many that are",
          "[kernels]") {
  const Floats u{0.5f, -2, 1, 0, -1, 3};
  const auto above = [&](float threshold) {
    return encode("threshold", u, {.threshold = threshold}).indices;
  };
  CHECK(above(1) == Indices{1, 5});  // not 1 and -1 themselves
  CHECK(above(0.99f) == Indices{1, 2, 4, 5});
  CHECK(above(0) == Indices{0, 1, 2, 4, 5});  // zeros are above nothing
  CHECK(above(-1) == Indices{0, 1, 2, 3, 4, 5});
  CHECK(above(3).empty());
  CHECK(encode("threshold", u, {.k = 1, .threshold = 1}).indices == Indices{1, 5});  // takes no k
}

// An overflow of fp16 gradients: training code skips such a step, and must know of it.
TEST_CASE("every sparsifier says where u is not finite, whatever it sends", "[kernels]") {
  for (const char* name : {"topk", "randk", "rtopk", "threshold", "dense"})
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      CAPTURE(name, bad);
      CHECK(encode(name, {1, bad, 3, 4}, {.k = 1}).encoded.status == kNotFinite);
      CHECK(encode(name, {1, bad, 3, 4}, {.k = 0}).encoded.status == kNotFinite);
      CHECK(encode(name, {1, 2, 3, 4}, {.k = 1}).encoded.status == 0u);
    }
}

TEST_CASE("what is not finite passes any threshold, so that it does not stay for ever",
          "[kernels]") {
  CHECK(encode("threshold", {1, NAN, -INFINITY, 1e30f}, {.threshold = INFINITY}).indices ==
        Indices{1, 2});
  CHECK(encode("threshold", {1, NAN, -INFINITY, 1e30f}, {.threshold = NAN}).indices ==
        Indices{1, 2});
}

// 0.4 stays twice; the third time the residual has grown to 1.2.
TEST_CASE("what a fixed threshold leaves adds up until it passes", "[kernels]") {
  const Compressor& threshold = *find_compressor("threshold");
  const Floats gradient{0.4f};
  Floats residual{0};
  Floats values(1);
  Indices indices(1);
  for (const std::int64_t sent : {0, 0, 1, 0})
    CHECK(threshold.encode(gradient, residual, {.threshold = 1}, {values, indices}).count == sent);
  CHECK(values[0] == Approx(1.2));
  CHECK(residual[0] == 0.4f);
}

// ---- values of 16 bits --------------------------------------------------------------------------

// bf16 has 7 bits of fraction: 1 + 2^-8 lies half-way to 1 + 2^-7, and rounds to 1, which is even.
TEST_CASE("a value of 16 bits is rounded, and what rounding lost is sent later", "[kernels]") {
  const Compressor& topk = *find_compressor("topk");
  const Floats gradient{1.0f + 1.0f / 256, 0.5f, 70'000.0f};
  Floats residual{0, 0, 0};
  Floats values(3);
  Indices indices(3);
  const auto encode = [&](const Floats& g, std::int64_t k, ValueType type) {
    topk.encode(g, residual, {.k = k}, {values, indices, type});
  };
  encode(gradient, 2, ValueType::Bf16);
  CHECK(indices == Indices{0, 2, 0});
  CHECK(values == Floats{1, 70'144, 0});  // to the nearest multiple of 512
  CHECK(residual == Floats{1.0f / 256, 0.5f, -144});
  encode({0, 0, 0}, 3, ValueType::Bf16);  // all of what is left, and exactly
  CHECK(values == Floats{1.0f / 256, 0.5f, -144});
  CHECK(residual == Floats{0, 0, 0});
}

// fp16 ends at 65,504; a larger value is infinite, and is not kept.
TEST_CASE("a value that overflows 16 bits is sent as infinity, and leaves nothing", "[kernels]") {
  Floats residual{0, 0};
  Floats values(2);
  Indices indices(2);
  find_compressor("topk")->encode(Floats{-70'000, 1}, residual, {.k = 2},
                                  {values, indices, ValueType::Fp16});
  CHECK(values == Floats{-INFINITY, 1});
  CHECK(residual == Floats{0, 0});
}

// ---- decode -------------------------------------------------------------------------------------

// In floats 1e8 + 1 is 1e8: (1e8 + 1) - 1e8 = 0, but (1e8 - 1e8) + 1 = 1.
TEST_CASE("decode adds in the order of the workers", "[kernels]") {
  const Indices first{0};
  const Floats big{1e8f};
  const Floats one{1};
  const Floats minus{-1e8f};
  Floats dense{77};
  decode(std::vector<SparseSet>{{big, first}, {one, first}, {minus, first}}, dense);
  CHECK(dense == Floats{0});
  decode(std::vector<SparseSet>{{big, first}, {minus, first}, {one, first}}, dense);
  CHECK(dense == Floats{1});
}

TEST_CASE("decode leaves +0 where nothing was sent, and ignores indices outside", "[kernels]") {
  Floats dense(5, 77.0f);
  const Floats values{9, 1, -0.0f, 2, 9, 9};
  const Indices indices{-1, 0, 2, 4, 5, 2'147'483'647};
  decode(std::vector<SparseSet>{{values, indices}}, dense);
  CHECK(dense == Floats{1, 0, 0, 0, 2});
  CHECK(bits_of(dense[1]) == 0u);
  CHECK(bits_of(dense[2]) == 0u);  // +0 + -0
  decode({}, dense);
  CHECK(dense == Floats(5, 0.0f));
}

TEST_CASE("decode of what four workers sent, plus what they kept, is what they had", "[kernels]") {
  // Small integers, so that no sum is rounded.
  Floats had(100, 0.0f);
  Floats kept(100, 0.0f);
  std::vector<Answer> answers;
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    Floats gradient(100);
    for (std::uint32_t i = 0; i < 100; ++i)
      gradient[i] = static_cast<float>(random_key(worker, i) % 200) - 100;
    answers.push_back(encode("topk", gradient, {.k = 10}));
    for (std::size_t i = 0; i < 100; ++i) {
      had[i] += gradient[i];
      kept[i] += answers.back().residual[i];
    }
  }
  std::vector<SparseSet> sets;
  sets.reserve(answers.size());
  for (const Answer& answer : answers) sets.push_back({answer.values, answer.indices});
  Floats dense(100);
  decode(sets, dense);
  for (std::size_t i = 0; i < 100; ++i) CHECK(dense[i] + kept[i] == had[i]);
}
