#include "kernels/bench/cpu_call.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/bench/worker_payloads.hpp"

namespace gradcast {
namespace {

/// First element of each tensor in the point's vectors, then the number of all.
std::vector<std::size_t> begins_of(const BenchPoint& point) {
  std::vector<std::size_t> begins{0};
  for (const std::int64_t elements : point.tensors)
    begins.push_back(begins.back() + static_cast<std::size_t>(elements));
  return begins;
}

class PackCall final : public CpuCall {
 public:
  PackCall(const Compressor& compressor, const BenchPoint& point)
      : compressor_(compressor), point_(point), begins_(begins_of(point)) {
    for (const std::int64_t elements : point.tensors)
      packed_.emplace_back(
          static_cast<std::size_t>(compressor.packing->words(elements, point.parameter)));
    dense_.resize(begins_.back());
  }

  void encode(std::span<const float> gradient, std::span<float> residual) override {
    const PackSettings settings{point_.parameter, point_.seed};
    for (std::size_t t = 0; t < packed_.size(); ++t) {
      const std::size_t elements = begins_[t + 1] - begins_[t];
      const std::span<float> kept =
          compressor_.feedback ? residual.subspan(begins_[t], elements) : std::span<float>();
      compressor_.packing->encode(gradient.subspan(begins_[t], elements), kept, settings,
                                  packed_[t]);
    }
  }

  void prepare_decode(int most_workers) override {
    const int distinct = distinct_payloads(*compressor_.packing, point_, most_workers);
    copies_.assign(static_cast<std::size_t>(distinct), packed_);
  }

  void decode(int workers, std::span<float> /*residual*/) override {
    std::vector<std::span<const std::uint32_t>> payloads(static_cast<std::size_t>(workers));
    for (std::size_t t = 0; t < packed_.size(); ++t) {
      for (std::size_t worker = 0; worker < payloads.size(); ++worker)
        payloads[worker] = copies_[worker % copies_.size()][t];
      compressor_.packing->decode(
          payloads, point_.parameter,
          std::span(dense_).subspan(begins_[t], begins_[t + 1] - begins_[t]));
    }
  }

  bool decodes_each_worker() const override { return true; }

 private:
  using Payload = std::vector<std::vector<std::uint32_t>>;  // of each tensor

  const Compressor& compressor_;
  const BenchPoint& point_;
  std::vector<std::size_t> begins_;
  Payload packed_;
  std::vector<Payload> copies_;
  std::vector<float> dense_;
};

/// Q is kept from call to call, as in training. The mean of the workers is what one of them sent.
class LowRankCall final : public CpuCall {
 public:
  LowRankCall(const Compressor& compressor, const BenchPoint& point)
      : definition_(*compressor.low_rank), begins_(begins_of(point)) {
    if (point.shapes.size() != point.tensors.size())
      throw std::logic_error("a point of PowerSGD has as many shapes as tensors");
    for (const MatrixShape& shape : point.shapes) {
      const LowRankSettings settings{shape, static_cast<std::int64_t>(point.parameter), point.mode,
                                     point.seed};
      const LowRankNumbers numbers = definition_.numbers(shape, settings.rank, settings.mode);
      tensors_.push_back({settings, static_cast<std::size_t>(shape.rows * shape.columns),
                          std::vector<float>(static_cast<std::size_t>(numbers.first)),
                          std::vector<float>(static_cast<std::size_t>(numbers.second))});
    }
    dense_.resize(begins_.back());
  }

  void encode(std::span<const float> gradient, std::span<float> residual) override {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      Tensor& tensor = tensors_[t];
      const std::span<float> u = residual.subspan(begins_[t], tensor.elements);
      definition_.first(gradient.subspan(begins_[t], tensor.elements), u, tensor.settings, tensor.q,
                        tensor.p);
      definition_.second(u, tensor.settings, tensor.p, tensor.q);
    }
  }

  void prepare_decode(int /*most_workers*/) override {}

  void decode(int /*workers*/, std::span<float> residual) override {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const Tensor& tensor = tensors_[t];
      definition_.finish(tensor.settings, tensor.p, tensor.q,
                         std::span(dense_).subspan(begins_[t], tensor.elements),
                         residual.subspan(begins_[t], tensor.elements));
    }
  }

  bool decodes_each_worker() const override { return false; }

 private:
  struct Tensor {
    LowRankSettings settings;
    std::size_t elements;  // of the matrix; the point's tensor may have a few more
    std::vector<float> p, q;
  };

  const LowRank& definition_;
  std::vector<std::size_t> begins_;
  std::vector<Tensor> tensors_;
  std::vector<float> dense_;
};

}  // namespace

std::unique_ptr<CpuCall> make_cpu_call(const Compressor& compressor, const BenchPoint& point) {
  if (compressor.packing != nullptr) return std::make_unique<PackCall>(compressor, point);
  if (compressor.low_rank != nullptr) return std::make_unique<LowRankCall>(compressor, point);
  return nullptr;
}

}  // namespace gradcast
