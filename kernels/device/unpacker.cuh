// An unpacker: its memory, and its launch.
#pragma once
#include <memory>

#include "kernels/device/plan_pack.hpp"
#include "kernels/device/scratch.cuh"
#include "kernels/device/unpack.cuh"

namespace gradcast::GRADCAST_DEVICE {

template <PackRule kRule>
class UnpackerHere final : public Unpacker {
 public:
  UnpackerHere(double parameter, const std::vector<UnpackerTensor>& tensors,
               const Workspace& workspace) {
    require_parameter(kRule, parameter);
    if (tensors.empty() || tensors[0].payloads.empty())
      throw std::invalid_argument("an unpacker needs a tensor and a worker");
    const std::size_t workers = tensors[0].payloads.size();
    std::vector<UnpackSegment> segments;
    std::vector<std::int32_t> block_segment;
    std::vector<const std::uint32_t*> payloads;
    for (const UnpackerTensor& tensor : tensors) {
      require_elements(tensor.elements);
      if (tensor.payloads.size() != workers)
        throw std::invalid_argument("every tensor has a payload of every worker");
      if (tensor.dense == nullptr ||
          std::count(tensor.payloads.begin(), tensor.payloads.end(), nullptr) > 0)
        throw std::invalid_argument("a tensor lacks a pointer");
      UnpackSegment s{};
      s.dense = tensor.dense;
      s.elements = tensor.elements;
      s.scale_words = scale_words<kRule>(tensor.elements, parameter);
      s.factor = tensor.factor;
      s.aligned = is_aligned(tensor.dense);
      s.first_block = append_blocks(block_segment, (s.elements + kPartElements - 1) / kPartElements,
                                    segments.size());
      segments.push_back(s);
      payloads.insert(payloads.end(), tensor.payloads.begin(), tensor.payloads.end());
    }
    batch_.workers = static_cast<int>(workers);
    batch_.bits = PackTraits<kRule>::bits(parameter);
    batch_.block_elements = kRule == PackRule::Int8 ? static_cast<std::int32_t>(parameter) : 1;
    batch_.parameter = parameter;
    blocks_ = static_cast<unsigned>(block_segment.size());

    memory_ = Scratch(workspace, [&](Carver& carver) {
      batch_.segments = tables_.segments = carver.take<UnpackSegment>(segments.size());
      batch_.block_segment = tables_.block_segment =
          carver.take<std::int32_t>(block_segment.size());
      tables_.payloads = carver.take<const std::uint32_t*>(payloads.size());
    });
    for (std::size_t i = 0; i < segments.size(); ++i)
      segments[i].payloads = tables_.payloads + i * workers;
    memory_.upload(tables_.segments, segments);
    memory_.upload(tables_.block_segment, block_segment);
    memory_.upload(tables_.payloads, payloads);
    load_kernel(gradcast::GRADCAST_DEVICE::unpack<kRule>);
  }

  void unpack(void* stream_of_caller) override {
    launch(gradcast::GRADCAST_DEVICE::unpack<kRule>, {blocks_},
           static_cast<Stream>(stream_of_caller), batch_);
  }
  std::int64_t scratch_bytes() const override { return memory_.bytes(); }

 private:
  struct {
    UnpackSegment* segments;
    std::int32_t* block_segment;
    const std::uint32_t** payloads;
  } tables_{};
  UnpackBatch batch_{};
  unsigned blocks_ = 0;
  Scratch memory_;
};

}  // namespace gradcast::GRADCAST_DEVICE
