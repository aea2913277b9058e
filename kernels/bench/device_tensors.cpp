#include "kernels/bench/device_tensors.hpp"

#include <numeric>

#include "kernels/bench/drift.hpp"

namespace gradcast {

DeviceTensors::DeviceTensors(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point,
                             bool exact)
    : queue_(queue),
      timer_(timer),
      point_(point),
      elements_(std::accumulate(point.tensors.begin(), point.tensors.end(), std::int64_t{0})),
      begins_(places(point.tensors)),
      room_begins_(places(exact ? point.wanted : point.tensors)),
      gradient_(queue, begins_.back()),
      pristine_(queue, begins_.back()),
      residual_(queue, begins_.back()),
      values_(queue, room_begins_.back()),
      indices_(queue, room_begins_.back()),
      counts_(queue, static_cast<std::int64_t>(point.tensors.size())),
      statuses_(queue, static_cast<std::int64_t>(point.tensors.size())),
      exact_(exact) {
  if (point.recorded)
    upload_zeros(pristine_);
  else
    timer.fill(pristine_.get(), begins_.back(), point.input, 2 * point.seed + 1, elements_);
  drift_to(0);
  queue.wait();
}

void DeviceTensors::drift_to(std::int64_t turn) {
  const auto [gradient_seed, scale] = drifted_input(point_.seed, turn);
  if (point_.recorded) {
    upload_recorded(scale);
    restore_residual();
    return;
  }
  timer_.fill(gradient_.get(), begins_.back(), point_.input, gradient_seed, elements_, scale);
  timer_.fill(residual_.get(), begins_.back(), point_.input, 2 * point_.seed + 1, elements_, scale);
}

void DeviceTensors::upload_zeros(DeviceArray<float>& to) {
  const std::vector<float> zeros(to.size(), 0.0f);
  queue_.upload(to.get(), zeros.data(), zeros.size() * sizeof(float));
}

/// Each tensor at its place; what lies between them is zero.
void DeviceTensors::upload_recorded(float scale) {
  std::vector<float> placed(gradient_.size(), 0.0f);
  const float* next = point_.recorded->u.data();
  for (std::size_t t = 0; t < point_.tensors.size(); ++t)
    for (std::int64_t i = 0; i < point_.tensors[t]; ++i)
      placed[static_cast<std::size_t>(begins_[t] + i)] = scale * *next++;
  queue_.upload(gradient_.get(), placed.data(), placed.size() * sizeof(float));
}

void DeviceTensors::restore_residual() {
  queue_.copy(residual_.get(), pristine_.get(), residual_.size() * sizeof(float));
}

std::vector<EncoderTensor> DeviceTensors::describe() const {
  std::vector<EncoderTensor> tensors;
  for (std::size_t t = 0; t < point_.tensors.size(); ++t) {
    EncoderTensor tensor;
    tensor.gradient = gradient_.get() + begins_[t];
    tensor.residual = residual_.get() + begins_[t];
    tensor.elements = point_.tensors[t];
    tensor.k = point_.wanted[t];
    tensor.seed = point_.seed;
    tensor.values = values_.get() + room_begins_[t];
    tensor.indices = indices_.get() + room_begins_[t];
    tensor.capacity = exact_ ? point_.wanted[t] : point_.tensors[t];
    tensor.count = counts_.get() + t;
    tensor.status = statuses_.get() + t;
    tensors.push_back(tensor);
  }
  return tensors;
}

std::vector<WorkerSets::Set> DeviceTensors::selected() const {
  const auto tensors = static_cast<std::int64_t>(point_.tensors.size());
  const auto counts = downloaded(queue_, counts_.get(), tensors);
  std::vector<WorkerSets::Set> sets;
  for (std::size_t t = 0; t < point_.tensors.size(); ++t)
    sets.push_back({downloaded(queue_, values_.get() + room_begins_[t], counts[t]),
                    downloaded(queue_, indices_.get() + room_begins_[t], counts[t])});
  return sets;
}

std::int64_t DeviceTensors::count() const {
  const auto counts =
      downloaded(queue_, counts_.get(), static_cast<std::int64_t>(point_.tensors.size()));
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::uint32_t DeviceTensors::status() const {
  std::uint32_t all = 0;
  for (const std::uint32_t status :
       downloaded(queue_, statuses_.get(), static_cast<std::int64_t>(point_.tensors.size())))
    all |= status;
  return all;
}

void DeviceTensors::set_counts(const std::vector<std::int64_t>& counts) {
  queue_.upload(counts_.get(), counts.data(), counts.size() * sizeof(counts[0]));
  const std::vector<std::uint32_t> none(counts.size(), 0);
  queue_.upload(statuses_.get(), none.data(), none.size() * sizeof(none[0]));
}

}  // namespace gradcast
