// The contract of every cast and quantiser, and the arithmetic of each. A new one is covered by its
// line in compressors.def.
#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "kernels/pack_reference.hpp"
#include "tests/kernels/pack_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

/// The decoded payload of one worker.
std::vector<float> received(const Compressor& compressor, double parameter,
                            const std::vector<std::uint32_t>& words, std::size_t elements) {
  std::vector<float> dense(elements);
  const std::span<const std::uint32_t> payload = words;
  compressor.packing->decode(std::span(&payload, 1), parameter, dense);
  return dense;
}

/// Encodes a gradient without residual and decodes it.
std::vector<float> there_and_back(const Compressor& compressor, const std::vector<float>& gradient,
                                  double parameter, std::uint64_t seed = 1) {
  const PackAnswer answer =
      pack_reference_answer(compressor, {gradient, {}}, {.parameter = parameter, .seed = seed});
  return received(compressor, parameter, answer.words, gradient.size());
}

}  // namespace

// sent + residual = u: the residual is u - sent, rounded once to fp32. So the sum is off by no more
// than half a unit in the residual's last place, 2^-24 of it, and 2^-150 where it is denormal.
TEST_CASE("nothing is lost of what a cast or quantiser does not send", "[kernels]") {
  for_each_pack_case(kQuickSizes, 1, [](const PackCase& one, const Vectors& vectors) {
    INFO(one);
    const PackAnswer answer = pack_reference_answer(*one.compressor, vectors, one.settings);
    const std::vector<float> sent =
        received(*one.compressor, one.settings.parameter, answer.words, vectors.gradient.size());
    int wrong = 0;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      const float u = add_feedback(vectors.gradient[i], vectors.residual[i]);
      const double left = answer.residual[i];
      const double lost = std::fabs(double{sent[i]} + left - double{u});
      const bool kept = std::isfinite(u) && std::isfinite(sent[i])
                            ? lost <= std::ldexp(std::fabs(left), -24) + std::ldexp(1.0, -150)
                            : bits_of(answer.residual[i]) == 0u;  // it does not stay for ever
      wrong += kept ? 0 : 1;
    }
    REQUIRE(wrong == 0);
  });
}

TEST_CASE("a payload has as many bits as its codes and scales, filled up to a word", "[kernels]") {
  for (const Compressor* compressor : all_packers())
    for (const std::int64_t elements : kQuickSizes) {
      INFO(compressor->name << ", " << elements);
      const Packing& packing = *compressor->packing;
      const double parameter = compressor->parameter.usual;
      const std::int64_t code_bits = packing.bits(parameter) * elements;
      const std::int64_t scale_bits = 32 * packing.scale_words(elements, parameter);
      const std::int64_t words = packing.words(elements, parameter);
      CHECK(32 * words >= code_bits + scale_bits);
      CHECK(32 * words < code_bits + scale_bits + 32);
    }
}

// 1000 elements: 16 bits each are 500 words; 9 bits 282 (9000 / 32 = 281.25); 8 bits 250, with a
// norm 251, with the scales of 4 blocks of 256 254; 2 bits 63 and s; 1 bit 32 (31.25), with a mean
// 33, with two 34.
TEST_CASE("words of 1000 elements", "[kernels]") {
  const auto words = [](const char* name) {
    return packer(name).packing->words(1000, packer(name).parameter.usual);
  };
  CHECK(words("fp16") == 500);
  CHECK(words("bf16") == 500);
  CHECK(words("natural") == 282);
  CHECK(words("qsgd") == 251);
  CHECK(words("int8") == 254);
  CHECK(words("terngrad") == 64);
  CHECK(words("signsgd") == 32);
  CHECK(words("efsignsgd") == 33);
  CHECK(words("onebit") == 34);
  CHECK(packer("qsgd").packing->words(1000, 4) == 126);  // 4 levels: 3 bits and a sign
}

