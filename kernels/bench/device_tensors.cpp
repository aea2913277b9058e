#include "kernels/bench/device_tensors.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/definitions.hpp"

namespace gradcast {

DeviceTensors::DeviceTensors(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point,
                             bool exact)
    : DeviceInputs(queue, timer, point),
      queue_(queue),
      point_(point),
      room_begins_(places(exact ? point.wanted : point.tensors)),
      values_(queue, room_begins_.back()),
      indices_(queue, room_begins_.back()),
      counts_(queue, static_cast<std::int64_t>(point.tensors.size())),
      statuses_(queue, static_cast<std::int64_t>(point.tensors.size())),
      exact_(exact) {}

std::vector<EncoderTensor> DeviceTensors::describe() const {
  std::vector<EncoderTensor> tensors;
  for (std::size_t t = 0; t < point_.tensors.size(); ++t) {
    EncoderTensor tensor;
    tensor.gradient = gradient(t);
    tensor.residual = residual(t);
    tensor.elements = point_.tensors[t];
    tensor.k = point_.wanted[t];
    tensor.seed = point_.seed;
    tensor.values = values_.get() + room_begins_[t];
    tensor.indices = indices_.get() + room_begins_[t];
    tensor.capacity = exact_ ? point_.wanted[t] : point_.tensors[t];
    tensor.count = counts_.get() + t;
    tensor.status = statuses_.get() + t;
    if (!thresholds_.empty()) tensor.threshold = thresholds_[t];
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

void DeviceTensors::set_thresholds_by_values() {
  thresholds_.clear();
  for (const WorkerSets::Set& set : selected()) {
    Key least = set.values.empty() ? kInfinityKey : kLargestKey;
    for (const float value : set.values) least = std::min(least, magnitude_key(value));
    thresholds_.push_back(threshold_below(least));
  }
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
