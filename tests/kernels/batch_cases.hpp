// Lists of tensors in one set of launches: each is encoded as it is alone.
#pragma once
#include <random>

#include "tests/kernels/on_device.hpp"

namespace gradcast::cases {

/// A model's tensors in one set of launches: as each alone.
inline void check_batches(Device& device) {
  const std::vector<std::int64_t> sizes{64,   9408, 1,      70'000, 8192,
                                        8193, 2048, 33'000, 2'359,  40'000};
  for (const Method& method : all_methods()) {
    std::vector<std::unique_ptr<DeviceTensor>> tensors;
    std::vector<EncoderTensor> described;
    std::vector<Answer> expected;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const NamedInput input = kInputs[(3 * i) % std::size(kInputs)];
      const Vectors vectors = make_vectors(input.input, sizes[i], static_cast<std::uint32_t>(i));
      // Nothing and everything are wanted of two of them.
      const std::int64_t k = i == 3   ? 0
                             : i == 7 ? sizes[i]
                                      : std::max<std::int64_t>(1, sizes[i] / 100);
      const Selection selection = selection_of(method, vectors, k, 1000 + i);
      expected.push_back(reference_answer(method, vectors, selection));
      tensors.push_back(std::make_unique<DeviceTensor>(device, vectors, selection));
      described.push_back(tensors.back()->describe());
    }
    const auto encoder =
        device.make_encoder(method.compressor->rule, method.mode, described, {}, {});
    CHECK(encoder->launches() <= 4);
    encoder->encode(device.queue->stream());
    device.queue->wait();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      INFO(name_of(method) << ", tensor " << i << " of " << sizes[i] << " elements");
      require_same(expected[i], tensors[i]->answer());
    }
  }
}

/// Many tensors to a block (more than its notes fit in shared memory) and many blocks to a tensor,
/// some of them without groups: as each tensor alone, also where all of u is searched.
inline void check_shares(Device& device) {
  std::vector<std::int64_t> sizes{9000, 16'385, 70'000, 8193, 20'001};
  sizes.resize(20, 8200);
  const EncoderTuning tunings[] = {{0, {}, 2}, {0, {}, 40}};
  for (const Method& method : all_methods())
    for (const EncoderTuning& tuning : tunings) {
      std::vector<std::unique_ptr<DeviceTensor>> tensors;
      std::vector<EncoderTensor> described;
      std::vector<Answer> expected;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const Vectors vectors = make_vectors(i % 3 == 2 ? Input::ties : Input::laplace, sizes[i],
                                             static_cast<std::uint32_t>(i));
        const Selection selection =
            selection_of(method, vectors, sizes[i] / (i % 4 == 1 ? 3 : 50), 100 + i);
        expected.push_back(reference_answer(method, vectors, selection));
        tensors.push_back(std::make_unique<DeviceTensor>(device, vectors, selection));
        described.push_back(tensors.back()->describe());
      }
      device.make_encoder(method.compressor->rule, method.mode, described, tuning, {})
          ->encode(device.queue->stream());
      device.queue->wait();
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        INFO(name_of(method) << ", " << tuning.finish_blocks << " blocks, tensor " << i);
        require_same(expected[i], tensors[i]->answer());
      }
    }
}

/// One of many lists of tensors, tunings and changes from round to round, drawn from a seed.
class RandomBatch {
 public:
  RandomBatch(Device& device, unsigned seed, int most_tensors)
      : device_(device), random_(seed), method_(all_methods()[seed % all_methods().size()]) {
    EncoderTuning tuning;
    if (one_in(2)) tuning.slots = 1 << draw(0, 8);
    if (one_in(3))
      tuning.first_threshold = std::vector<Key>{0, 1, 0x3a000000u, kLargestKey}[draw(0, 3)];
    tuning.finish_blocks = static_cast<int>(draw(0, 40));
    const int tensors = one_in(4) ? 1 : static_cast<int>(draw(1, most_tensors));
    std::vector<EncoderTensor> described;
    for (int i = 0; i < tensors; ++i) described.push_back(add_tensor());
    encoder_ = device.make_encoder(method_.compressor->rule, method_.mode, described, tuning, {});
  }

  void check_round(std::uint64_t round) {
    encoder_->set_round(round, device_.queue->stream());
    encoder_->encode(device_.queue->stream());
    device_.queue->wait();
    for (OneTensor& one : tensors_) {
      INFO(name_of(method_) << ", " << one.vectors.gradient.size()
                            << " elements, k = " << one.selection.k << ", room for " << one.capacity
                            << ", round " << round);
      Selection selection = one.selection;
      selection.seed += round;
      const Answer expected =
          reference_answer(method_, one.vectors, selection, one.capacity, one.types.values);
      require_same(expected, one.on_device->answer());
      one.vectors.residual = expected.residual;
      if (one_in(2)) change(one);
    }
  }

 private:
  struct OneTensor {
    Vectors vectors;
    Selection selection;
    std::int64_t capacity;
    Types types;
    std::unique_ptr<DeviceTensor> on_device;
  };

  std::int64_t draw(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(to - from + 1));
  }
  bool one_in(std::int64_t n) { return draw(1, n) == 1; }
  Input any_input() {
    return kInputs[static_cast<std::size_t>(draw(0, std::size(kInputs) - 1))].input;
  }

  EncoderTensor add_tensor() {
    const std::int64_t elements = one_in(3) ? draw(1, 9000) : draw(8193, 40'000);
    const std::int64_t few = std::max<std::int64_t>(1, elements / draw(20, 2000));
    const std::int64_t k = one_in(3) ? draw(0, elements) : few;
    OneTensor one{make_vectors(any_input(), elements, static_cast<std::uint32_t>(random_())),
                  {},
                  one_in(5) ? draw(0, elements / 10) : -1,
                  {},
                  nullptr};
    if (one_in(3)) one.types.values = one_in(2) ? ValueType::Fp16 : ValueType::Bf16;
    one.types.gradient = gradient_type_of(random_());
    one.vectors.gradient = in_type(one.vectors.gradient, one.types.gradient);
    one.selection =
        selection_of(method_, one.vectors, k, random_(), one_in(3) ? draw(1, elements) : 0);
    Offsets offsets;
    const auto past = static_cast<std::size_t>(one_in(5) ? draw(1, 3) : 0);
    offsets.gradient = past * static_cast<std::size_t>(bytes_of_value(one.types.gradient));
    if (!one_in(3)) offsets.residual = 4 * past;
    one.on_device = std::make_unique<DeviceTensor>(device_, one.vectors, one.selection,
                                                   one.capacity, offsets, one.types);
    const EncoderTensor described = one.on_device->describe();
    tensors_.push_back(std::move(one));
    return described;
  }

  void change(OneTensor& one) {
    const auto elements = static_cast<std::int64_t>(one.vectors.gradient.size());
    one.vectors.gradient =
        in_type(make_vectors(any_input(), elements, static_cast<std::uint32_t>(random_())).gradient,
                one.types.gradient);
    one.on_device->set_gradient(one.vectors.gradient);
  }

  Device& device_;
  std::mt19937_64 random_;
  Method method_;
  std::vector<OneTensor> tensors_;
  std::unique_ptr<Encoder> encoder_;
};

inline void check_random_batches(Device& device, unsigned first_seed, unsigned count,
                                 int most_tensors) {
  for (unsigned seed = first_seed; seed < first_seed + count; ++seed) {
    INFO("batch drawn from " << seed);
    RandomBatch batch(device, seed, most_tensors);
    for (std::uint64_t round = 0; round < 3; ++round) batch.check_round(round);
  }
}

}  // namespace gradcast::cases
