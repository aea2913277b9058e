// Sparse sets of many workers, added up on a device: as the reference does, bit for bit.
#pragma once
#include "tests/kernels/on_device.hpp"

namespace gradcast::cases {

/// Sets of many workers for a tensor, on a device. They have unequal sizes, some are empty, one has
/// an index outside, and values have every type.
class DeviceSets {
 public:
  DeviceSets(Device& device, std::int64_t elements, int workers, ValueType type)
      : type_(type), dense_(device, static_cast<std::size_t>(elements), type) {
    for (int w = 0; w < workers; ++w) {
      const Vectors vectors = make_vectors(Input::normal, elements, static_cast<std::uint32_t>(w));
      const Selection selection{w % 5 == 2 ? 0 : 1 + (w * 37) % 400, Mode::Only, 0, 0};
      types_.push_back(w % 3 == 0   ? ValueType::Fp32
                       : w % 3 == 1 ? ValueType::Fp16
                                    : ValueType::Bf16);
      answers_.push_back(reference_answer({find_compressor("topk"), Mode::Only}, vectors, selection,
                                          -1, types_.back()));
      if (w == 1) {  // as from a broken message
        answers_.back().indices.push_back(static_cast<std::int32_t>(elements + 3));
        answers_.back().values.push_back(1.0f);
      }
    }
    for (std::size_t w = 0; w < answers_.size(); ++w) {
      const Answer& answer = answers_[w];
      sets_.push_back({answer.values, answer.indices});
      std::vector<std::uint16_t> codes;
      if (types_[w] != ValueType::Fp32)
        for (const float value : answer.values) codes.push_back(code_of_value(types_[w], value));
      codes_.push_back(std::make_unique<Banded<std::uint16_t>>(device, codes.size()));
      codes_.back()->set(codes);
      const std::vector<float> values = codes.empty() ? answer.values : std::vector<float>();
      values_.push_back(std::make_unique<Banded<float>>(device, values.size()));
      values_.back()->set(values);
      indices_.push_back(std::make_unique<Banded<std::int32_t>>(device, answer.indices.size()));
      indices_.back()->set(answer.indices);
      counts_.push_back(std::make_unique<Banded<std::int64_t>>(device, 1));
      counts_.back()->set({static_cast<std::int64_t>(answer.values.size())});
    }
  }

  DecoderTensor describe() {
    DecoderTensor tensor{dense_.get(), static_cast<std::int64_t>(dense_.size()), {}};
    for (std::size_t w = 0; w < sets_.size(); ++w)
      tensor.sets.push_back(
          {values_[w]->get(), indices_[w]->get(), counts_[w]->get(), types_[w], codes_[w]->get()});
    tensor.factor = factor();
    return tensor;
  }

  void require_decoded() {
    std::vector<float> expected(dense_.size());
    decode(sets_, expected);
    for (float& value : expected) value *= factor();
    INFO("dense in " << name_of(type_));
    REQUIRE(first_difference(in_type(expected, type_), dense_.read()) == -1);
  }

 private:
  /// A mean.
  float factor() const { return 1.0f / static_cast<float>(sets_.size()); }

  ValueType type_;
  BandedNumbers dense_;
  std::vector<Answer> answers_;
  std::vector<ValueType> types_;
  std::vector<SparseSet> sets_;
  std::vector<std::unique_ptr<Banded<std::uint16_t>>> codes_;
  std::vector<std::unique_ptr<Banded<float>>> values_;
  std::vector<std::unique_ptr<Banded<std::int32_t>>> indices_;
  std::vector<std::unique_ptr<Banded<std::int64_t>>> counts_;
};

/// Several tensors in one launch, for few workers and for more than a block has threads.
inline void check_decode(Device& device) {
  for (const int workers : {1, 3, 16, 300}) {
    INFO(workers << " workers");
    std::vector<std::unique_ptr<DeviceSets>> tensors;
    std::vector<DecoderTensor> described;
    for (const std::int64_t elements : {1, 8192, 30'001, 700}) {
      tensors.push_back(std::make_unique<DeviceSets>(device, elements, workers,
                                                     kGradientTypes[tensors.size() % 3]));
      described.push_back(tensors.back()->describe());
    }
    device.make_decoder(described, {})->decode(device.queue->stream());
    device.queue->wait();
    for (const auto& tensor : tensors) tensor->require_decoded();
  }
}

}  // namespace gradcast::cases
