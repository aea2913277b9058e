// The functions of packer.hpp, for the compiler that reads this: one source file of each includes
// it.
#pragma once
#include "kernels/device/packer.cuh"
#include "kernels/device/unpacker.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Made<rule>(parameter, tensors), as `Base`.
template <template <PackRule> class Made, class Base, class Tensor>
std::unique_ptr<Base> make_of_rule(PackRule rule, double parameter,
                                   const std::vector<Tensor>& tensors, const Workspace& workspace) {
  switch (rule) {
    case PackRule::Fp16:
      return std::make_unique<Made<PackRule::Fp16>>(parameter, tensors, workspace);
    case PackRule::Bf16:
      return std::make_unique<Made<PackRule::Bf16>>(parameter, tensors, workspace);
    case PackRule::Qsgd:
      return std::make_unique<Made<PackRule::Qsgd>>(parameter, tensors, workspace);
    case PackRule::Int8:
      return std::make_unique<Made<PackRule::Int8>>(parameter, tensors, workspace);
    case PackRule::Terngrad:
      return std::make_unique<Made<PackRule::Terngrad>>(parameter, tensors, workspace);
    case PackRule::Natural:
      return std::make_unique<Made<PackRule::Natural>>(parameter, tensors, workspace);
    case PackRule::Signsgd:
      return std::make_unique<Made<PackRule::Signsgd>>(parameter, tensors, workspace);
    case PackRule::Efsignsgd:
      return std::make_unique<Made<PackRule::Efsignsgd>>(parameter, tensors, workspace);
    case PackRule::Onebit:
      return std::make_unique<Made<PackRule::Onebit>>(parameter, tensors, workspace);
  }
  throw std::invalid_argument("no such rule");
}

std::unique_ptr<Packer> make_packer(PackRule rule, double parameter,
                                    const std::vector<PackerTensor>& tensors,
                                    const Workspace& workspace) {
  return make_of_rule<PackerHere, Packer>(rule, parameter, tensors, workspace);
}

std::unique_ptr<Unpacker> make_unpacker(PackRule rule, double parameter,
                                        const std::vector<UnpackerTensor>& tensors,
                                        const Workspace& workspace) {
  return make_of_rule<UnpackerHere, Unpacker>(rule, parameter, tensors, workspace);
}

}  // namespace gradcast::GRADCAST_DEVICE
