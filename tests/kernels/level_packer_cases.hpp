// The kernels of shared levels against the reference, bit for bit. These cases are the same for
// CUDA (level_packer_gpu_test.cpp) and for the emulator (level_packer_emulated_test.cpp).
#pragma once
#include "tests/kernels/level_cases.hpp"
#include "tests/kernels/on_device.hpp"

namespace gradcast::cases {

/// Bytes by which a tensor's memory is off its alignment.
struct LevelOffsets {
  std::size_t gradient = 0;
  std::size_t residual = 0;
  std::size_t lanes = 0;
};

/// One worker's tensor on a device. An empty residual is no error feedback.
class DeviceLevels {
 public:
  DeviceLevels(Device& device, const Vectors& vectors, int bits, std::uint64_t seed,
               const LevelOffsets& offsets = {}, ValueType type = ValueType::Fp32)
      : gradient_(device, vectors.gradient.size(), type, offsets.gradient),
        residual_(device, vectors.residual.size(), offsets.residual),
        lanes_(device,
               static_cast<std::size_t>(
                   lane_words(static_cast<std::int64_t>(vectors.gradient.size()), bits)),
               offsets.lanes),
        scale_(device, 1),
        status_(device, 1),
        seed_(seed) {
    set(vectors);
  }

  LevelPackerTensor describe() {
    LevelPackerTensor tensor;
    tensor.gradient = gradient_.read_only();
    tensor.residual = residual_.size() > 0 ? residual_.get() : nullptr;
    tensor.elements = static_cast<std::int64_t>(gradient_.size());
    tensor.seed = seed_;
    tensor.scale = scale_.get();
    tensor.lanes = lanes_.get();
    tensor.status = status_.get();
    return tensor;
  }

  void set(const Vectors& vectors) {
    gradient_.set(vectors.gradient);
    residual_.set(vectors.residual);
  }
  float scale() { return scale_.read()[0]; }
  void set_scale(float scale) { scale_.set({scale}); }

  void require(const LevelAnswer& expected) {
    gradient_.read();  // its bands
    REQUIRE(status_.read()[0] == expected.own.status);
    const bool same_lanes = lanes_.read() == expected.lanes;
    REQUIRE(same_lanes);
    REQUIRE(first_difference(expected.residual, residual_.read()) == -1);
  }

