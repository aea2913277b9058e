// Payloads of many workers, put together on a device: as the reference does, bit for bit.
#pragma once
#include "tests/kernels/on_device.hpp"
#include "tests/kernels/pack_cases.hpp"

namespace gradcast::cases {

/// A tensor's payloads of many workers, on a device. Some hold infinities and NaNs.
class DevicePayloads {
 public:
  DevicePayloads(Device& device, const Compressor& compressor, double parameter,
                 std::int64_t elements, int workers, ValueType type, std::size_t offset)
      : compressor_(compressor),
        parameter_(parameter),
        type_(type),
        dense_(device, static_cast<std::size_t>(elements), type, offset) {
    for (int w = 0; w < workers; ++w) {
      const auto seed = static_cast<std::uint32_t>(w);
      Vectors vectors = make_vectors(Input::normal, elements, seed);
      vectors.residual.clear();
      if (w % 2 == 1) vectors.gradient[static_cast<std::size_t>(elements / 3)] = INFINITY;
      if (w == 2) vectors.gradient[static_cast<std::size_t>(elements / 2)] = NAN;
      if (w == 3) vectors.gradient[static_cast<std::size_t>(elements / 3)] = -INFINITY;
      words_.push_back(pack_reference_answer(compressor, vectors, {parameter, seed}).words);
      payloads_.push_back(std::make_unique<Banded<std::uint32_t>>(
          device, words_.back().size(), 4 * static_cast<std::size_t>(w % 4)));
      payloads_.back()->set(words_.back());
    }
  }

  UnpackerTensor describe() {
    UnpackerTensor tensor{dense_.get(), static_cast<std::int64_t>(dense_.size()), {}};
    for (const auto& payload : payloads_) tensor.payloads.push_back(payload->get());
    tensor.factor = 1.0f / static_cast<float>(payloads_.size());
    return tensor;
  }

  void require_unpacked() {
    std::vector<float> expected(dense_.size());
    const std::vector<std::span<const std::uint32_t>> payloads(words_.begin(), words_.end());
    compressor_.packing->decode(payloads, parameter_, expected);
    for (float& value : expected) value *= 1.0f / static_cast<float>(payloads_.size());
    INFO("dense in " << name_of(type_));
    REQUIRE(first_difference(in_type(expected, type_), dense_.read()) == -1);
  }

 private:
  const Compressor& compressor_;
  double parameter_;
  ValueType type_;
  BandedNumbers dense_;
  std::vector<std::vector<std::uint32_t>> words_;
  std::vector<std::unique_ptr<Banded<std::uint32_t>>> payloads_;
};

/// Several tensors in one launch, at one parameter.
inline void check_unpack(Device& device, const Compressor& compressor, double parameter,
                         std::span<const std::int64_t> sizes, int workers) {
  INFO(compressor.name << " (" << parameter << "), " << workers << " workers");
  std::vector<std::unique_ptr<DevicePayloads>> tensors;
  std::vector<UnpackerTensor> described;
  for (const std::int64_t elements : sizes) {
    const std::size_t number = tensors.size();
    const ValueType type = kGradientTypes[number % 3];
    tensors.push_back(std::make_unique<DevicePayloads>(
        device, compressor, parameter, elements, workers, type,
        static_cast<std::size_t>(bytes_of_value(type)) * (number % 2)));
    described.push_back(tensors.back()->describe());
  }
  const auto unpacker = device.make_unpacker(compressor.packing->rule, parameter, described, {});
  unpacker->unpack(device.queue->stream());
  device.queue->wait();
  for (const auto& tensor : tensors) tensor->require_unpacked();
}

inline void check_every_unpack(Device& device, std::span<const std::int64_t> sizes) {
  for (const int workers : {1, 2, 3, 16})
    for (const Compressor* compressor : all_packers())
      for (const double parameter : parameters_of(*compressor))
        check_unpack(device, *compressor, parameter, sizes, workers);
  const Compressor& int8 = packer("int8");
  for (const double block : {33, 35, 100, 1000, 1025}) check_unpack(device, int8, block, sizes, 3);
  const Compressor& qsgd = packer("qsgd");
  for (double levels = 1; levels <= 32767; levels = 2 * levels + 1)
    check_unpack(device, qsgd, levels, sizes, 3);
}

}  // namespace gradcast::cases
