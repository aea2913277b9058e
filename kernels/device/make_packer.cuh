// The functions of packer.hpp, for the compiler that reads this: one source file of each includes
// it.
#pragma once
#include "kernels/device/packer.cuh"
#include "kernels/device/unpacker.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// Made<rule>(parameter, tensors), as `Base`.
template <template <PackRule> class Made, class Base, class Tensor>
std::unique_ptr<Base> make_of_rule(PackRule rule, double parameter,
                                   const std::vector<Tensor>& tensors) {
  switch (rule) {
    case PackRule::Fp16:
      return std::make_unique<Made<PackRule::Fp16>>(parameter, tensors);
    case PackRule::Bf16:
      return std::make_unique<Made<PackRule::Bf16>>(parameter, tensors);
    case PackRule::Qsgd:
      return std::make_unique<Made<PackRule::Qsgd>>(parameter, tensors);
    case PackRule::Int8:
      return std::make_unique<Made<PackRule::Int8>>(parameter, tensors);
    case PackRule::Terngrad:
      return std::make_unique<Made<PackRule::Terngrad>>(parameter, tensors);
    case PackRule::Natural:
      return std::make_unique<Made<PackRule::Natural>>(parameter, tensors);
    case PackRule::Signsgd:
      return std::make_unique<Made<PackRule::Signsgd>>(parameter, tensors);
    case PackRule::Efsignsgd:
      return std::make_unique<Made<PackRule::Efsignsgd>>(parameter, tensors);
    case PackRule::Onebit:
      return std::make_unique<Made<PackRule::Onebit>>(parameter, tensors);
  }
  throw std::invalid_argument("no such rule");
}

std::unique_ptr<Packer> make_packer(PackRule rule, double parameter,
                                    const std::vector<PackerTensor>& tensors) {
  return make_of_rule<PackerHere, Packer>(rule, parameter, tensors);
}

std::unique_ptr<Unpacker> make_unpacker(PackRule rule, double parameter,
                                        const std::vector<UnpackerTensor>& tensors) {
  return make_of_rule<UnpackerHere, Unpacker>(rule, parameter, tensors);
}

}  // namespace gradcast::GRADCAST_DEVICE
