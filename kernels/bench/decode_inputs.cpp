#include "kernels/bench/decode_inputs.hpp"

namespace gradcast {
namespace {

template <class T>
std::unique_ptr<DeviceArray<T>> uploaded(DeviceQueue& queue, const std::vector<T>& from) {
  auto array = std::make_unique<DeviceArray<T>>(queue, static_cast<std::int64_t>(from.size()));
  if (!from.empty()) queue.upload(array->get(), from.data(), from.size() * sizeof(T));
  return array;
}

}  // namespace

DecodeInputs::DecodeInputs(DeviceQueue& queue, const BenchPoint& point, const WorkerSets& sets)
    : point_(point),
      distinct_(sets.distinct()),
      dense_begins_(places(point.tensors)),
      dense_(queue, dense_begins_.back()) {
  std::vector<float> values;
  std::vector<std::int32_t> indices;
  std::vector<std::int64_t> counts;
  for (std::size_t t = 0; t < point.tensors.size(); ++t)
    for (int worker = 0; worker < distinct_; ++worker) {
      const WorkerSets::Set& set = sets.of(t, worker);
      begins_.push_back(values.size());
      counts.push_back(static_cast<std::int64_t>(set.values.size()));
      values.insert(values.end(), set.values.begin(), set.values.end());
      indices.insert(indices.end(), set.indices.begin(), set.indices.end());
    }
  values_ = uploaded(queue, values);
  indices_ = uploaded(queue, indices);
  counts_ = uploaded(queue, counts);
}

std::vector<DecoderTensor> DecodeInputs::describe(int workers) const {
  std::vector<DecoderTensor> tensors;
  for (std::size_t t = 0; t < point_.tensors.size(); ++t) {
    DecoderTensor tensor{dense_.get() + dense_begins_[t], point_.tensors[t], {}};
    for (int worker = 0; worker < workers; ++worker) {
      const std::size_t which =
          t * static_cast<std::size_t>(distinct_) + static_cast<std::size_t>(worker % distinct_);
      tensor.sets.push_back({values_->get() + begins_[which], indices_->get() + begins_[which],
                             counts_->get() + which});
    }
    tensors.push_back(tensor);
  }
  return tensors;
}

}  // namespace gradcast
