// The functions of encoder.hpp, for the compiler that reads this: one source file of each includes
// it.
#pragma once
#include "kernels/device/decode.cuh"
#include "kernels/device/encoder.cuh"
#include "kernels/device/merge.cuh"
#include "kernels/device/momentum.cuh"

namespace gradcast::GRADCAST_DEVICE {

std::unique_ptr<Encoder> make_encoder(Rule rule, Mode mode,
                                      const std::vector<EncoderTensor>& tensors,
                                      const EncoderTuning& tuning, const Workspace& workspace) {
  return make_encoder_here(rule, mode, tensors, tuning, workspace);
}

std::unique_ptr<Decoder> make_decoder(const std::vector<DecoderTensor>& tensors,
                                      const Workspace& workspace) {
  return std::make_unique<DecoderHere>(tensors, workspace);
}

std::unique_ptr<Merger> make_merger(const MergedSets& sets, const Workspace& workspace) {
  return std::make_unique<MergerHere>(sets, workspace);
}

std::unique_ptr<Momentum> make_momentum(float momentum,
                                        const std::vector<MomentumTensor>& tensors) {
  return std::make_unique<MomentumHere>(momentum, tensors);
}

}  // namespace gradcast::GRADCAST_DEVICE
