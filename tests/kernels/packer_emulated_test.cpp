// The packing kernels, run thread by thread on the CPU, against the reference.
#include "kernels/emulator/memory.hpp"
#include "tests/kernels/packer_cases.hpp"
#include "tests/kernels/unpacker_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device on_queue(std::unique_ptr<DeviceQueue> queue) {
  return {std::move(queue), on_emulator::make_encoder, on_emulator::make_decoder,
          on_emulator::make_packer, on_emulator::make_unpacker};
}

Device emulated(unsigned seed) { return on_queue(on_emulator::make_queue(seed)); }

Device weak(unsigned seed) {
  emulator::Schedule schedule;
  schedule.seed = seed;
  schedule.weak_memory = true;
  return on_queue(on_emulator::make_queue(schedule));
}

constexpr std::int64_t kUnpackedSizes[] = {1, 5, 129, 513, 8193};

}  // namespace

TEST_CASE("emulated packers answer as the reference does", "[emulated]") {
  Device device = emulated(0);
  check_every_pack(device, kQuickSizes, 7);
}

TEST_CASE("emulated packers take any parameter", "[emulated]") {
  Device device = emulated(1);
  check_pack_parameters(device);
}

TEST_CASE("emulated packers take pointers off their alignment", "[emulated]") {
  Device device = emulated(2);
  check_unaligned_packs(device);
}

TEST_CASE("emulated: tensors of one set of launches are packed as each alone", "[emulated]") {
  Device device = emulated(3);
  check_pack_batches(device);
}

TEST_CASE("emulated: a packer serves iteration after iteration", "[emulated]") {
  Device device = emulated(4);
  check_pack_iterations(device, false);
}

TEST_CASE("emulated unpackers answer as the reference does", "[emulated]") {
  Device device = emulated(5);
  check_every_unpack(device, kUnpackedSizes);
}

TEST_CASE("packers refuse what they cannot pack", "[emulated]") {
  Device device = emulated(0);
  const Compressor& int8 = packer("int8");
  DevicePack tensor(device, int8, make_vectors(Input::normal, 100, 1), {256, 1});
  const PackerTensor good = tensor.describe();
  const auto refuses = [&](PackRule rule, double parameter, const PackerTensor& bad) {
    CHECK_THROWS_AS(device.make_packer(rule, parameter, {bad}, {}), std::invalid_argument);
  };
  refuses(PackRule::Int8, 31, good);
  refuses(PackRule::Int8, 65537, good);
  refuses(PackRule::Int8, 100.5, good);
  refuses(PackRule::Qsgd, 0, good);
  refuses(PackRule::Qsgd, 32768, good);
  refuses(PackRule::Terngrad, -1, good);
  refuses(PackRule::Terngrad, NAN, good);
  PackerTensor bad = good;
  bad.elements = 0;
  refuses(PackRule::Fp16, 0, bad);
  bad = good;
  bad.status = nullptr;
  refuses(PackRule::Fp16, 0, bad);
  CHECK_THROWS_AS(device.make_packer(PackRule::Fp16, 0, {}, {}), std::invalid_argument);
  CHECK_THROWS_AS(device.make_unpacker(PackRule::Fp16, 0, {}, {}), std::invalid_argument);
}

// The scales of blocks are one launch: the last block to come tells the status of all.
TEST_CASE("weak memory: a status is of all blocks", "[emulated]") {
  const Compressor& int8 = packer("int8");
  Vectors vectors = make_vectors(Input::normal, 6000, 1);  // three blocks
  for (const std::size_t at : {std::size_t{3}, std::size_t{3000}, std::size_t{5999}}) {
    vectors.gradient[at] = NAN;
    const PackAnswer expected = pack_reference_answer(int8, vectors, {256, 1});
    for (unsigned seed = 1; seed < 201; ++seed) {
      INFO("element " << at << ", order drawn from " << seed);
      Device device = weak(seed);
      require_same(expected, device_pack_answer(device, int8, vectors, {256, 1}));
    }
    vectors.gradient[at] = 1;
  }
}

// 4 blocks of 1025 elements are 1025 words of codes: two units of four.
TEST_CASE("weak memory: units of blocks end with a word", "[emulated]") {
  Device device = weak(1);
  const Vectors vectors = make_vectors(Input::normal, 8200, 1);
  check_pack(device, packer("int8"), vectors, {1025, 1});
}

TEST_CASE("weak memory: packers serve iteration after iteration", "[emulated]") {
  Device device = weak(1);
  check_pack_iterations(device, false);
}

TEST_CASE("emulated packers answer as the reference does, on every case", "[emulated][slow]") {
  Device device = emulated(0);
  check_every_pack(device, kQuickSizes, 1);
}

TEST_CASE("emulated packers answer as the reference does, on large tensors", "[emulated][slow]") {
  Device device = emulated(7);
  check_every_pack(device, kSlowSizes, 97);
  constexpr std::int64_t kLarge[] = {300'001};
  check_every_unpack(device, kLarge);
}

// Above 2^26 elements, sums of 256 moment tiles are added by 256 again. Minutes: by hand.
TEST_CASE("emulated packers answer as the reference does, on 2^26 + 1025 elements",
          "[emulated][slow][large]") {
  Device device = emulated(0);
  check_pack_size(device, (std::int64_t{1} << 26) + 1025);
}
