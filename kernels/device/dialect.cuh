// The words in which kernels are written: CUDA's own under nvcc, the emulator's under a C++
// compiler. Each has its own namespace, so that one program may hold both.
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/definitions.hpp"

#ifdef __CUDACC__
#include <cuda_runtime.h>

#include "kernels/cuda_check.hpp"
#define GRADCAST_DEVICE on_cuda
#define GRADCAST_UNROLL _Pragma("unroll")
#define GRADCAST_NO_UNROLL _Pragma("unroll 1")
#define GRADCAST_UNROLL_BY_4 _Pragma("unroll 4")
#else
#include <cstring>

#include "kernels/emulator/emulator.hpp"
#include "kernels/emulator/memory.hpp"
#include "kernels/emulator/weak_memory.hpp"
#define GRADCAST_DEVICE on_emulator
#define GRADCAST_UNROLL
#define GRADCAST_NO_UNROLL
#define GRADCAST_UNROLL_BY_4
// NOLINTBEGIN(bugprone-reserved-identifier): these are CUDA's names
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx (::gradcast::emulator::self().thread)
#define blockIdx (::gradcast::emulator::self().block)
#define gridDim (::gradcast::emulator::self().grid_blocks)
// NOLINTEND(bugprone-reserved-identifier)
#endif

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kBlockThreads = 256;
inline constexpr int kBlockWarps = kBlockThreads / kLanes;
inline constexpr std::uint32_t kEveryLane = 0xffffffffu;

/// Four neighbours of a vector, read and written as 16 bytes where that is aligned.
struct alignas(16) Quad {
  float x, y, z, w;
};

/// Four neighbours of 16 bits each, likewise as 8 bytes.
struct alignas(8) PairOfWords {
  std::uint32_t x, y;
};

/// Four neighbouring words of a histogram.
struct alignas(16) QuadOfCounts {
  std::uint32_t x, y, z, w;
};

/// A value of u that may be selected, with its index.
struct alignas(8) Candidate {
  std::uint32_t bits;
  std::uint32_t index;
};

struct LaunchShape {
  unsigned blocks = 1;
  bool cooperative = false;  // every block resident at once: they may wait for one another
};

#ifdef __CUDACC__

using Stream = cudaStream_t;

__device__ __forceinline__ std::uint32_t ballot(bool vote) {
  return __ballot_sync(kEveryLane, vote);
}
__device__ __forceinline__ bool any(bool vote) { return __any_sync(kEveryLane, vote) != 0; }
template <class T>
__device__ __forceinline__ T from_lane(T value, int lane) {
  return __shfl_sync(kEveryLane, value, lane);
}
template <class T>
__device__ __forceinline__ T from_lane_below(T value, int distance) {
  return __shfl_up_sync(kEveryLane, value, distance);
}
template <class T>
__device__ __forceinline__ T from_lane_across(T value, int distance) {
  return __shfl_xor_sync(kEveryLane, value, distance);
}
__device__ __forceinline__ int count_bits(std::uint32_t bits) { return __popc(bits); }
__device__ __forceinline__ int leading_zeros(std::uint32_t bits) {
  return __clz(static_cast<int>(bits));
}
__device__ __forceinline__ int lowest_bit(std::uint32_t bits) {
  return __ffs(static_cast<int>(bits)) - 1;
}
__device__ __forceinline__ void block_barrier() { __syncthreads(); }
/// The warp's lanes wait for one another and see what each wrote before.
__device__ __forceinline__ void warp_barrier() { __syncwarp(); }
__device__ __forceinline__ void memory_fence() { __threadfence(); }
__device__ __forceinline__ std::uint32_t add_atomic(std::uint32_t* to, std::uint32_t amount) {
  return atomicAdd(to, amount);
}
__device__ __forceinline__ void or_atomic(std::uint32_t* to, std::uint32_t bits) {
  atomicOr(to, bits);
}
__device__ __forceinline__ void max_atomic(std::uint32_t* to, std::uint32_t least) {
  atomicMax(to, least);
}
__device__ __forceinline__ std::uint32_t read_now(const std::uint32_t* word) {
  return *reinterpret_cast<const volatile std::uint32_t*>(word);
}
/// Reads past L1, which may hold what was there before. Several such loads can be under way.
__device__ __forceinline__ QuadOfCounts read_now(const QuadOfCounts* quad) {
  const uint4 q = __ldcg(reinterpret_cast<const uint4*>(quad));
  return {q.x, q.y, q.z, q.w};
}
__device__ __forceinline__ void pause() { __nanosleep(20); }

