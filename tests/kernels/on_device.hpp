// Tensors on a device, with a watch on the memory beside them, and one encode of one of them.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>

#include "kernels/device_memory.hpp"
#include "kernels/encoder.hpp"
#include "kernels/level_packer.hpp"
#include "kernels/low_rank_encoder.hpp"
#include "kernels/packer.hpp"
#include "tests/kernels/cases.hpp"

namespace gradcast::cases {

struct Device {
  std::unique_ptr<DeviceQueue> queue;
  decltype(&on_cuda::make_encoder) make_encoder;
  decltype(&on_cuda::make_decoder) make_decoder;
  decltype(&on_cuda::make_packer) make_packer = nullptr;
  decltype(&on_cuda::make_unpacker) make_unpacker = nullptr;
  decltype(&on_cuda::make_low_rank_encoder) make_low_rank_encoder = nullptr;
  decltype(&on_cuda::make_level_packer) make_level_packer = nullptr;
  decltype(&on_cuda::make_level_unpacker) make_level_unpacker = nullptr;
  decltype(&on_cuda::make_merger) make_merger = nullptr;
  decltype(&on_cuda::make_momentum) make_momentum = nullptr;
};

/// Memory of a device with a band of 64 poisoned bytes on each side, at a chosen offset from its
/// alignment.
template <class T>
class Banded {
 public:
  Banded(Device& device, std::size_t count, std::size_t offset_bytes = 0)
      : device_(device),
        count_(count),
        offset_(kBand + offset_bytes),
        bytes_(offset_ + count * sizeof(T) + kBand) {
    memory_ = static_cast<std::byte*>(device.queue->allocate(bytes_));
    const std::vector<std::byte> poison(bytes_, kPoison);
    device.queue->upload(memory_, poison.data(), bytes_);
  }
  ~Banded() { device_.queue->release(memory_); }
  Banded(const Banded&) = delete;
  Banded& operator=(const Banded&) = delete;

  T* get() { return reinterpret_cast<T*>(memory_ + offset_); }
  std::size_t size() const { return count_; }
  void set(const std::vector<T>& from) {
    REQUIRE(from.size() == count_);
    device_.queue->upload(get(), from.data(), count_ * sizeof(T));
  }
  std::vector<T> read() {
    std::vector<std::byte> all(bytes_);
    device_.queue->download(all.data(), memory_, bytes_);
    const auto poisoned = [](std::byte b) { return b == kPoison; };
    const auto end = static_cast<std::ptrdiff_t>(offset_ + count_ * sizeof(T));
    const bool bands_whole =
        std::all_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(offset_), poisoned) &&
        std::all_of(all.begin() + end, all.end(), poisoned);
    REQUIRE(bands_whole);  // nobody wrote beside the memory
    std::vector<T> content(count_);
    if (count_ > 0) std::memcpy(content.data(), all.data() + offset_, count_ * sizeof(T));
    return content;
  }

 private:
  static constexpr std::size_t kBand = 64;
  static constexpr std::byte kPoison{0xEE};
  Device& device_;
  std::size_t count_;
  std::size_t offset_;
  std::size_t bytes_;
  std::byte* memory_;
};

/// A gradient on a device, in any type. Numbers of 16 bits are set rounded, and read as floats.
class BandedNumbers {
 public:
  BandedNumbers(Device& device, std::size_t count, ValueType type, std::size_t offset_bytes = 0)
      : type_(type),
        floats_(device, type == ValueType::Fp32 ? count : 0, offset_bytes),
        codes_(device, type == ValueType::Fp32 ? 0 : count, offset_bytes) {}

  std::size_t size() const { return std::max(floats_.size(), codes_.size()); }
  Numbers get() {
    return type_ == ValueType::Fp32 ? Numbers(floats_.get()) : Numbers(codes_.get(), type_);
  }
  ConstNumbers read_only() { return {get().first, type_}; }
  void set(const std::vector<float>& from) {
    if (type_ == ValueType::Fp32) return floats_.set(from);
    std::vector<std::uint16_t> codes(from.size());
    std::transform(from.begin(), from.end(), codes.begin(),
                   [&](float value) { return code_of_value(type_, value); });
    codes_.set(codes);
  }
  std::vector<float> read() {
    std::vector<float> values = floats_.read();
    for (const std::uint16_t code : codes_.read()) values.push_back(value_of_code(type_, code));
    return values;
  }

 private:
  ValueType type_;
  Banded<float> floats_;
  Banded<std::uint16_t> codes_;
};

