// A level unpacker: its memory, and its launch.
#pragma once
#include <memory>

#include "kernels/device/level_packer.cuh"
#include "kernels/device/unpack_levels.cuh"

namespace gradcast::GRADCAST_DEVICE {

template <PackRule kRule>
class LevelUnpackerHere final : public LevelUnpacker {
 public:
  LevelUnpackerHere(double parameter, std::int64_t workers,
                    const std::vector<LevelUnpackerTensor>& tensors, const Workspace& workspace) {
    if (tensors.empty()) throw std::invalid_argument("an unpacker needs a tensor");
    batch_.bits = require_lanes<kRule>(parameter, workers);
    batch_.largest = LevelTraits<kRule>::largest(parameter);
    batch_.workers = static_cast<std::uint32_t>(workers);
    std::vector<LevelSegment> segments;
    std::vector<std::int32_t> block_segment;
    for (const LevelUnpackerTensor& tensor : tensors) {
      require_elements(tensor.elements);
      if (tensor.dense == nullptr || tensor.scale == nullptr || tensor.lanes == nullptr)
        throw std::invalid_argument("a tensor lacks a pointer");
      LevelSegment s{};
      s.dense = tensor.dense;
      s.scale = tensor.scale;
      s.lanes = tensor.lanes;
      s.elements = tensor.elements;
      s.factor = tensor.factor;
      s.aligned = is_aligned(tensor.dense) && is_aligned(tensor.lanes);
      s.first_block = append_blocks(block_segment, (s.elements + kPartElements - 1) / kPartElements,
                                    segments.size());
      segments.push_back(s);
    }
    blocks_ = static_cast<unsigned>(block_segment.size());
    memory_ = Scratch(workspace, [&](Carver& carver) {
      batch_.segments = tables_.segments = carver.take<LevelSegment>(segments.size());
      batch_.block_segment = tables_.block_segment =
          carver.take<std::int32_t>(block_segment.size());
    });
    memory_.upload(tables_.segments, segments);
    memory_.upload(tables_.block_segment, block_segment);
    load_kernel(unpack_levels);
  }

  void unpack(void* stream_of_caller) override {
    launch(unpack_levels, {blocks_}, static_cast<Stream>(stream_of_caller), batch_);
  }
  std::int64_t scratch_bytes() const override { return memory_.bytes(); }

 private:
  struct {
    LevelSegment* segments;
    std::int32_t* block_segment;
  } tables_{};
  LevelBatch batch_{};
  unsigned blocks_ = 0;
  Scratch memory_;
};

}  // namespace gradcast::GRADCAST_DEVICE
