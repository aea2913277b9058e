// The emulator's work is done when it is enqueued.
#include <cstring>

#include "kernels/emulator/memory.hpp"
#include "kernels/emulator/queue.hpp"

namespace gradcast::on_emulator {
namespace {

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
