#include "kernels/emulator/memory.hpp"

#include <cstring>
#include <new>

namespace gradcast::emulator {
namespace {

constexpr std::align_val_t kAlignment{256};
constexpr int kGarbage = 0xA5;

std::map<std::byte*, std::size_t> in_use;

}  // namespace

void* allocate(std::size_t bytes) {
  const std::size_t whole = (bytes + 3) / 4 * 4;
  void* memory = ::operator new(whole, kAlignment);
  std::memset(memory, kGarbage, whole);
  if (whole > 0) in_use[static_cast<std::byte*>(memory)] = whole;
  return memory;
}

void release(void* memory) {
  in_use.erase(static_cast<std::byte*>(memory));
  ::operator delete(memory, kAlignment);
}

const std::map<std::byte*, std::size_t>& memory_in_use() { return in_use; }

}  // namespace gradcast::emulator

namespace gradcast::on_emulator {
namespace {

/// Work is done when it is enqueued.
class Queue final : public DeviceQueue {
 public:
  explicit Queue(const emulator::Schedule& schedule) : schedule_(schedule) {}
  void* allocate(std::size_t bytes) override { return emulator::allocate(bytes); }
  void release(void* memory) override { emulator::release(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void wait() override {}
  void* stream() override { return &schedule_; }
  std::unique_ptr<Recording> record(const std::function<void()>&) override { return nullptr; }

 private:
  emulator::Schedule schedule_;
};

}  // namespace

std::unique_ptr<DeviceQueue> make_queue(const emulator::Schedule& schedule) {
  return std::make_unique<Queue>(schedule);
}

std::unique_ptr<DeviceQueue> make_queue(unsigned seed) {
  emulator::Schedule schedule;
  schedule.seed = seed;
  return make_queue(schedule);
}

}  // namespace gradcast::on_emulator