/// Numbers as a type holds them.
inline std::vector<float> in_type(std::vector<float> values, ValueType type) {
  for (float& value : values) value = as_sent(type, value);
  return values;
}

/// A type of gradients for a case of this number: fp32 in one of two, else one of 16 bits.
inline ValueType gradient_type_of(std::uint64_t number) {
  switch (mix_bits(static_cast<std::uint32_t>(number) + 77) % 4) {
    case 0:
      return ValueType::Fp16;
    case 1:
      return ValueType::Bf16;
    default:
      return ValueType::Fp32;
  }
}

inline constexpr ValueType kGradientTypes[] = {ValueType::Fp32, ValueType::Fp16, ValueType::Bf16};

/// The types of a sparsifier's tensor.
struct Types {
  ValueType values = ValueType::Fp32;
  ValueType gradient = ValueType::Fp32;
};

/// Bytes by which a tensor's memory is off its alignment.
struct Offsets {
  std::size_t gradient = 0;
  std::size_t residual = 0;
};

/// A tensor with its outputs on a device.
class DeviceTensor {
 public:
  DeviceTensor(Device& device, const Vectors& vectors, const Selection& selection,
               std::int64_t capacity = -1, const Offsets& offsets = {}, const Types& types = {})
      : gradient_(device, vectors.gradient.size(), types.gradient, offsets.gradient),
        residual_(device, vectors.residual.size(), offsets.residual),
        values_(device, types.values == ValueType::Fp32 ? room(vectors, capacity) : 0),
        codes_(device, types.values == ValueType::Fp32 ? 0 : room(vectors, capacity)),
        indices_(device, room(vectors, capacity)),
        count_(device, 1),
        status_(device, 1),
        selection_(selection),
        type_(types.values) {
    gradient_.set(vectors.gradient);
    residual_.set(vectors.residual);
  }

  EncoderTensor describe() {
    EncoderTensor tensor;
    tensor.gradient = gradient_.read_only();
    tensor.residual = residual_.get();
    tensor.elements = static_cast<std::int64_t>(gradient_.size());
    tensor.k = selection_.k;
    tensor.seed = selection_.seed;
    tensor.candidates = selection_.candidates;
    tensor.threshold = selection_.threshold;
    tensor.value_type = type_;
    tensor.values = type_ == ValueType::Fp32 ? values_.get() : nullptr;
    tensor.codes = type_ == ValueType::Fp32 ? nullptr : codes_.get();
    tensor.indices = indices_.get();
    tensor.capacity = static_cast<std::int64_t>(indices_.size());
    tensor.count = count_.get();
    tensor.status = status_.get();
    return tensor;
  }

  void set_gradient(const std::vector<float>& gradient) { gradient_.set(gradient); }
  void set_residual(const std::vector<float>& residual) { residual_.set(residual); }

  Answer answer() {
    Answer answer{
        {count_.read()[0], status_.read()[0]}, values_.read(), indices_.read(), residual_.read()};
    gradient_.read();  // its bands
    for (const std::uint16_t code : codes_.read())
      answer.values.push_back(value_of_code(type_, code));
    REQUIRE(answer.encoded.count >= 0);
    REQUIRE(answer.encoded.count <= static_cast<std::int64_t>(answer.values.size()));
    answer.values.resize(static_cast<std::size_t>(answer.encoded.count));
    answer.indices.resize(static_cast<std::size_t>(answer.encoded.count));
    return answer;
  }

 private:
  static std::size_t room(const Vectors& vectors, std::int64_t capacity) {
    return capacity < 0 ? vectors.gradient.size() : static_cast<std::size_t>(capacity);
  }
  BandedNumbers gradient_;
  Banded<float> residual_, values_;
  Banded<std::uint16_t> codes_;
  Banded<std::int32_t> indices_;
  Banded<std::int64_t> count_;
  Banded<std::uint32_t> status_;
  Selection selection_;
  ValueType type_;
};

inline Answer device_answer(Device& device, const Method& method, const Vectors& vectors,
                            const Selection& selection, const EncoderTuning& tuning = {},
                            std::int64_t capacity = -1, const Offsets& offsets = {},
                            const Types& types = {}) {
  DeviceTensor tensor(device, vectors, selection, capacity, offsets, types);
  const auto encoder =
      device.make_encoder(method.compressor->rule, method.mode, {tensor.describe()}, tuning, {});
  encoder->encode(device.queue->stream());
  device.queue->wait();
  return tensor.answer();
}

}  // namespace gradcast::cases
