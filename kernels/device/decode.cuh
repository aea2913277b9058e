// Adds sparse sets into a dense gradient. A block owns 8192 elements at a time. It finds every
// worker's share of them (indices rise, so it is one run of each set), adds the shares in shared
// memory worker by worker, and writes the sums once. So sums are made in the order of the workers
// for any grid.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/device/block.cuh"
#include "kernels/device/numbers.cuh"
#include "kernels/device/scratch.cuh"
#include "kernels/encoder.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr int kDecodeElements = 8192;

struct DecodeShared {
  float dense[kDecodeElements];
  std::int64_t begin[kBlockThreads];    // of each set's run
  std::uint32_t before[kBlockThreads];  // entries in the runs of the sets before
  BlockScratch scratch;
};

/// The first place from `from` on with an index of at least `least`. Near places are found quickly.
__device__ inline std::int64_t first_from(const std::int32_t* indices, std::int64_t from,
                                          std::int64_t count, std::int64_t least) {
  std::int64_t step = 1;
  std::int64_t low = from;  // all before are less
  while (low + step <= count && indices[low + step - 1] < least) {
    low += step;
    step *= 2;
  }
  std::int64_t high = low + step - 1 < count ? low + step - 1 : count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (indices[middle] < least) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__device__ inline float value_in(const DecoderSet& set, std::int64_t at) {
  return set.value_type == ValueType::Fp32 ? set.values[at]
                                           : value_of_code(set.value_type, set.codes[at]);
}

/// A tensor as the kernel sees it.
struct DecodedTensor {
  Numbers dense;
  std::int64_t elements;
  const DecoderSet* sets;
  std::int32_t first_range;
  float factor;
};

class RangeDecoder {
 public:
  __device__ RangeDecoder(int workers, DecodeShared& shared) : workers_(workers), shared_(shared) {}

  /// Elements [base, end) of a tensor, at most 8192. A tensor's ranges come by rising base.
  __device__ void decode(const DecodedTensor& tensor, std::int64_t base, std::int64_t end) {
    if (tensor.sets != sets_) reached_ = 0;
    sets_ = tensor.sets;
    for (int i = static_cast<int>(threadIdx.x); i < kDecodeElements; i += kBlockThreads)
      shared_.dense[i] = 0.0f;
    for (int first = 0; first < workers_; first += kBlockThreads) add_sets(first, base, end);
    block_barrier();
    as_typed(tensor.dense, [&](const auto& dense) {
      for (std::int64_t i = base + threadIdx.x; i < end; i += kBlockThreads)
        dense.write(i, tensor.factor * shared_.dense[i - base]);
    });
    block_barrier();
  }

 private:
  /// Handles up to 256 sets. One thread for each set finds its run.
  __device__ void add_sets(int first, std::int64_t base, std::int64_t end) {
    const int own = first + static_cast<int>(threadIdx.x);
    std::uint32_t length = 0;
    if (own < workers_) {
      const DecoderSet& set = sets_[own];
      // With more sets than threads a thread does not remember where it stopped.
      const std::int64_t from = workers_ <= kBlockThreads ? reached_ : 0;
      const std::int64_t begin = first_from(set.indices, from, *set.count, base);
      reached_ = first_from(set.indices, begin, *set.count, end);
      shared_.begin[threadIdx.x] = begin;
      length = static_cast<std::uint32_t>(reached_ - begin);
    }
    const Scan<std::uint32_t> scan = block_scan(length, shared_.scratch);
    shared_.before[threadIdx.x] = scan.before;
    block_barrier();
    for (std::uint32_t entry = 0; entry < scan.total; entry += kBlockThreads)
      add_entries(first, base, entry, scan.total);
    block_barrier();
  }

  /// Loads one entry per thread, all together; then adds set after set.
  __device__ void add_entries(int first, std::int64_t base, std::uint32_t entry,
                              std::uint32_t total) {
    const std::uint32_t own = entry + threadIdx.x;
    const std::uint32_t last =
        entry + kBlockThreads < total ? entry + kBlockThreads - 1 : total - 1;
    const bool valid = own < total;
    const int set = set_of(valid ? own : last);
    std::int64_t index = 0;
    float value = 0.0f;
    if (valid) {
      const std::int64_t at = shared_.begin[set] + (own - shared_.before[set]);
      const DecoderSet& its = sets_[first + set];
      index = its.indices[at];
      value = value_in(its, at);
    }
    const int end_set = set_of(last);
    for (int adding = set_of(entry); adding <= end_set; ++adding) {
      if (valid && set == adding)
        shared_.dense[index - base] = add_feedback(shared_.dense[index - base], value);
      block_barrier();
    }
  }

  /// The set that has an entry: the last set that begins at or before it.
  __device__ int set_of(std::uint32_t entry) const {
    int low = 0;
    int high = kBlockThreads - 1;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (shared_.before[middle] <= entry) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  int workers_;
  DecodeShared& shared_;
  const DecoderSet* sets_ = nullptr;  // of the tensor under way
  std::int64_t reached_ = 0;          // in this thread's set
};

/// `range_tensor`: the tensor of each range.
inline __global__ void __launch_bounds__(kBlockThreads)
    decode_sets(const DecodedTensor* tensors, const std::int32_t* range_tensor, int ranges,
                int workers) {
  const auto first_of = [&](unsigned block) {
    return static_cast<int>(static_cast<std::int64_t>(ranges) * block / gridDim.x);
  };
  RangeDecoder decoder(workers, shared_memory<DecodeShared>());
  for (int range = first_of(blockIdx.x); range < first_of(blockIdx.x + 1); ++range) {
    const DecodedTensor& tensor = tensors[range_tensor[range]];
    const std::int64_t base =
        static_cast<std::int64_t>(range - tensor.first_range) * kDecodeElements;
    const std::int64_t end = base + kDecodeElements;
    decoder.decode(tensor, base, end < tensor.elements ? end : tensor.elements);
  }
}

class DecoderHere final : public Decoder {
 public:
  DecoderHere(const std::vector<DecoderTensor>& tensors, const Workspace& workspace) {
    if (tensors.empty()) throw std::invalid_argument("a decoder needs a tensor");
    workers_ = static_cast<int>(tensors[0].sets.size());
    std::vector<DecoderSet> sets;
    std::vector<DecodedTensor> decoded;
    std::vector<std::int32_t> range_tensor;
    for (const DecoderTensor& tensor : tensors) {
      if (tensor.elements < 1 || tensor.elements > INT32_MAX || tensor.dense == nullptr)
        throw std::invalid_argument("a tensor has 1 to 2147483647 elements, and a place for them");
      if (static_cast<int>(tensor.sets.size()) != workers_)
        throw std::invalid_argument("every tensor has a set of every worker");
      sets.insert(sets.end(), tensor.sets.begin(), tensor.sets.end());
      const auto number = static_cast<std::int32_t>(decoded.size());
      decoded.push_back({tensor.dense, tensor.elements, nullptr,
                         static_cast<std::int32_t>(range_tensor.size()), tensor.factor});
      const auto own =
          static_cast<std::size_t>((tensor.elements + kDecodeElements - 1) / kDecodeElements);
      range_tensor.resize(range_tensor.size() + own, number);
    }
    memory_ = Scratch(workspace, [&](Carver& carver) {
      sets_ = carver.take<DecoderSet>(sets.size());
      tensors_ = carver.take<DecodedTensor>(decoded.size());
      range_tensor_ = carver.take<std::int32_t>(range_tensor.size());
    });
    for (std::size_t i = 0; i < decoded.size(); ++i)
      decoded[i].sets = sets_ + i * static_cast<std::size_t>(workers_);
    memory_.upload(sets_, sets);
    memory_.upload(tensors_, decoded);
    memory_.upload(range_tensor_, range_tensor);
    ranges_ = static_cast<int>(range_tensor.size());
    blocks_ = std::min(ranges_, resident_blocks(decode_sets));
  }

  void decode(void* stream) override {
    launch(decode_sets, {static_cast<unsigned>(blocks_)}, static_cast<Stream>(stream),
           static_cast<const DecodedTensor*>(tensors_),
           static_cast<const std::int32_t*>(range_tensor_), ranges_, workers_);
  }

 private:
  DecoderSet* sets_ = nullptr;
  DecodedTensor* tensors_ = nullptr;
  std::int32_t* range_tensor_ = nullptr;
  Scratch memory_;
  int workers_ = 0;
  int ranges_ = 0;
  int blocks_ = 0;
};

}  // namespace gradcast::GRADCAST_DEVICE
