#include "kernels/bench/device_low_rank.hpp"

#include <stdexcept>

namespace gradcast {
namespace {

std::vector<std::int64_t> numbers_of(const BenchPoint& point, std::int64_t LowRankNumbers::*which) {
  if (point.shapes.size() != point.tensors.size())
    throw std::logic_error("a point of PowerSGD has as many shapes as tensors");
  std::vector<std::int64_t> numbers;
  for (const MatrixShape& shape : point.shapes)
    numbers.push_back(
        low_rank_numbers(shape, static_cast<std::int64_t>(point.parameter), point.mode).*which);
  return numbers;
}

}  // namespace

DeviceLowRank::DeviceLowRank(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point)
    : DeviceInputs(queue, timer, point),
      point_(point),
      p_begins_(places(numbers_of(point, &LowRankNumbers::first))),
      q_begins_(places(numbers_of(point, &LowRankNumbers::second))),
      dense_begins_(places(point.tensors)),
      p_(queue, p_begins_.back()),
      q_(queue, q_begins_.back()),
      dense_(queue, dense_begins_.back()),
      statuses_(queue, static_cast<std::int64_t>(point.tensors.size())) {
  const std::vector<float> zeros(q_.size(), 0.0f);
  queue.upload(q_.get(), zeros.data(), zeros.size() * sizeof(float));
}

std::vector<LowRankTensor> DeviceLowRank::describe() const {
  std::vector<LowRankTensor> tensors;
  for (std::size_t t = 0; t < point_.tensors.size(); ++t) {
    LowRankTensor tensor;
    tensor.gradient = gradient(t);
    tensor.residual = residual(t);
    tensor.shape = point_.shapes[t];
    tensor.seed = point_.seed;
    tensor.p = p_.get() + p_begins_[t];
    tensor.q = q_.get() + q_begins_[t];
    tensor.dense = dense_.get() + dense_begins_[t];
    tensor.status = statuses_.get() + t;
    tensors.push_back(tensor);
  }
  return tensors;
}

}  // namespace gradcast