 private:
  BandedNumbers gradient_;
  Banded<float> residual_;
  Banded<std::uint32_t> lanes_;
  Banded<float> scale_;
  Banded<std::uint32_t> status_;
  std::uint64_t seed_;
};

/// Checks an iteration of some workers with one tensor, whose gradient is of that type: each
/// worker's kernels, then the sum's.
inline void check_levels(Device& device, const Compressor& compressor, double parameter,
                         std::vector<Vectors> workers, const LevelOffsets& offsets = {},
                         ValueType type = ValueType::Fp32) {
  INFO("gradient in " << name_of(type));
  for (Vectors& vectors : workers) vectors.gradient = in_type(vectors.gradient, type);
  constexpr std::uint64_t kSeed = 5;
  const SharedAnswer expected = shared_reference_answer(compressor, workers, parameter, kSeed);
  const PackRule rule = compressor.packing->rule;
  const auto count = static_cast<std::int64_t>(workers.size());
  const int bits = bits_of_lane(compressor, parameter, count);
  void* const stream = device.queue->stream();
  for (std::size_t w = 0; w < workers.size(); ++w) {
    INFO("worker " << w << " of " << count);
    DeviceLevels tensor(device, workers[w], bits, kSeed + w, offsets, type);
    const auto packer = device.make_level_packer(rule, parameter, count, {tensor.describe()}, {});
    packer->measure(stream);
    device.queue->wait();
    REQUIRE(bits_of(tensor.scale()) == bits_of(expected.workers[w].own.scale));
    tensor.set_scale(expected.settings.scale);
    packer->pack(stream);
    device.queue->wait();
    tensor.require(expected.workers[w]);
  }
  BandedNumbers dense(device, expected.dense.size(), type, offsets.gradient);
  Banded<float> scale(device, 1);
  Banded<std::uint32_t> sum(device, expected.sum.size(), offsets.lanes);
  scale.set({expected.settings.scale});
  sum.set(expected.sum);
  const auto unpacker = device.make_level_unpacker(
      rule, parameter, count,
      {{dense.get(), static_cast<std::int64_t>(dense.size()), scale.get(), sum.get()}}, {});
  unpacker->unpack(stream);
  device.queue->wait();
  REQUIRE(first_difference(in_type(expected.dense, type), dense.read()) == -1);
}

/// Every size x input x parameter, with error feedback and without; `one_in` keeps one in so many.
/// Workers are 1 to 4, so that lanes have 8 and 16 bits, and with the most levels 32.
inline void check_every_level(Device& device, std::span<const std::int64_t> sizes,
                              std::size_t one_in) {
  std::size_t number = 0;
  for (const std::int64_t elements : sizes)
    for (const NamedInput& input : kInputs)
      for (const Compressor* compressor : all_with_levels())
        for (const double parameter : parameters_of(*compressor)) {
          if (number++ % one_in != 0) continue;
          const int count = 1 + static_cast<int>(number % 4);
          INFO(compressor->name << " (" << parameter << "), " << elements << " elements of "
                                << input.name << ", " << count << " workers");
          std::vector<Vectors> workers = made_workers(input.input, elements, count);
          if (number % 3 == 0)
            for (Vectors& vectors : workers) vectors.residual.clear();
          check_levels(device, *compressor, parameter, workers, {}, gradient_type_of(number));
        }
}

/// Pointers off their alignment by one, two and three numbers, with lanes of every width.
inline void check_unaligned_levels(Device& device) {
  for (const ValueType type : kGradientTypes)
    for (const double levels : {7, 127, 32767})
      for (const std::int64_t elements : {std::int64_t{1001}, std::int64_t{9000}})
        for (LevelOffsets offsets :
             {LevelOffsets{4, 4, 0}, {8, 8, 8}, {12, 12, 4}, {0, 0, 4}, {0, 0, 12}, {4, 0, 8}}) {
          offsets.gradient = offsets.gradient / 4 * static_cast<std::size_t>(bytes_of_value(type));
          INFO(levels << " levels, " << elements << " elements, gradient off by "
                      << offsets.gradient << ", residual by " << offsets.residual << ", lanes by "
                      << offsets.lanes);
          check_levels(device, packer("qsgd"), levels, made_workers(Input::normal, elements, 2),
                       offsets, type);
        }
}

/// Sums of several tensors are unpacked in one launch: here three times what one worker sent.
inline void check_level_sums(Device& device, const Compressor& compressor, double parameter,
                             const std::vector<LevelAnswer>& sent,
                             const std::vector<LevelSettings>& settings) {
  std::vector<std::unique_ptr<Banded<float>>> dense;
  std::vector<std::unique_ptr<Banded<float>>> scales;
  std::vector<std::unique_ptr<Banded<std::uint32_t>>> sums;
  std::vector<LevelUnpackerTensor> described;
  std::vector<std::vector<float>> expected;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    std::vector<std::uint32_t> sum = sent[i].lanes;
    for (std::uint32_t& word : sum) word *= 3;
    const std::size_t elements = sent[i].elements;
    dense.push_back(std::make_unique<Banded<float>>(device, elements, 4 * (i % 3)));
    scales.push_back(std::make_unique<Banded<float>>(device, 1));
    sums.push_back(std::make_unique<Banded<std::uint32_t>>(device, sum.size(), 4 * (i % 2)));
    scales[i]->set({settings[i].scale});
    sums[i]->set(sum);
    described.push_back(
        {dense[i]->get(), static_cast<std::int64_t>(elements), scales[i]->get(), sums[i]->get()});
    described.back().factor = 1.0f / 3;
    expected.emplace_back(elements);
    compressor.levels()->decode(sum, settings[i], expected[i]);
    for (float& value : expected[i]) value *= 1.0f / 3;
  }
  const auto unpacker =
      device.make_level_unpacker(compressor.packing->rule, parameter, 3, described, {});
  unpacker->unpack(device.queue->stream());
  device.queue->wait();
  for (std::size_t i = 0; i < dense.size(); ++i) {
    INFO("tensor " << i << " of " << sent[i].elements << " elements");
    REQUIRE(first_difference(expected[i], dense[i]->read()) == -1);
  }
}

