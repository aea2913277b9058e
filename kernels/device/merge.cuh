// A step of gTop-k's tree: the sum of two sparse sets, and of that the k largest in magnitude. The
// union of the sets lies close together, by rising index, so that Top-k's encoder selects from it.
#pragma once
#include "kernels/device/decode.cuh"
#include "kernels/device/encoder.cuh"

namespace gradcast::GRADCAST_DEVICE {

inline constexpr std::int32_t kNoIndex = INT32_MAX;  // of what fills up a set
inline constexpr int kMergeEntries = 4;              // of a thread, neighbours
inline constexpr int kMergeTile = kMergeEntries * kBlockThreads;

/// Two sets of at most `most` pairs, and what the kernels make of them.
struct MergeWork {
  DecoderSet first, second;
  std::int64_t most;
  std::uint32_t* tile_matches;  // [tiles] entries of the first set that the second has, too
  std::uint32_t* matches;       // [most + 1] of such entries before one of the first set
  float* sum;                   // [2 most] of the union; then zeros
  float* rest;                  // [2 most] zeros
  std::int32_t* index_of;       // [2 most] of the union
  std::int64_t* united;         // entries of the union
  std::int32_t* places;         // [k] in the union, selected
  std::int64_t* selected;
};

/// A count that came over the wire may be wrong: no more than `most` are looked at.
__device__ inline std::int64_t pairs_of(const DecoderSet& set, std::int64_t most) {
  const std::int64_t count = *set.count < most ? *set.count : most;
  return count <= 0 || set.indices[count - 1] != kNoIndex
             ? count
             : first_from(set.indices, 0, count, kNoIndex);
}

/// The first summand, added to 0 as decoding does.
__device__ inline float first_summand(const DecoderSet& set, std::int64_t at) {
  return add_feedback(0.0f, value_in(set, at));
}

/// The place of an index in a set, or where it would be, and whether it is there.
struct Standing {
  std::int64_t at;
  bool there;
};
__device__ inline Standing standing_in(const DecoderSet& set, std::int64_t pairs,
                                       std::int32_t index) {
  const std::int64_t at = first_from(set.indices, 0, pairs, index);
  return {at, at < pairs && set.indices[at] == index};
}

__device__ inline std::int64_t first_of_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * kMergeTile +
         kMergeEntries * static_cast<std::int64_t>(threadIdx.x);
}

/// Entries of this thread in the first set that the second has, too.
__device__ inline std::uint32_t matches_of_thread(const MergeWork& work, std::int64_t first,
                                                  std::int64_t second) {
  std::uint32_t matches = 0;
  const std::int64_t begin = first_of_thread();
  for (std::int64_t i = begin; i < begin + kMergeEntries && i < first; ++i)
    matches += standing_in(work.second, second, work.first.indices[i]).there ? 1 : 0;
  return matches;
}

inline __global__ void __launch_bounds__(kBlockThreads) count_matches(const MergeWork work) {
  const std::uint32_t own =
      matches_of_thread(work, pairs_of(work.first, work.most), pairs_of(work.second, work.most));
  const std::uint32_t total = block_scan(own, shared_memory<BlockScratch>()).total;
  if (threadIdx.x == 0) work.tile_matches[blockIdx.x] = total;
}

/// Entries of the first set, and their sum with the second's.
inline __global__ void __launch_bounds__(kBlockThreads) place_first(const MergeWork work) {
  BlockScratch& scratch = shared_memory<BlockScratch>();
  const std::int64_t first = pairs_of(work.first, work.most);
  const std::int64_t second = pairs_of(work.second, work.most);
  std::uint32_t in_tiles = 0;
  for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += kBlockThreads)
    in_tiles += work.tile_matches[tile];
  const std::uint32_t before_tile = block_scan(in_tiles, scratch).total;
  std::uint32_t before =
      before_tile + block_scan(matches_of_thread(work, first, second), scratch).before;
  const std::int64_t begin = first_of_thread();
  for (std::int64_t i = begin; i < begin + kMergeEntries && i <= first; ++i) {
    work.matches[i] = before;
    if (i == first) {
      *work.united = first + second - before;
      return;
    }
    const std::int32_t index = work.first.indices[i];
    const Standing other = standing_in(work.second, second, index);
    const std::int64_t place = i + other.at - before;
    const float value = first_summand(work.first, i);
    work.sum[place] =
        other.there ? add_feedback(value, first_summand(work.second, other.at)) : value;
    work.index_of[place] = index;
    before += other.there ? 1 : 0;
  }
}

