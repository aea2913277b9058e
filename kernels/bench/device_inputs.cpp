#include "kernels/bench/device_inputs.hpp"

#include <numeric>

#include "kernels/bench/drift.hpp"

namespace gradcast {

DeviceInputs::DeviceInputs(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point)
    : queue_(queue),
      timer_(timer),
      point_(point),
      elements_(std::accumulate(point.tensors.begin(), point.tensors.end(), std::int64_t{0})),
      begins_(places(point.tensors)),
      gradient_(queue, begins_.back()),
      pristine_(queue, begins_.back()),
      residual_(queue, begins_.back()) {
  if (point.recorded)
    upload_zeros(pristine_);
  else
    timer.fill(pristine_.get(), begins_.back(), point.input, 2 * point.seed + 1, elements_);
  drift_to(0);
  queue.wait();
}

void DeviceInputs::drift_to(std::int64_t turn) {
  const auto [gradient_seed, scale] = drifted_input(point_.seed, turn);
  if (point_.recorded) {
    upload_recorded(scale);
    restore_residual();
    return;
  }
  timer_.fill(gradient_.get(), begins_.back(), point_.input, gradient_seed, elements_, scale);
  timer_.fill(residual_.get(), begins_.back(), point_.input, 2 * point_.seed + 1, elements_, scale);
}

void DeviceInputs::upload_zeros(DeviceArray<float>& to) {
  const std::vector<float> zeros(to.size(), 0.0f);
  queue_.upload(to.get(), zeros.data(), zeros.size() * sizeof(float));
}

/// Each tensor at its place; what lies between them is zero.
void DeviceInputs::upload_recorded(float scale) {
  std::vector<float> placed(gradient_.size(), 0.0f);
  const float* next = point_.recorded->u.data();
  for (std::size_t t = 0; t < point_.tensors.size(); ++t)
    for (std::int64_t i = 0; i < point_.tensors[t]; ++i)
      placed[static_cast<std::size_t>(begins_[t] + i)] = scale * *next++;
  queue_.upload(gradient_.get(), placed.data(), placed.size() * sizeof(float));
}

void DeviceInputs::restore_residual() {
  queue_.copy(residual_.get(), pristine_.get(), residual_.size() * sizeof(float));
}

}  // namespace gradcast