/// Loads that bypass L1, because the gradient is read only once; in whole 128-byte lines where the
/// device knows that hint (Turing and later).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#define GRADCAST_WHOLE_LINES ""
#else
#define GRADCAST_WHOLE_LINES ".L2::128B"
#endif
__device__ __forceinline__ Quad read_once(const Quad* from) {
  Quad q;
  asm volatile("ld.global.nc.L1::no_allocate" GRADCAST_WHOLE_LINES ".v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(q.x), "=f"(q.y), "=f"(q.z), "=f"(q.w)
               : "l"(from));
  return q;
}
__device__ __forceinline__ PairOfWords read_once(const PairOfWords* from) {
  PairOfWords pair;
  asm volatile("ld.global.nc.L1::no_allocate" GRADCAST_WHOLE_LINES ".v2.u32 {%0,%1}, [%2];"
               : "=r"(pair.x), "=r"(pair.y)
               : "l"(from));
  return pair;
}
#undef GRADCAST_WHOLE_LINES
/// Loads without the read-only path, because the kernel that reads the residual also writes it.
__device__ __forceinline__ Quad read_old(const Quad* from) {
  Quad q;
  asm volatile("ld.global.L1::no_allocate.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(q.x), "=f"(q.y), "=f"(q.z), "=f"(q.w)
               : "l"(from)
               : "memory");
  return q;
}
/// Stores of values that are mostly not read again before the next call.
__device__ __forceinline__ void write_through(Quad* to, const Quad& q) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(q.x, q.y, q.z, q.w));
}
__device__ __forceinline__ void write_through(PairOfWords* to, const PairOfWords& pair) {
  __stcs(reinterpret_cast<uint2*>(to), make_uint2(pair.x, pair.y));
}

/// All loads before it are sent off before what comes after it uses one of them.
__device__ __forceinline__ void send_loads_before(float& loaded) {
  asm volatile("" : "+f"(loaded)::"memory");
}

/// Tells the compiler that a pointer that was itself loaded points to global memory.
__device__ __forceinline__ void assume_global(const void* pointer) {
  __builtin_assume(__isGlobal(pointer));
}

/// The block's shared memory, as one struct of the kernel's.
template <class T>
__device__ __forceinline__ T& shared_memory() {
  __shared__ alignas(16) unsigned char bytes[sizeof(T)];
  return *reinterpret_cast<T*>(bytes);
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Stream stream,
            Arguments&&... arguments) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(kBlockThreads);
  config.stream = stream;
  config.attrs = &cooperative;
  config.numAttrs = shape.cooperative ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

/// Blocks of a kernel that are resident at once.
template <class... Parameters>
int resident_blocks(void (*kernel)(Parameters...)) {
  int device = 0;
  int processors = 0;
  int each = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, kBlockThreads, 0));
  return processors * each;
}

/// Loads the kernel now, because its first launch may be while a graph is recorded.
template <class... Parameters>
void load_kernel(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
}

inline void* allocate_bytes(std::size_t bytes) {
  void* memory = nullptr;
  CUDA_CHECK(cudaMalloc(&memory, bytes));
  return memory;
}
inline void free_bytes(void* memory) { cudaFree(memory); }
inline void upload_bytes(void* to, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  // A copy from pageable memory may still be under way, and other streams do not wait for it.
  CUDA_CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}
inline void download_bytes(void* to, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}
inline void clear_bytes(void* memory, std::size_t bytes) {
  CUDA_CHECK(cudaMemset(memory, 0, bytes));
}
/// `from` may change as soon as it returns: CUDA copies pageable memory to a buffer of its own.
inline void enqueue_upload(Stream stream, void* to, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
}
inline void enqueue_clear(Stream stream, void* memory, std::size_t bytes) {
  CUDA_CHECK(cudaMemsetAsync(memory, 0, bytes, stream));
}

