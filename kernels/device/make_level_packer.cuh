// The functions of level_packer.hpp, for the compiler that reads this: one source file of each
// includes it.
#pragma once
#include "kernels/device/level_packer.cuh"
#include "kernels/device/level_unpacker.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Made<rule>(parameter, workers, tensors), as `Base`.
template <template <PackRule> class Made, class Base, class Tensor>
std::unique_ptr<Base> make_of_levels(PackRule rule, double parameter, std::int64_t workers,
                                     const std::vector<Tensor>& tensors,
                                     const Workspace& workspace) {
  if (rule == PackRule::Qsgd)
    return std::make_unique<Made<PackRule::Qsgd>>(parameter, workers, tensors, workspace);
  if (rule == PackRule::Terngrad)
    return std::make_unique<Made<PackRule::Terngrad>>(parameter, workers, tensors, workspace);
  throw std::invalid_argument("the rule has no levels that add up");
}

std::unique_ptr<LevelPacker> make_level_packer(PackRule rule, double parameter,
                                               std::int64_t workers,
                                               const std::vector<LevelPackerTensor>& tensors,
                                               const Workspace& workspace) {
  return make_of_levels<LevelPackerHere, LevelPacker>(rule, parameter, workers, tensors, workspace);
}

std::unique_ptr<LevelUnpacker> make_level_unpacker(PackRule rule, double parameter,
                                                   std::int64_t workers,
                                                   const std::vector<LevelUnpackerTensor>& tensors,
                                                   const Workspace& workspace) {
  return make_of_levels<LevelUnpackerHere, LevelUnpacker>(rule, parameter, workers, tensors,
                                                          workspace);
}

}  // namespace gradcast::GRADCAST_DEVICE
