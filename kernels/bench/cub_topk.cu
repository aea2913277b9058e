// Top-k by CUB, as a user of it would write it: add, take keys, select, zero. DeviceTopK where the
// toolkit has it (CCCL 3.3 and later), else a whole sort, which is what older ones offer.
#include <cub/device/device_radix_sort.cuh>
#if __has_include(<cub/device/device_topk.cuh>)
#include <cub/device/device_topk.cuh>
#define GRADCAST_CUB_TOPK
#endif

#include "kernels/bench/gpu_timer.hpp"
#include "kernels/cuda_check.hpp"

namespace gradcast::on_cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    add_and_key(const float* __restrict__ gradient, float* __restrict__ residual,
                std::int64_t elements, std::uint32_t* __restrict__ keys,
                std::int32_t* __restrict__ indices) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= elements) return;
  const float u = add_feedback(gradient[i], residual[i]);
  residual[i] = u;
  keys[i] = magnitude_key(u);
  indices[i] = static_cast<std::int32_t>(i);
}

__global__ void __launch_bounds__(kThreads)
    take_and_zero(float* __restrict__ residual, const std::int32_t* __restrict__ chosen,
                  std::int64_t k, float* __restrict__ values, std::int32_t* __restrict__ indices) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= k) return;
  const std::int32_t index = chosen[i];
  values[i] = residual[index];
  indices[i] = index;
  residual[index] = 0.0f;
}

unsigned blocks_for(std::int64_t elements) {
  return static_cast<unsigned>((elements + kThreads - 1) / kThreads);
}

class Topk final : public CubTopk {
 public:
  Topk(const float* gradient, float* residual, std::int64_t elements, std::int64_t k, float* values,
       std::int32_t* indices)
      : gradient_(gradient),
        residual_(residual),
        elements_(elements),
        k_(k),
        values_(values),
        indices_(indices) {
    const auto n = static_cast<std::size_t>(elements);
    CUDA_CHECK(cudaMalloc(&keys_, n * sizeof *keys_));
    CUDA_CHECK(cudaMalloc(&sorted_keys_, n * sizeof *sorted_keys_));
    CUDA_CHECK(cudaMalloc(&all_, n * sizeof *all_));
    CUDA_CHECK(cudaMalloc(&chosen_, n * sizeof *chosen_));
    select(nullptr, nullptr);  // asks how much scratch it needs
    CUDA_CHECK(cudaMalloc(&scratch_, scratch_bytes_ + 1));
  }
  ~Topk() override {
    for (void* memory : {static_cast<void*>(keys_), static_cast<void*>(sorted_keys_),
                         static_cast<void*>(all_), static_cast<void*>(chosen_), scratch_})
      cudaFree(memory);
  }
  Topk(const Topk&) = delete;
  Topk& operator=(const Topk&) = delete;

  void encode(void* stream_of_caller) override {
    const auto stream = static_cast<cudaStream_t>(stream_of_caller);
    add_and_key<<<blocks_for(elements_), kThreads, 0, stream>>>(gradient_, residual_, elements_,
                                                                keys_, all_);
    CUDA_CHECK(cudaGetLastError());
    select(scratch_, stream);
    if (k_ > 0)
      take_and_zero<<<blocks_for(k_), kThreads, 0, stream>>>(residual_, chosen_, k_, values_,
                                                             indices_);
    CUDA_CHECK(cudaGetLastError());
  }

 private:
  void select(void* scratch, cudaStream_t stream) {
#ifdef GRADCAST_CUB_TOPK
    const auto requirements = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                       cuda::execution::output_ordering::unsorted);
    const auto environment = cuda::std::execution::env{cuda::stream_ref{stream}, requirements};
    CUDA_CHECK(cub::DeviceTopK::MaxPairs(scratch, scratch_bytes_, keys_, sorted_keys_, all_,
                                         chosen_, static_cast<std::uint32_t>(elements_),
                                         static_cast<std::uint32_t>(k_), environment));
#else
    CUDA_CHECK(cub::DeviceRadixSort::SortPairsDescending(
        scratch, scratch_bytes_, keys_, sorted_keys_, all_, chosen_, elements_, 0, 31, stream));
#endif
  }

  const float* gradient_;
  float* residual_;
  std::int64_t elements_;
  std::int64_t k_;
  float* values_;
  std::int32_t* indices_;
  std::uint32_t* keys_ = nullptr;
  std::uint32_t* sorted_keys_ = nullptr;
  std::int32_t* all_ = nullptr;
  std::int32_t* chosen_ = nullptr;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<CubTopk> make_cub_topk(const float* gradient, float* residual,
                                       std::int64_t elements, std::int64_t k, float* values,
                                       std::int32_t* indices) {
  return std::make_unique<Topk>(gradient, residual, elements, k, values, indices);
}

}  // namespace gradcast::on_cuda
