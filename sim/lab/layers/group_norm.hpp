// Normalises each group of channels of a sample to mean 0 and variance 1, then scales and shifts
// each channel. Wu and He, "Group Normalization", ECCV 2018, equations 1 to 6.
#pragma once
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

template <class Real>
class GroupNorm : public Layer<Real> {
 public:
  /// `groups` divides the channels.
  GroupNorm(Shape shape, int groups);
  /// A scale each channel, then a shift each.
  std::vector<ParameterTensor> parameters() const override;
  void forward(const Real* parameters, const Real* in, int samples, Real* out) override;
  void backward(const Real* parameters, const Real* in, const Real* out, const Real* d_out,
                int samples, Real* d_in, Real* d_parameters) override;

 private:
  int groups_;
  int channels_;                // of a group
  int plane_;                   // elements of a channel
  std::vector<Real> means_;     // of each sample's groups
  std::vector<Real> inverses_;  // 1 / standard deviation
};

}  // namespace gradcast::lab