/// A list of tensors is measured and packed as each alone, in a number of launches that is not
/// theirs; and iteration after iteration.
inline void check_level_batches(Device& device, bool recorded) {
  constexpr std::int64_t kSizes[] = {1, 4097, 703, 300'001, 64, 12'290};
  constexpr std::int64_t kWorkers = 3;
  void* const stream = device.queue->stream();
  for (const Compressor* compressor : all_with_levels()) {
    const double parameter = compressor->parameter.usual;
    const Levels& levels = *compressor->levels();
    const int bits = bits_of_lane(*compressor, parameter, kWorkers);
    std::vector<std::unique_ptr<DeviceLevels>> tensors;
    std::vector<LevelPackerTensor> described;
    std::vector<Vectors> vectors;
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      vectors.push_back(make_vectors(i % 2 == 0 ? Input::layermix : Input::laplace, kSizes[i],
                                     static_cast<std::uint32_t>(i)));
      if (i % 3 == 2) vectors[i].residual.clear();
      tensors.push_back(std::make_unique<DeviceLevels>(device, vectors[i], bits, 31 * i,
                                                       LevelOffsets{4 * (i % 4), 0, 4 * (i % 3)}));
      described.push_back(tensors[i]->describe());
    }
    const auto packer =
        device.make_level_packer(compressor->packing->rule, parameter, kWorkers, described, {});
    std::unique_ptr<Recording> measure;
    std::unique_ptr<Recording> pack;
    if (recorded) {
      measure = device.queue->record([&] { packer->measure(stream); });
      pack = device.queue->record([&] { packer->pack(stream); });
      REQUIRE((measure && pack));
    }
    for (std::uint64_t round = 0; round < 3; ++round) {
      INFO(compressor->name << ", round " << round);
      vectors[1].gradient[100] = round == 1 ? NAN : 1.0f;  // the status is of one call and tensor
      std::vector<LevelAnswer> expected;
      std::vector<LevelSettings> settings;
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        tensors[i]->set(vectors[i]);
        LevelAnswer its;
        its.elements = vectors[i].gradient.size();
        its.own = levels.own_scale(vectors[i].gradient, vectors[i].residual, parameter);
        its.residual = vectors[i].residual;
        its.lanes.resize(static_cast<std::size_t>(lane_words(kSizes[i], bits)));
        // Another worker's may be larger.
        const float shared = i % 2 == 0 ? 1.5f * its.own.scale : its.own.scale;
        settings.push_back({parameter, 31 * i + round, shared, kWorkers});
        levels.encode(vectors[i].gradient, its.residual, its.own.scale, settings[i], its.lanes);
        vectors[i].residual = its.residual;
        expected.push_back(its);
      }
      packer->set_round(round, stream);
      recorded ? measure->replay() : packer->measure(stream);
      device.queue->wait();
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        INFO("tensor " << i << " of " << kSizes[i] << " elements");
        REQUIRE(bits_of(tensors[i]->scale()) == bits_of(expected[i].own.scale));
        tensors[i]->set_scale(settings[i].scale);
      }
      recorded ? pack->replay() : packer->pack(stream);
      device.queue->wait();
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        INFO("tensor " << i << " of " << kSizes[i] << " elements");
        tensors[i]->require(expected[i]);
      }
      check_level_sums(device, *compressor, parameter, expected, settings);
    }
    CHECK(packer->launches() == 4);  // with 300,001 elements, the moments are added in two steps
    CHECK(packer->scratch_bytes() > 0);
  }
}

}  // namespace gradcast::cases
