// CUDA events, an eviction of the cache, the clock, and inputs made on the device.
#include <dlfcn.h>

#include <algorithm>

#include "kernels/bench/device_slug.hpp"
#include "kernels/bench/gpu_timer.hpp"
#include "kernels/cuda_check.hpp"

namespace gradcast::on_cuda {
namespace {

constexpr int kThreads = 256;
constexpr double kThrottledBelow = 0.75;  // of the device's own clock, as nvbench has it

__global__ void __launch_bounds__(kThreads)
    fill_kernel(const Numbers to, std::int64_t elements, Input input, std::uint32_t seed,
                std::int64_t of_elements, float scale) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < elements; i += threads) {
    const float value = scale * input_element(input, seed, of_elements, i);
    if (to.type == ValueType::Fp32)
      static_cast<float*>(to.first)[i] = value;
    else
      static_cast<std::uint16_t*>(to.first)[i] = code_of_value(to.type, value);
  }
}

/// Four elements a thread and turn; what is left over one by one.
__global__ void __launch_bounds__(kThreads)
    add_kernel(const float* __restrict__ gradient, float* __restrict__ residual,
               std::int64_t elements) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * 4;
  if (i + 4 <= elements) {
    const float4 g = __ldcs(reinterpret_cast<const float4*>(gradient + i));
    const float4 e = __ldcs(reinterpret_cast<const float4*>(residual + i));
    __stcs(reinterpret_cast<float4*>(residual + i),
           make_float4(g.x + e.x, g.y + e.y, g.z + e.z, g.w + e.w));
  } else {
    for (std::int64_t j = i; j < elements; ++j) residual[j] += gradient[j];
  }
}

/// Reads all of `from`, which is zeros. A store that never happens keeps the compiler from leaving
/// the loads out. Four loads a thread are under way at once.
__global__ void __launch_bounds__(kThreads)
    read_kernel(const uint4* __restrict__ from, std::int64_t count, unsigned* never) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kThreads;
  unsigned seen = 0;
#pragma unroll 4
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += threads) {
    const uint4 words = __ldcg(from + i);  // past L1: it is the L2 that is to be filled
    seen |= words.x | words.y | words.z | words.w;
  }
  if (seen != 0) *never = seen;
}

/// Loads a kernel now, because its first launch may be while a graph is recorded.
template <class Kernel>
void load(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
}

/// Cycles and nanoseconds that pass while one thread waits.
__global__ void clock_kernel(long long* cycles_and_nanoseconds) {
  long long begin_ns = 0;
  long long end_ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns));
  const long long begin = clock64();
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end_ns));
  } while (end_ns - begin_ns < 40'000);
  cycles_and_nanoseconds[0] = clock64() - begin;
  cycles_and_nanoseconds[1] = end_ns - begin_ns;
}

/// Readings of NVIDIA's management library, if the machine has it. The library comes with the
/// driver, but its header does not. Nothing is set through it.
class Management {
 public:
  enum Clock : int { Multiprocessors = 1, Memory = 2 };  // nvmlClockType_t

  explicit Management(int device) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    const auto init = find<int()>("nvmlInit_v2");
    const auto by_bus = find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    char bus[64] = {};
    ready_ = init != nullptr && by_bus != nullptr && init() == 0 &&
             cudaDeviceGetPCIBusId(bus, sizeof bus, device) == cudaSuccess &&
             by_bus(bus, &device_) == 0;
  }
  ~Management() {
    if (library_ != nullptr) dlclose(library_);
  }
  Management(const Management&) = delete;
  Management& operator=(const Management&) = delete;

  std::string driver() const {
    char version[80] = {};
    const auto get = find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
    return ready_ && get != nullptr && get(version, sizeof version) == 0 ? version : "";
  }

  /// The clock in MHz.
  std::string clock(Clock which) const {
    unsigned megahertz = 0;
    const auto get = find<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
    const bool known = ready_ && get != nullptr && get(device_, which, &megahertz) == 0;
    return known ? std::to_string(megahertz) : "?";
  }

 private:
  template <class Function>
  Function* find(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* library_;
  void* device_ = nullptr;
  bool ready_ = false;
};