// 100,000 draws each; the mean of what is received is within 4 standard errors of u, element by
// element. 8 elements of every unbiased one: 1 in 2,000 sets of draws would fail by chance, and the
// seeds are fixed.
TEST_CASE("what is called unbiased is", "[kernels]") {
  const std::vector<float> u{0.1f, -0.25f, 0.003f, 0.7f, -0.9f, 0.0f, 0.05f, -0.011f};
  constexpr int kDraws = 100'000;
  int tried = 0;
  for (const Compressor* compressor : all_packers()) {
    if (!compressor->packing->unbiased) continue;
    ++tried;
    INFO(compressor->name);
    std::vector<double> sum(u.size());
    std::vector<double> squares(u.size());
    const double parameter =
        compressor->parameter.name == "levels" ? 3 : compressor->packing->unbiased_parameter;
    for (int draw = 0; draw < kDraws; ++draw) {
      const auto got = there_and_back(*compressor, u, parameter, static_cast<std::uint64_t>(draw));
      for (std::size_t i = 0; i < u.size(); ++i) {
        sum[i] += got[i];
        squares[i] += double{got[i]} * got[i];
      }
    }
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double mean = sum[i] / kDraws;
      const double error = std::sqrt(std::max(squares[i] / kDraws - mean * mean, 0.0) / kDraws);
      INFO("element " << i << ": mean " << mean << ", error " << error);
      CHECK(std::fabs(mean - double{u[i]}) <= 4 * error + 1e-7);
    }
  }
  CHECK(tried == 3);  // QSGD, natural compression, TernGrad
}

TEST_CASE("the 16-bit types round as Eigen's do, whatever the bits", "[kernels]") {
  const auto same = [](std::uint32_t bits) {
    const float value = float_of(bits);
    const bool nan = std::isnan(value);
    const auto half = Eigen::half(value);
    const auto bfloat = Eigen::bfloat16(value);
    const bool halves = nan ? half_of(value) == kHalfNan : half_of(value) == half.x;
    const bool bfloats = nan ? bfloat_of(value) == kBfloatNan : bfloat_of(value) == bfloat.value;
    return halves && bfloats;
  };
  std::uint32_t wrong = 0;
  for (std::uint64_t bits = 0; bits < 0x100000000; bits += 9973)  // a prime
    wrong += same(static_cast<std::uint32_t>(bits)) ? 0 : 1;
  for (std::uint32_t exponent = 0; exponent < 512; ++exponent)  // both signs; ends and ties
    for (const std::uint32_t fraction :
         {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0x7fffffu})
      wrong += same(exponent << 23 | fraction) ? 0 : 1;
  CHECK(wrong == 0);
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const float half = static_cast<float>(
        Eigen::numext::bit_cast<Eigen::half>(static_cast<Eigen::numext::uint16_t>(code)));
    if (!std::isnan(half)) wrong += bits_of(half) == bits_of(float_of_half(code)) ? 0 : 1;
    if (!std::isnan(half)) wrong += half_of(float_of_half(code)) == code ? 0 : 1;
  }
  CHECK(wrong == 0);
}

// 65,504 is the largest half. 40,000 twice is 80,000: infinite. 2048 + 1 is 2049, a tie between
// 2048 and 2050: to even.
TEST_CASE("fp16 is added up in fp16, as NCCL does", "[kernels]") {
  const Compressor& fp16 = packer("fp16");
  const auto payload = [&](float value) {
    return pack_reference_answer(fp16, {{value}, {}}, {}).words;
  };
  const auto sum = [&](float a, float b) {
    const auto one = payload(a);
    const auto two = payload(b);
    const std::vector<std::span<const std::uint32_t>> both{one, two};
    std::vector<float> dense(1);
    fp16.packing->decode(both, 0, dense);
    return dense[0];
  };
  CHECK(sum(40000, 20000) == 60000.0f);
  CHECK(std::isinf(sum(40000, 40000)));
  CHECK(sum(2048, 1) == 2048.0f);
  CHECK(sum(2048, 3) == 2052.0f);  // 2051: between 2050 and 2052, to even
}

// Signs of three workers: + + -, + - -, - + 0 (counts as +).
TEST_CASE("signSGD receives what most voted", "[kernels]") {
  const Compressor& signsgd = packer("signsgd");
  const auto payload = [&](std::vector<float> gradient) {
    return pack_reference_answer(signsgd, {gradient, {}}, {}).words;
  };
  const auto a = payload({1.0f, 0.5f, -2.0f});
  const auto b = payload({3.0f, -0.5f, 1.0f});
  const auto c = payload({-9.0f, -1.0f, 0.0f});
  const std::vector<std::span<const std::uint32_t>> three{a, b, c};
  std::vector<float> dense(3);
  signsgd.packing->decode(three, 0, dense);
  CHECK(dense == std::vector<float>{1, -1, 1});
  const std::vector<std::span<const std::uint32_t>> two{a, b};
  signsgd.packing->decode(two, 0, dense);
  CHECK(dense == std::vector<float>{1, 0, 0});  // a tie gives nothing
}

