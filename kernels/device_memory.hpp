// The memory of a device and its queue of work, for C++ code that calls encoders. There are two:
// CUDA's, and the emulator's, which uses host memory. Both C++ and CUDA read this file: C++17.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace gradcast {

/// Work that was recorded and can be enqueued again.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
};

class DeviceQueue {
 public:
  virtual ~DeviceQueue() = default;
  virtual void* allocate(std::size_t bytes) = 0;  // aligned to 256 bytes; throws std::bad_alloc
  virtual void release(void* memory) = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;    // waits
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;  // waits
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;      // enqueues
  virtual void wait() = 0;
  /// The `stream` argument of Encoder::encode and Decoder::decode.
  virtual void* stream() = 0;
  /// Records the work that `enqueue` enqueues, without running it. nullptr if the device cannot.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& enqueue) = 0;
};

namespace on_cuda {
/// Throws std::runtime_error if there is no such device.
std::unique_ptr<DeviceQueue> make_queue(int device);
}  // namespace on_cuda

namespace on_emulator {
/// `seed` draws the order in which threads and blocks take turns; 0 is the plain order.
std::unique_ptr<DeviceQueue> make_queue(unsigned seed);
}  // namespace on_emulator

}  // namespace gradcast
