// A level packer: its plan, and the launches of one measure and one pack.
#pragma once
#include <memory>

#include "kernels/device/pack_levels.cuh"
#include "kernels/device/pack_work.cuh"
#include "kernels/level_packer.hpp"

namespace gradcast::GRADCAST_DEVICE {

/// Bits of a lane, or a refusal.
template <PackRule kRule>
int require_lanes(double parameter, std::int64_t workers) {
  require_parameter(kRule, parameter);
  if (workers < 1) throw std::invalid_argument("levels are of one worker or more");
  const int bits = lane_bits(LevelTraits<kRule>::largest(parameter), workers);
  if (bits == 0)
    throw std::invalid_argument("the sum of so many workers' levels does not fit in 32 bits");
  return bits;
}

template <PackRule kRule>
class LevelPackerHere final : public LevelPacker {
 public:
  LevelPackerHere(double parameter, std::int64_t workers,
                  const std::vector<LevelPackerTensor>& tensors, const Workspace& workspace)
      : tensors_(static_cast<unsigned>(tensors.size())),
        work_(parameter, require_lanes<kRule>(parameter, workers), plan_of(parameter, tensors),
              workspace) {
    load_kernel(find_scales<kRule>);
    load_kernel(pack_levels<kRule>);
  }

  void measure(void* stream_of_caller) override {
    const auto on = static_cast<Stream>(stream_of_caller);
    work_.measure(on);
    launch(find_scales<kRule>, {tensors_}, on, work_.batch());
  }
  void pack(void* stream_of_caller) override {
    launch(pack_levels<kRule>, {work_.blocks()}, static_cast<Stream>(stream_of_caller),
           work_.batch());
  }
  void set_round(std::uint64_t round, void* stream_of_caller) override {
    work_.set_round(round, static_cast<Stream>(stream_of_caller));
  }
  std::int64_t scratch_bytes() const override { return work_.bytes(); }
  int launches() const override { return work_.measuring_launches() + 2; }

 private:
  static PackPlan plan_of(double parameter, const std::vector<LevelPackerTensor>& tensors) {
    std::vector<PackerTensor> packed;
    for (const LevelPackerTensor& tensor : tensors) {
      if (tensor.scale == nullptr) throw std::invalid_argument("a tensor lacks a pointer");
      PackerTensor one;
      one.gradient = tensor.gradient;
      one.residual = tensor.residual;
      one.elements = tensor.elements;
      one.seed = tensor.seed;
      one.packed = tensor.lanes;
      one.status = tensor.status;
      packed.push_back(one);
    }
    PackPlan plan = plan_pack<kRule>(parameter, packed);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      PackSegment& segment = plan.segments[i];
      segment.codes = tensors[i].lanes;  // scales are sent before, by themselves
      segment.scales = nullptr;
      segment.lanes_aligned = is_aligned(tensors[i].lanes);
      segment.shared_scale = tensors[i].scale;
    }
    return plan;
  }

  unsigned tensors_;
  PackWork<kRule> work_;
};

}  // namespace gradcast::GRADCAST_DEVICE