class Timer final : public GpuTimer {
 public:
  Timer(int device, cudaStream_t stream) : device_(device), stream_(stream) {
    int l2_bytes = 0;
    int kilohertz = 0;  // CUDA 13 has this attribute still, but not the field of cudaDeviceProp
    CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device));
    own_hertz_ = 1e3 * kilohertz;
    evicting_bytes_ =
        std::max<std::size_t>(std::size_t{256} << 20, 4 * static_cast<std::size_t>(l2_bytes));
    CUDA_CHECK(cudaMalloc(&evicting_, evicting_bytes_));
    CUDA_CHECK(cudaMemsetAsync(evicting_, 0, evicting_bytes_, stream_));
    CUDA_CHECK(cudaMalloc(&never_written_, sizeof *never_written_));
    CUDA_CHECK(cudaMalloc(&clock_, 2 * sizeof(long long)));
    CUDA_CHECK(cudaEventCreate(&begin_));
    CUDA_CHECK(cudaEventCreate(&end_));
    load(fill_kernel);
    load(add_kernel);
    load(read_kernel);
    load(clock_kernel);
  }
  ~Timer() override {
    cudaFree(evicting_);
    cudaFree(never_written_);
    cudaFree(clock_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Reads, because what a memset writes is still in the L2 when it ends, and is written back while
  /// the timed call runs: up to the L2's size, 50 MB on an H100. An encode of 4 M elements moves as
  /// much.
  void evict() override {
    read_kernel<<<static_cast<unsigned>(8 * processors_), kThreads, 0, stream_>>>(
        evicting_, static_cast<std::int64_t>(evicting_bytes_ / sizeof(uint4)), never_written_);
    CUDA_CHECK(cudaGetLastError());
  }
  void begin() override { CUDA_CHECK(cudaEventRecord(begin_, stream_)); }
  void end() override { CUDA_CHECK(cudaEventRecord(end_, stream_)); }
  double seconds() override {
    float milliseconds = 0;
    CUDA_CHECK(cudaEventSynchronize(end_));
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * static_cast<double>(milliseconds);
  }
  bool throttled() override { return hertz_now() < kThrottledBelow * own_hertz_; }

  void fill(const Numbers& to, std::int64_t elements, Input input, std::uint32_t seed,
            std::int64_t of_elements, float scale) override {
    fill_kernel<<<static_cast<unsigned>(8 * processors_), kThreads, 0, stream_>>>(
        to, elements, input, seed, of_elements, scale);
    CUDA_CHECK(cudaGetLastError());
  }
  void add(const float* gradient, float* residual, std::int64_t elements) override {
    const std::int64_t blocks = (elements + 4 * kThreads - 1) / (4 * kThreads);
    add_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream_>>>(gradient, residual,
                                                                        elements);
    CUDA_CHECK(cudaGetLastError());
  }

  BenchDevice device() const override {
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device_));
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    const Management management(device_);
    BenchDevice device;
    device.name = properties.name;
    device.slug = device_slug(device.name);
    device.driver = management.driver();
    device.toolkit = "CUDA " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
                     std::to_string(__CUDACC_VER_MINOR__) + "." +
                     std::to_string(__CUDACC_VER_BUILD__);
    device.clocks = "SM " + management.clock(Management::Multiprocessors) + " MHz, memory " +
                    management.clock(Management::Memory) + " MHz at the start";
    device.memory_bytes = static_cast<std::int64_t>(free_bytes / 10 * 9);
    return device;
  }

 private:
  double hertz_now() {
    long long counted[2] = {};
    clock_kernel<<<1, 1, 0, stream_>>>(clock_);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyAsync(counted, clock_, sizeof counted, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return 1e9 * static_cast<double>(counted[0]) / static_cast<double>(counted[1]);
  }

  int device_;
  cudaStream_t stream_;
  int processors_ = 0;
  double own_hertz_ = 0;
  uint4* evicting_ = nullptr;
  std::size_t evicting_bytes_ = 0;
  unsigned* never_written_ = nullptr;
  long long* clock_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

std::unique_ptr<GpuTimer> make_timer(int device, void* stream) {
  return std::make_unique<Timer>(device, static_cast<cudaStream_t>(stream));
}

}  // namespace gradcast::on_cuda
