// The emulator's memory is the host's, and its work is done when it is enqueued.
#include <cstring>
#include <new>

#include "kernels/device_memory.hpp"
#include "kernels/emulator/emulator.hpp"

namespace gradcast::on_emulator {
namespace {

class Queue final : public DeviceQueue {
 public:
  explicit Queue(unsigned seed) { schedule_.seed = seed; }
  void* allocate(std::size_t bytes) override { return ::operator new(bytes, kAlignment); }
  void release(void* memory) override { ::operator delete(memory, kAlignment); }
  void upload(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void wait() override {}
  void* stream() override { return &schedule_; }
  std::unique_ptr<Recording> record(const std::function<void()>&) override { return nullptr; }

 private:
  static constexpr std::align_val_t kAlignment{256};
  emulator::Schedule schedule_;
};

}  // namespace

std::unique_ptr<DeviceQueue> make_queue(unsigned seed) { return std::make_unique<Queue>(seed); }

}  // namespace gradcast::on_emulator
