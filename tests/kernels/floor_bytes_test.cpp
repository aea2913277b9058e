// The fewest bytes that encoding and decoding move.
#include "kernels/floor_bytes.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

namespace {

/// Bytes an element of a large tensor, as kernels/README.md states them.
double encode_bytes_each(const char* name, double parameter) {
  constexpr std::int64_t kElements = 1 << 24;
  return encode_floor_bytes(*find_compressor(name), parameter, kElements) / kElements;
}

}  // namespace

// Bytes for codes of b bits: 12 + b/8 and 20 + b/8 with error feedback, 4 + b/8 and 8 + b/8
// without.
TEST_CASE("the floor of a pack is its reads, its residual and its bits") {
  CHECK(encode_bytes_each("topk", 0) == 12);
  CHECK(encode_bytes_each("fp16", 0) == 4 + 2);
  CHECK(encode_bytes_each("bf16", 0) == 4 + 2);
  CHECK(encode_bytes_each("natural", 0) == 4 + 9.0 / 8);
  CHECK(encode_bytes_each("signsgd", 0) == 4 + 1.0 / 8);
  CHECK(encode_bytes_each("qsgd", 127) == Approx(8 + 1).epsilon(1e-6));
  CHECK(encode_bytes_each("qsgd", 7) == Approx(8 + 4.0 / 8).epsilon(1e-6));
  CHECK(encode_bytes_each("terngrad", 2.5) == Approx(8 + 2.0 / 8).epsilon(1e-6));
  CHECK(encode_bytes_each("int8", 256) == 12 + 1 + 4.0 / 256);
  CHECK(encode_bytes_each("efsignsgd", 0) == Approx(20 + 1.0 / 8).epsilon(1e-6));
  CHECK(encode_bytes_each("onebit", 0) == Approx(20 + 1.0 / 8).epsilon(1e-6));
}

namespace {

template <PackRule kRule>
bool measures_all() {
  return PackTraits<kRule>::kMoments != MomentsOf::Nothing &&
         block_elements<kRule>(1 << 30, 1024) == 1 << 30;
}

bool measures_all(PackRule rule) {
  switch (rule) {
    case PackRule::Fp16:
      return measures_all<PackRule::Fp16>();
    case PackRule::Bf16:
      return measures_all<PackRule::Bf16>();
    case PackRule::Qsgd:
      return measures_all<PackRule::Qsgd>();
    case PackRule::Int8:
      return measures_all<PackRule::Int8>();
    case PackRule::Terngrad:
      return measures_all<PackRule::Terngrad>();
    case PackRule::Natural:
      return measures_all<PackRule::Natural>();
    case PackRule::Signsgd:
      return measures_all<PackRule::Signsgd>();
    case PackRule::Efsignsgd:
      return measures_all<PackRule::Efsignsgd>();
    case PackRule::Onebit:
      return measures_all<PackRule::Onebit>();
  }
  return false;
}

}  // namespace

TEST_CASE("who needs moments of the whole tensor reads it twice") {
  for (const Compressor* compressor : all_packers()) {
    INFO(compressor->name);
    CHECK(measures_first(*compressor->packing) == measures_all(compressor->packing->rule));
  }
}

TEST_CASE("the floor of an unpack is each worker's bits, and the sum") {
  for (const Compressor* compressor : all_packers()) {
    INFO(compressor->name);
    const double bits = compressor->packing->bits(compressor->parameter.usual);
    const double each =
        decode_floor_bytes(*compressor->packing, compressor->parameter.usual, 1 << 24, 16) /
        (1 << 24);
    CHECK(each == Approx(4 + 16 * bits / 8).epsilon(0.03));  // int8 has 4 bytes in 256 more
  }
}

// 1000 x 500 of rank 2: P is 2000 numbers, Q 1000, and each is written once and read once.
TEST_CASE("the floor of PowerSGD is u formed and read again, and thin matrices") {
  const LowRankSettings settings{{1000, 500}, 2, Mode::Code, 1};
  CHECK(encode_floor_bytes(settings) == 16 * 500'000 + 8 * 3000);
  const LowRankSettings vector{{1000, 1}, 2, Mode::Paper, 1};
  CHECK(encode_floor_bytes(vector) == 16 * 1000);
  CHECK(decode_floor_bytes(settings) == 12 * 500'000 + 4 * 3000);
  CHECK(decode_floor_bytes(vector) == 8 * 1000);
}
