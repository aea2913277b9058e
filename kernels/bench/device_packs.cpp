#include "kernels/bench/device_packs.hpp"

#include "kernels/bench/payloads.hpp"

namespace gradcast {
namespace {

std::vector<std::int64_t> words_of(const Packing& packing, const BenchPoint& point) {
  std::vector<std::int64_t> words;
  for (const std::int64_t elements : point.tensors)
    words.push_back(packing.words(elements, point.parameter));
  return words;
}

}  // namespace

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
    UnpackerTensor tensor{dense_->get() + dense_begins_[t], point_.tensors[t], {}};
    for (std::size_t worker = 0; worker < static_cast<std::size_t>(workers); ++worker)
      tensor.payloads.push_back(copies_[worker % copies_.size()]->get() + payload_begins_[t]);
    tensors.push_back(tensor);
  }
  return tensors;
}

}  // namespace gradcast
