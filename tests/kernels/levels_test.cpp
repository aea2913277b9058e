// The contract of quantisers whose workers share a scale, and their arithmetic.
#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/pack_reference.hpp"
#include "tests/kernels/level_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

SharedAnswer shared(const Compressor& compressor, const std::vector<std::vector<float>>& gradients,
                    double parameter, std::uint64_t seed = 1) {
  std::vector<Vectors> workers;
  for (const std::vector<float>& gradient : gradients) workers.push_back({gradient, {}});
  return shared_reference_answer(compressor, workers, parameter, seed);
}

}  // namespace

// A norm of 5 each. With 5 levels a level is 1: 3 + 0 = 3 and -4 + 5 = 1, without rounding. With
// norms 5 and 10, and 10 levels, a level is 1 again: 3 + 6 and -4 - 8.
TEST_CASE("QSGD adds up levels of the largest norm", "[kernels]") {
  const Compressor& qsgd = packer("qsgd");
  CHECK(shared(qsgd, {{3, -4}, {0, 5}}, 5).dense == std::vector<float>{3, 1});
  const SharedAnswer two = shared(qsgd, {{3, -4}, {6, -8}}, 10);
  CHECK(two.workers[0].own.scale == 5.0f);
  CHECK(two.settings.scale == 10.0f);
  CHECK(two.dense == std::vector<float>{9, -12});
}

// Lanes of 8 bits: 2 x 5 x 2 = 20 is less than 256. The first worker's levels 3 and -4 are sent as
// 8 and 1, the second's 0 and 5 as 5 and 10: 0x0108 + 0x0a05 = 0x0b0d. 13 - 10 = 3, 11 - 10 = 1.
TEST_CASE("the words of all workers add up as unsigned numbers", "[kernels]") {
  const SharedAnswer two = shared(packer("qsgd"), {{3, -4}, {0, 5}}, 5);
  CHECK(two.workers[0].lanes == std::vector<std::uint32_t>{0x0108});
  CHECK(two.workers[1].lanes == std::vector<std::uint32_t>{0x0a05});
  CHECK(two.sum == std::vector<std::uint32_t>{0x0b0d});
}

// 127 levels: 2 x 127 x 1 = 254 fits in 8 bits, 508 does not; 258 workers are 65,532, 259 are
// 65,786. TernGrad's largest multiple is 1: 127 workers are 254, 128 are 256.
TEST_CASE("lanes are as wide as the sum of all workers needs", "[kernels]") {
  CHECK(lane_bits(127, 1) == 8);
  CHECK(lane_bits(127, 2) == 16);
  CHECK(lane_bits(127, 258) == 16);
  CHECK(lane_bits(127, 259) == 32);
  CHECK(lane_bits(1, 127) == 8);
  CHECK(lane_bits(1, 128) == 16);
  CHECK(lane_bits(32767, 65536) == 32);
  CHECK(lane_bits(32767, 65539) == 0);  // 2 x 32,767 x 65,539 is 4,295,032,826: 2^32 and more
  CHECK(lane_words(1000, 8) == 250);
  CHECK(lane_words(1001, 16) == 501);
  CHECK(lane_words(7, 32) == 7);
}

// Every worker at one end of what a lane holds, at the most workers of each width: a carry from one
// lane to the next would show. The scale is the largest magnitude, so that a multiple is +-L or 0.
TEST_CASE("lanes never carry into the next", "[kernels]") {
  struct Width {
    const char* name;
    double parameter;
    std::int64_t workers;
  };
  for (const Width& width : {Width{"terngrad", 0, 127}, Width{"terngrad", 0, 32767},
                             Width{"qsgd", 127, 258}, Width{"qsgd", 32767, 65538}})
    for (const float sign : {1.0f, -1.0f}) {
      INFO(width.name << ", " << width.workers << " workers, sign " << sign);
      const Compressor& compressor = packer(width.name);
      const std::vector<float> u{sign, 0, 0, sign};
      const LevelSettings settings{width.parameter, 1, 1.0f, width.workers};
      const int bits = bits_of_lane(compressor, width.parameter, width.workers);
      std::vector<std::uint32_t> lanes(static_cast<std::size_t>(lane_words(4, bits)));
      compressor.levels()->encode(u, {}, 1, settings, lanes);
      for (std::uint32_t& word : lanes) word *= static_cast<std::uint32_t>(width.workers);
      std::vector<float> dense(4);
      compressor.levels()->decode(lanes, settings, dense);
      const float sum = sign * static_cast<float>(width.workers);
      CHECK(dense == std::vector<float>{sum, 0, 0, sum});
    }
}

TEST_CASE("a scale of one worker alone is its own, and says what a gathered payload says",
          "[kernels]") {
  for (const Compressor* compressor : all_with_levels())
    for (const double parameter : parameters_of(*compressor))
      for (const NamedInput& input : kInputs) {
        INFO(compressor->name << " (" << parameter << "), " << input.name);
        const Vectors vectors = make_vectors(input.input, 700, 1);
        const SharedAnswer one = shared_reference_answer(*compressor, {vectors}, parameter, 9);
        const PackAnswer gathered = pack_reference_answer(*compressor, vectors, {parameter, 9});
        CHECK(bits_of(one.settings.scale) == gathered.words[0]);
        CHECK(one.workers[0].own.status == gathered.status);
        std::vector<float> dense(700);
        const std::span<const std::uint32_t> payload = gathered.words;
        compressor->packing->decode(std::span(&payload, 1), parameter, dense);
        bool same = true;
        for (std::size_t i = 0; i < dense.size(); ++i) same = same && dense[i] == one.dense[i];
        CHECK(same);  // -0 and +0 are equal
      }
}