/// Entries that the second set has alone, and zeros behind the union.
inline __global__ void __launch_bounds__(kBlockThreads) place_second(const MergeWork work) {
  const std::int64_t first = pairs_of(work.first, work.most);
  const std::int64_t second = pairs_of(work.second, work.most);
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kBlockThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
       i < 2 * work.most; i += threads) {
    work.rest[i] = 0.0f;
    if (i >= *work.united) work.sum[i] = 0.0f;
    if (i >= second) continue;
    const std::int32_t index = work.second.indices[i];
    const Standing other = standing_in(work.first, first, index);
    if (other.there) continue;
    const std::int64_t place = i + other.at - work.matches[other.at];
    work.sum[place] = first_summand(work.second, i);
    work.index_of[place] = index;
  }
}

/// Turns places in the union into indices. Zeros behind the union come last.
inline __global__ void __launch_bounds__(kBlockThreads)
    name_selected(const MergeWork work, std::int32_t* indices, std::int64_t* count) {
  const std::int64_t sent = *work.selected < *work.united ? *work.selected : *work.united;
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kBlockThreads;
  const std::int64_t own = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
  for (std::int64_t i = own; i < sent; i += threads) indices[i] = work.index_of[work.places[i]];
  if (own == 0) *count = sent;
}

class MergerHere final : public Merger {
 public:
  MergerHere(const MergedSets& sets, const Workspace& workspace) : sets_(sets) {
    if (sets.most < 1 || sets.most > INT32_MAX / 2 || sets.k < 1 || sets.k > INT32_MAX)
      throw std::invalid_argument("a set has 1 to 1073741823 pairs, and k is 1 to 2147483647");
    const std::int64_t most = sets.most;
    const std::int64_t k = std::min(sets.k, 2 * most);
    work_.first = sets.first;
    work_.second = sets.second;
    work_.most = most;
    tiles_ = static_cast<unsigned>((most + 1 + kMergeTile - 1) / kMergeTile);
    std::uint32_t* status = nullptr;
    const auto carve = [&](Carver& carver) {
      work_.tile_matches = carver.take<std::uint32_t>(tiles_);
      work_.matches = carver.take<std::uint32_t>(static_cast<std::size_t>(most) + 1);
      work_.sum = carver.take<float>(2 * static_cast<std::size_t>(most));
      work_.rest = carver.take<float>(2 * static_cast<std::size_t>(most));
      work_.index_of = carver.take<std::int32_t>(2 * static_cast<std::size_t>(most));
      work_.united = carver.take<std::int64_t>(1);
      work_.places = carver.take<std::int32_t>(static_cast<std::size_t>(k));
      work_.selected = carver.take<std::int64_t>(1);
      status = carver.take<std::uint32_t>(1);
    };
    Carver measuring;
    carve(measuring);
    const std::size_t own = measuring.used();
    const auto make_selector = [&](const Workspace& lent) {
      EncoderTensor united;
      united.gradient = work_.sum;
      united.residual = work_.rest;
      united.elements = 2 * most;
      united.k = k;
      united.values = sets.values;
      united.codes = sets.codes;
      united.value_type = sets.first.value_type;
      united.indices = work_.places;
      united.capacity = k;
      united.count = work_.selected;
      united.status = status;
      return make_encoder_here(Rule::Topk, Mode::Only, {united}, {}, lent);
    };
    Workspace for_selector;
    if (workspace.memory != nullptr) {
      Carver carver(workspace.memory);  // nothing is written where it is too small
      carve(carver);
      std::size_t needed = own;
      try {
        make_selector({workspace.memory, 0, workspace.stream});
      } catch (const WorkspaceTooSmall& small) {
        needed += small.needed;
      }
      if (workspace.bytes < needed) throw WorkspaceTooSmall(needed);
      for_selector = {static_cast<char*>(workspace.memory) + own, workspace.bytes - own,
                      workspace.stream};
    } else {
      memory_ = Scratch(workspace, carve);
    }
    selector_ = make_selector(for_selector);
    blocks_ = static_cast<unsigned>(std::min<std::int64_t>(
        (2 * most + kBlockThreads - 1) / kBlockThreads, resident_blocks(place_second)));
    load_kernel(count_matches);
    load_kernel(place_first);
    load_kernel(place_second);
    load_kernel(name_selected);
  }

  void merge(void* stream_of_caller) override {
    const auto on = static_cast<Stream>(stream_of_caller);
    launch(count_matches, {tiles_}, on, work_);
    launch(place_first, {tiles_}, on, work_);
    launch(place_second, {blocks_}, on, work_);
    selector_->encode(stream_of_caller);
    launch(name_selected, {blocks_}, on, work_, sets_.indices, sets_.count);
  }

 private:
  MergedSets sets_;
  MergeWork work_{};
  Scratch memory_;  // where none is lent
  std::unique_ptr<Encoder> selector_;
  unsigned tiles_ = 0;
  unsigned blocks_ = 0;
};

}  // namespace gradcast::GRADCAST_DEVICE
