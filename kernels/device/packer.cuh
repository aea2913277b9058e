// A packer: the launches of one pack.
#pragma once
#include <memory>

#include "kernels/device/pack.cuh"
#include "kernels/device/pack_blocks.cuh"
#include "kernels/device/pack_work.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// The kernel that codes. Rules with scales of blocks have one of their own.
template <PackRule kRule>
auto packing_kernel() {
  if constexpr (kRule == PackRule::Int8)
    return pack_blocks<kRule>;
  else
    return pack<kRule>;
}

template <PackRule kRule>
class PackerHere final : public Packer {
 public:
  PackerHere(double parameter, const std::vector<PackerTensor>& tensors, const Workspace& workspace)
      : work_(parameter, PackTraits<kRule>::bits(parameter), plan_pack<kRule>(parameter, tensors),
              workspace) {
    load_kernel(packing_kernel<kRule>());
  }

  void pack(void* stream_of_caller) override {
    const auto on = static_cast<Stream>(stream_of_caller);
    work_.measure(on);
    launch(packing_kernel<kRule>(), {work_.blocks()}, on, work_.batch());
  }
  void set_round(std::uint64_t round, void* stream_of_caller) override {
    work_.set_round(round, static_cast<Stream>(stream_of_caller));
  }
  std::int64_t scratch_bytes() const override { return work_.bytes(); }
  int launches() const override { return work_.measuring_launches() + 1; }

 private:
  PackWork<kRule> work_;
};

}  // namespace gradcast::GRADCAST_DEVICE