// sent + residual = u, for each worker by itself, as for all quantisers: the residual is u - sent,
// rounded once. A worker has sent its lane without the others'.
TEST_CASE("nothing is lost of what a level does not send", "[kernels]") {
  for (const Compressor* compressor : all_with_levels())
    for (const double parameter : parameters_of(*compressor))
      for (const NamedInput& input : kInputs)
        for (const std::int64_t elements : {std::int64_t{1}, std::int64_t{2049}}) {
          INFO(compressor->name << " (" << parameter << "), " << elements << " of " << input.name);
          const std::vector<Vectors> workers = made_workers(input.input, elements, 3);
          const SharedAnswer all = shared_reference_answer(*compressor, workers, parameter, 5);
          const std::uint32_t largest = compressor->levels()->largest(parameter);
          const int bits = lane_bits(largest, 3);
          int wrong = 0;
          for (std::size_t w = 0; w < 3; ++w)
            for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
              const float u = add_feedback(workers[w].gradient[i], workers[w].residual[i]);
              const float sent = value_of_sum(code_at(all.workers[w].lanes, i, bits), 1,
                                              all.settings.scale, largest);
              const double left = all.workers[w].residual[i];
              const double lost = std::fabs(double{sent} + left - double{u});
              const bool kept = std::isfinite(u) ? lost <= std::ldexp(std::fabs(left), -24) +
                                                               std::ldexp(1.0, -150)
                                                 : bits_of(all.workers[w].residual[i]) == 0u;
              wrong += kept ? 0 : 1;
            }
          CHECK(wrong == 0);
        }
}

// 100,000 draws: the mean of the sum is within 4 standard errors of the sum of u, element by
// element. Nothing is clipped. The workers' norms differ by a factor of 10.
TEST_CASE("the sum of levels is right on average", "[kernels]") {
  const std::vector<std::vector<float>> u{{0.1f, -0.25f, 0.003f, 0.7f, -0.9f, 0.0f},
                                          {0.02f, 0.01f, -0.03f, -0.07f, 0.05f, 0.0f}};
  constexpr int kDraws = 100'000;
  for (const Compressor* compressor : all_with_levels()) {
    INFO(compressor->name);
    const double parameter = compressor->parameter.name == "levels" ? 3 : 0;
    std::vector<double> sum(6);
    std::vector<double> squares(6);
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto seed = 2 * static_cast<std::uint64_t>(draw);
      const std::vector<float> got = shared(*compressor, u, parameter, seed).dense;
      for (std::size_t i = 0; i < 6; ++i) {
        sum[i] += got[i];
        squares[i] += double{got[i]} * got[i];
      }
    }
    for (std::size_t i = 0; i < 6; ++i) {
      const double mean = sum[i] / kDraws;
      const double error = std::sqrt(std::max(squares[i] / kDraws - mean * mean, 0.0) / kDraws);
      INFO("element " << i << ": mean " << mean << ", error " << error);
      CHECK(std::fabs(mean - (double{u[0][i]} + double{u[1][i]})) <= 4 * error + 1e-7);
    }
  }
}

// Nine zeros and a ten have the deviation 3, and 2.5 deviations are 7.5. Twice those elements give
// 15. The first worker's 10 is clipped at 7.5 although the shared scale is 15: it is sent as 15 in
// half of the draws (in two thirds if it were not clipped). In 10,000 draws a standard error is
// 0.005 of them.
TEST_CASE("TernGrad's workers clip at their own deviations, and share the largest", "[kernels]") {
  std::vector<std::vector<float>> u(2, std::vector<float>(10, 0.0f));
  u[0][4] = 10.0f;
  u[1][7] = 20.0f;
  int sent = 0;
  for (std::uint64_t draw = 0; draw < 10'000; ++draw) {
    const SharedAnswer all = shared(packer("terngrad"), u, 2.5, 2 * draw);
    REQUIRE(all.settings.scale == 15.0f);
    REQUIRE(all.dense[7] == 15.0f);
    sent += all.dense[4] == 15.0f ? 1 : 0;
  }
  CHECK(std::abs(sent - 5000) <= 4 * 50);
}

TEST_CASE("one worker's infinities and NaNs do not reach the shared scale", "[kernels]") {
  for (const Compressor* compressor : all_with_levels()) {
    INFO(compressor->name);
    const double parameter = compressor->parameter.usual;
    const SharedAnswer all =
        shared(*compressor, {{INFINITY, NAN, -INFINITY, 1}, {1, 2, -1, 0}}, parameter);
    CHECK(all.workers[0].own.status == kNotFinite);
    CHECK(all.workers[1].own.status == 0u);
    CHECK(std::isfinite(all.settings.scale));
    for (const float value : all.dense) CHECK(std::isfinite(value));
  }
}

TEST_CASE("gradients of zeros have no scale, and are received as zeros", "[kernels]") {
  for (const Compressor* compressor : all_with_levels())
    CHECK(shared(*compressor, {{0, -0.0f, 0}, {0, 0, 0}}, compressor->parameter.usual).dense ==
          std::vector<float>{0, 0, 0});
}