#else

using Stream = const emulator::Schedule*;

inline std::uint32_t ballot(bool vote) { return emulator::ballot(vote); }
inline bool any(bool vote) { return emulator::ballot(vote) != 0; }
template <class T>
T from_lane(T value, int lane) {
  return emulator::exchange(value, static_cast<unsigned>(lane));
}
template <class T>
T from_lane_below(T value, int distance) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned step = static_cast<unsigned>(distance);
  return emulator::exchange(value, lane >= step ? lane - step : lane);
}
template <class T>
T from_lane_across(T value, int distance) {
  return emulator::exchange(value, threadIdx.x % kLanes ^ static_cast<unsigned>(distance));
}
inline int count_bits(std::uint32_t bits) { return __builtin_popcount(bits); }
inline int leading_zeros(std::uint32_t bits) { return bits == 0 ? kLanes : __builtin_clz(bits); }
inline int lowest_bit(std::uint32_t bits) { return __builtin_ffs(static_cast<int>(bits)) - 1; }
inline void block_barrier() { emulator::meet_block(); }
inline void warp_barrier() { emulator::meet_warp(); }
inline void memory_fence() { emulator::fence(); }
inline std::uint32_t add_atomic(std::uint32_t* to, std::uint32_t amount) {
  return emulator::atomically(
      to, [&](std::uint32_t& word) { return std::exchange(word, word + amount); });
}
inline void or_atomic(std::uint32_t* to, std::uint32_t bits) {
  emulator::atomically(to, [&](std::uint32_t& word) { return word |= bits; });
}
inline void max_atomic(std::uint32_t* to, std::uint32_t least) {
  emulator::atomically(to, [&](std::uint32_t& word) { return word = word > least ? word : least; });
}
inline std::uint32_t read_now(const std::uint32_t* word) { return emulator::load_volatile(word); }
/// A plain load: memory past L1 is no newer than fences make it.
inline QuadOfCounts read_now(const QuadOfCounts* quad) { return *quad; }
inline void pause() { emulator::pause(); }

inline Quad read_once(const Quad* from) { return *from; }
inline PairOfWords read_once(const PairOfWords* from) { return *from; }
inline Quad read_old(const Quad* from) { return *from; }
inline void write_through(Quad* to, const Quad& q) { *to = q; }
inline void write_through(PairOfWords* to, const PairOfWords& pair) { *to = pair; }
inline void send_loads_before(float&) {}
inline void assume_global(const void*) {}

template <class T>
T& shared_memory() {
  return *static_cast<T*>(emulator::shared_bytes(sizeof(T)));
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Stream stream,
            Arguments&&... arguments) {
  emulator::run({shape.blocks, kBlockThreads, shape.cooperative}, *stream,
                [&] { kernel(arguments...); });
}

template <class... Parameters>
int resident_blocks(void (*)(Parameters...)) {
  return 3;
}

template <class... Parameters>
void load_kernel(void (*)(Parameters...)) {}

inline void* allocate_bytes(std::size_t bytes) { return emulator::allocate(bytes); }
inline void free_bytes(void* memory) { emulator::release(memory); }
inline void upload_bytes(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
inline void download_bytes(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
inline void clear_bytes(void* memory, std::size_t bytes) { std::memset(memory, 0, bytes); }
inline void enqueue_upload(Stream, void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
inline void enqueue_clear(Stream, void* memory, std::size_t bytes) {
  std::memset(memory, 0, bytes);
}

#endif

__device__ __forceinline__ int lane_of_thread() { return static_cast<int>(threadIdx.x) % kLanes; }
__device__ __forceinline__ int warp_of_thread() { return static_cast<int>(threadIdx.x) / kLanes; }

/// Device memory that is freed with its owner.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  explicit DeviceBytes(std::size_t bytes) : memory_(allocate_bytes(bytes)), bytes_(bytes) {}
  DeviceBytes(DeviceBytes&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBytes& operator=(DeviceBytes&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() {
    if (memory_ != nullptr) free_bytes(memory_);
  }
  void* get() const { return memory_; }
  std::size_t size() const { return bytes_; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace gradcast::GRADCAST_DEVICE
