#include "kernels/bench/device_inputs.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernels/bench/drift.hpp"
#include "kernels/bench/worker_payloads.hpp"
#include "kernels/definitions.hpp"

namespace gradcast {
namespace {

std::vector<std::int64_t> words_of(const Packing& packing, const BenchPoint& point) {
  std::vector<std::int64_t> words;
  for (const std::int64_t elements : point.tensors)
    words.push_back(packing.words(elements, point.parameter));
  return words;
}

std::vector<std::int64_t> numbers_of(const BenchPoint& point, std::int64_t LowRankNumbers::*which) {
  if (point.shapes.size() != point.tensors.size())
    throw std::logic_error("a point of PowerSGD has as many shapes as tensors");
  std::vector<std::int64_t> numbers;
  for (const MatrixShape& shape : point.shapes)
    numbers.push_back(
        low_rank_numbers(shape, static_cast<std::int64_t>(point.parameter), point.mode).*which);
  return numbers;
}

template <class T>
std::unique_ptr<DeviceArray<T>> uploaded(DeviceQueue& queue, const std::vector<T>& from) {
  auto array = std::make_unique<DeviceArray<T>>(queue, static_cast<std::int64_t>(from.size()));
  if (!from.empty()) queue.upload(array->get(), from.data(), from.size() * sizeof(T));
  return array;
}

}  // namespace

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
  timer_.fill(numbers_at(gradient_.get(), 0, point_.input_type), begins_.back(), point_.input,
              gradient_seed, elements_, scale);
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
  if (point_.input_type == ValueType::Fp32) {
    queue_.upload(gradient_.get(), placed.data(), placed.size() * sizeof(float));
    return;
  }
  std::vector<std::uint16_t> codes(placed.size());
  std::transform(placed.begin(), placed.end(), codes.begin(),
                 [&](float value) { return code_of_value(point_.input_type, value); });
  queue_.upload(gradient_.get(), codes.data(), codes.size() * sizeof(codes[0]));
}

void DeviceInputs::restore_residual() {
  queue_.copy(residual_.get(), pristine_.get(), residual_.size() * sizeof(float));
}

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

DevicePacks::DevicePacks(DeviceQueue& queue, GpuTimer& timer, const BenchPoint& point,
                         const Compressor& compressor)
    : DeviceInputs(queue, timer, point),
      queue_(queue),
      point_(point),
      compressor_(compressor),
      payload_begins_(places(words_of(*compressor.packing, point))),
      packed_(queue, payload_begins_.back()),
      statuses_(queue, static_cast<std::int64_t>(point.tensors.size())),
      dense_begins_(places(point.tensors)) {}

std::vector<PackerTensor> DevicePacks::describe() const {
  std::vector<PackerTensor> tensors;
  for (std::size_t t = 0; t < point_.tensors.size(); ++t) {
    PackerTensor tensor;
    tensor.gradient = gradient(t);
    tensor.residual = compressor_.feedback ? residual(t) : nullptr;
    tensor.elements = point_.tensors[t];
    tensor.seed = point_.seed;
    tensor.packed = packed_.get() + payload_begins_[t];
    tensor.status = statuses_.get() + t;
    tensors.push_back(tensor);
  }
  return tensors;
}

void DevicePacks::prepare_unpack(int most_workers) {
  const int distinct = distinct_payloads(*compressor_.packing, point_, most_workers);
  for (int copy = 0; copy < distinct; ++copy) {
    copies_.push_back(std::make_unique<DeviceArray<std::uint32_t>>(queue_, payload_begins_.back()));
    queue_.copy(copies_.back()->get(), packed_.get(), packed_.size() * sizeof(std::uint32_t));
  }
  dense_ = std::make_unique<DeviceArray<float>>(queue_, dense_begins_.back());
  queue_.wait();
}

std::vector<UnpackerTensor> DevicePacks::describe_unpack(int workers) const {
  std::vector<UnpackerTensor> tensors;
  for (std::size_t t = 0; t < point_.tensors.size(); ++t) {
    UnpackerTensor tensor{
        numbers_at(dense_->get(), dense_begins_[t], point_.input_type), point_.tensors[t], {}};
    for (std::size_t worker = 0; worker < static_cast<std::size_t>(workers); ++worker)
      tensor.payloads.push_back(copies_[worker % copies_.size()]->get() + payload_begins_[t]);
    tensors.push_back(tensor);
  }
  return tensors;
}

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
    tensor.dense = numbers_at(dense_.get(), dense_begins_[t], point_.input_type);
    tensor.status = statuses_.get() + t;
    tensors.push_back(tensor);
  }
  return tensors;
}

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
    DecoderTensor tensor{
        numbers_at(dense_.get(), dense_begins_[t], point_.input_type), point_.tensors[t], {}};
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
