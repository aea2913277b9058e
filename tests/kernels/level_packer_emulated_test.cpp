// The kernels of shared levels, run thread by thread on the CPU, against the reference.
#include "kernels/emulator/memory.hpp"
#include "tests/kernels/level_packer_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device with_levels(std::unique_ptr<DeviceQueue> queue) {
  Device device{std::move(queue), on_emulator::make_encoder, on_emulator::make_decoder};
  device.make_level_packer = on_emulator::make_level_packer;
  device.make_level_unpacker = on_emulator::make_level_unpacker;
  return device;
}

Device emulated(unsigned seed) { return with_levels(on_emulator::make_queue(seed)); }

}  // namespace

TEST_CASE("emulated level packers answer as the reference does", "[emulated]") {
  Device device = emulated(0);
  check_every_level(device, kQuickSizes, 7);
}

TEST_CASE("emulated level packers take pointers off their alignment", "[emulated]") {
  Device device = emulated(1);
  check_unaligned_levels(device);
}

TEST_CASE("emulated: levels of a list of tensors are as of each alone, call after call",
          "[emulated]") {
  Device device = emulated(2);
  check_level_batches(device, false);
}

TEST_CASE("weak memory: level packers serve iteration after iteration", "[emulated]") {
  emulator::Schedule schedule;
  schedule.seed = 1;
  schedule.weak_memory = true;
  Device device = with_levels(on_emulator::make_queue(schedule));
  check_level_batches(device, false);
}

TEST_CASE("level packers refuse what they cannot pack", "[emulated]") {
  Device device = emulated(0);
  DeviceLevels tensor(device, make_vectors(Input::normal, 100, 1), 16, 1);
  const LevelPackerTensor good = tensor.describe();
  const auto refuses = [&](PackRule rule, double parameter, std::int64_t workers,
                           const LevelPackerTensor& bad) {
    CHECK_THROWS_AS(device.make_level_packer(rule, parameter, workers, {bad}, {}),
                    std::invalid_argument);
  };
  refuses(PackRule::Qsgd, 0, 2, good);
  refuses(PackRule::Qsgd, 127, 0, good);
  refuses(PackRule::Qsgd, 32767, 65'539, good);  // one more than 32 bits hold
  refuses(PackRule::Int8, 256, 2, good);         // a scale a block
  refuses(PackRule::Fp16, 0, 2, good);
  for (auto LevelPackerTensor::*pointer : {&LevelPackerTensor::lanes, &LevelPackerTensor::status}) {
    LevelPackerTensor bad = good;
    bad.*pointer = nullptr;
    refuses(PackRule::Qsgd, 127, 2, bad);
  }
  LevelPackerTensor bad = good;
  bad.scale = nullptr;
  refuses(PackRule::Qsgd, 127, 2, bad);
  bad = good;
  bad.elements = 0;
  refuses(PackRule::Terngrad, 2.5, 2, bad);
  CHECK_THROWS_AS(device.make_level_packer(PackRule::Qsgd, 127, 2, {}, {}), std::invalid_argument);
  CHECK_THROWS_AS(device.make_level_unpacker(PackRule::Qsgd, 127, 2, {}, {}),
                  std::invalid_argument);
  CHECK_THROWS_AS(device.make_level_unpacker(PackRule::Natural, 0, 2, {{}}, {}),
                  std::invalid_argument);
  CHECK_THROWS_AS(device.make_level_unpacker(PackRule::Qsgd, 127, 2, {{nullptr, 5}}, {}),
                  std::invalid_argument);
}

TEST_CASE("emulated level packers answer as the reference does, on every case",
          "[emulated][slow]") {
  Device device = emulated(0);
  check_every_level(device, kQuickSizes, 1);
}

TEST_CASE("emulated level packers answer as the reference does, on large tensors",
          "[emulated][slow]") {
  Device device = emulated(3);
  check_every_level(device, kSlowSizes, 31);
}