// u = 3, -4: the norm is 5. With 5 levels 3 / 5 x 5 = 3 and 4: no rounding, so no chance.
TEST_CASE("QSGD sends a level of the norm", "[kernels]") {
  CHECK(there_and_back(packer("qsgd"), {3.0f, -4.0f}, 5) == std::vector<float>{3.0f, -4.0f});
  // 1 level: 0 or the norm.
  for (const float got : there_and_back(packer("qsgd"), {3.0f, -4.0f}, 1))
    CHECK((got == 0.0f || std::fabs(got) == 5.0f));
}

// 127 / 127 = 1 is the scale of the first block, 2 that of the second.
TEST_CASE("int8 has a scale for each block", "[kernels]") {
  std::vector<float> u(64, 0.0f);
  u[0] = 127.0f;
  u[1] = -2.4f;
  u[2] = 2.5f;  // a tie: to even
  u[32] = -254.0f;
  u[33] = 3.1f;
  const auto got = there_and_back(packer("int8"), u, 32);
  CHECK(got[0] == 127.0f);
  CHECK(got[1] == -2.0f);
  CHECK(got[2] == 2.0f);
  CHECK(got[32] == -254.0f);
  CHECK(got[33] == 4.0f);
}

// u = 1, 3, -2, -6: means 2 and -4; the mean magnitude is 3.
TEST_CASE("one bit an element: two means, or the mean magnitude with a sign", "[kernels]") {
  const std::vector<float> u{1, 3, -2, -6};
  CHECK(there_and_back(packer("onebit"), u, 0) == std::vector<float>{2, 2, -4, -4});
  CHECK(there_and_back(packer("efsignsgd"), u, 0) == std::vector<float>{3, 3, -3, -3});
}

// A standard deviation of 1 and a largest of 10: without clipping s = 10; at 2.5 deviations of
// sqrt((9 x 0 + 100) / 10 - 1) = 3, s = 7.5, and 10 is sent for sure.
TEST_CASE("TernGrad clips at standard deviations", "[kernels]") {
  std::vector<float> u(10, 0.0f);
  u[4] = 10.0f;
  CHECK(there_and_back(packer("terngrad"), u, 0)[4] == 10.0f);
  CHECK(there_and_back(packer("terngrad"), u, 2.5)[4] == 7.5f);
  CHECK(there_and_back(packer("terngrad"), u, 2.5)[5] == 0.0f);
}

TEST_CASE("natural compression sends powers of two, and what is one as it is", "[kernels]") {
  const auto got = there_and_back(packer("natural"), {0.5f, -4.0f, 3.0f, -0.0f, 3e38f}, 0);
  CHECK(got[0] == 0.5f);
  CHECK(got[1] == -4.0f);
  CHECK((got[2] == 2.0f || got[2] == 4.0f));
  CHECK(got[3] == 0.0f);
  CHECK(got[4] == std::ldexp(1.0f, 127));
}

TEST_CASE("without a residual nothing is fed back, and with one it is", "[kernels]") {
  for (const Compressor* compressor : all_packers()) {
    INFO(compressor->name);
    const PackSettings settings{compressor->parameter.usual, 3};
    const Vectors vectors = make_vectors(Input::normal, 1000, 1);
    std::vector<float> u(1000);
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] = add_feedback(vectors.gradient[i], vectors.residual[i]);
    const PackAnswer fed = pack_reference_answer(*compressor, vectors, settings);
    CHECK(fed.words == pack_reference_answer(*compressor, {u, {}}, settings).words);
    CHECK(fed.words != pack_reference_answer(*compressor, {vectors.gradient, {}}, settings).words);
  }
}

TEST_CASE("what is not finite is said where moments are taken, and does not spread", "[kernels]") {
  for (const Compressor* compressor : all_packers()) {
    INFO(compressor->name);
    std::vector<float> u(300, 1.0f);
    u[7] = INFINITY;
    u[8] = -INFINITY;
    u[9] = NAN;
    u[10] = -2.0f;
    const double parameter = compressor->parameter.usual;
    const PackAnswer answer =
        pack_reference_answer(*compressor, {u, std::vector<float>(300)}, {.parameter = parameter});
    const bool cast = compressor->family == Family::Cast;
    CHECK((answer.status == kNotFinite) == (compressor->packing->scale_words(300, parameter) > 0));
    const auto got = received(*compressor, parameter, answer.words, u.size());
    CHECK(std::isfinite(got[6]));
    CHECK(std::isfinite(got[9]) == !cast);  // a cast sends it on, so that the step can be skipped
    CHECK(std::isinf(got[8]) == cast);
    CHECK((got[7] > 0 && got[8] < 0));
  }
}
