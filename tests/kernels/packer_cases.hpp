// The packing kernels against the reference, bit for bit. These cases and those of
// unpacker_cases.hpp are the same for CUDA (packer_gpu_test.cpp) and for the emulator
// (packer_emulated_test.cpp).
#pragma once
#include "tests/kernels/on_device.hpp"
#include "tests/kernels/pack_cases.hpp"

namespace gradcast::cases {

/// Bytes by which a packed tensor's memory is off its alignment.
struct PackOffsets {
  std::size_t gradient = 0;
  std::size_t residual = 0;
  std::size_t packed = 0;
};

/// A tensor with the place of its payload on a device. An empty residual is no error feedback.
class DevicePack {
 public:
  DevicePack(Device& device, const Compressor& compressor, const Vectors& vectors,
             const PackSettings& settings, const PackOffsets& offsets = {},
             ValueType type = ValueType::Fp32)
      : gradient_(device, vectors.gradient.size(), type, offsets.gradient),
        residual_(device, vectors.residual.size(), offsets.residual),
        packed_(device,
                static_cast<std::size_t>(compressor.packing->words(
                    static_cast<std::int64_t>(vectors.gradient.size()), settings.parameter)),
                offsets.packed),
        status_(device, 1),
        seed_(settings.seed) {
    gradient_.set(vectors.gradient);
    residual_.set(vectors.residual);
  }

  PackerTensor describe() {
    PackerTensor tensor;
    tensor.gradient = gradient_.read_only();
    tensor.residual = residual_.size() > 0 ? residual_.get() : nullptr;
    tensor.elements = static_cast<std::int64_t>(gradient_.size());
    tensor.seed = seed_;
    tensor.packed = packed_.get();
    tensor.status = status_.get();
    return tensor;
  }

  void set_gradient(const std::vector<float>& gradient) { gradient_.set(gradient); }

  PackAnswer answer() {
    gradient_.read();  // its bands
    return {packed_.read(), residual_.read(), status_.read()[0]};
  }

 private:
  BandedNumbers gradient_;
  Banded<float> residual_;
  Banded<std::uint32_t> packed_, status_;
  std::uint64_t seed_;
};

inline PackAnswer device_pack_answer(Device& device, const Compressor& compressor,
                                     const Vectors& vectors, const PackSettings& settings,
                                     const PackOffsets& offsets = {},
                                     ValueType type = ValueType::Fp32) {
  DevicePack tensor(device, compressor, vectors, settings, offsets, type);
  const auto packer =
      device.make_packer(compressor.packing->rule, settings.parameter, {tensor.describe()}, {});
  packer->pack(device.queue->stream());
  device.queue->wait();
  return tensor.answer();
}

inline void require_same(const PackAnswer& expected, const PackAnswer& actual) {
  REQUIRE(actual.status == expected.status);
  const bool same_words = actual.words == expected.words;
  REQUIRE(same_words);
  REQUIRE(first_difference(expected.residual, actual.residual) == -1);
}

/// One pack of a gradient of that type, with error feedback and without.
inline void check_pack(Device& device, const Compressor& compressor, const Vectors& wide,
                       const PackSettings& settings, const PackOffsets& offsets = {},
                       ValueType type = ValueType::Fp32) {
  INFO("gradient in " << name_of(type));
  const Vectors vectors{in_type(wide.gradient, type), wide.residual};
  require_same(pack_reference_answer(compressor, vectors, settings),
               device_pack_answer(device, compressor, vectors, settings, offsets, type));
  const Vectors alone{vectors.gradient, {}};
  INFO("without error feedback");
  require_same(pack_reference_answer(compressor, alone, settings),
               device_pack_answer(device, compressor, alone, settings, offsets, type));
}

inline void check_every_pack(Device& device, std::span<const std::int64_t> sizes,
                             std::size_t one_in) {
  for_each_pack_case(sizes, one_in, [&](const PackCase& one, const Vectors& vectors) {
    INFO(one);
    check_pack(device, *one.compressor, vectors, one.settings, {},
               gradient_type_of(one.settings.seed));
  });
}

/// Every packer once, at a size that is too large for every case.
inline void check_pack_size(Device& device, std::int64_t elements) {
  const Vectors vectors = make_vectors(Input::normal, elements, 1);
  for (const Compressor* compressor : all_packers()) {
    INFO(compressor->name << ", " << elements << " elements");
    const PackSettings settings{compressor->parameter.usual, 3};
    require_same(pack_reference_answer(*compressor, vectors, settings),
                 device_pack_answer(device, *compressor, vectors, settings));
  }
}

/// Blocks of int8 in every relation to rows of 128, words of 4 and units of 4096, and codes of QSGD
/// of every number of bits.
inline void check_pack_parameters(Device& device) {
  const auto check = [&](const char* name, std::int64_t elements, double parameter) {
    INFO(name << " (" << parameter << "), " << elements << " elements");
    const Compressor& compressor = packer(name);
    Vectors vectors = make_vectors(Input::layermix, elements, 4);
    vectors.gradient[static_cast<std::size_t>(elements / 2)] = INFINITY;
    check_pack(device, compressor, vectors, {parameter, 5});
  };
  for (const double block :
       {33,   34,   35,   36,   63,   64,   96,   127,  128,  130,  384,  500, 512,
        1000, 1023, 1024, 1025, 2047, 2048, 3000, 4095, 4096, 4097, 4100, 5001})
    for (const std::int64_t elements : {2500, 20'481}) check("int8", elements, block);
  for (double levels = 1; levels <= 32767; levels = 2 * levels + 1) check("qsgd", 5003, levels);
}

/// Pointers off their alignment by one, two and three numbers.
inline void check_unaligned_packs(Device& device) {
  for (const ValueType type : kGradientTypes)
    for (const Compressor* compressor : all_packers())
      for (const std::int64_t elements : {std::int64_t{1000}, std::int64_t{9000}})
        for (PackOffsets offsets :
             {PackOffsets{4, 4, 0}, {8, 8, 8}, {12, 12, 4}, {4, 0, 12}, {0, 8, 0}, {0, 0, 4}}) {
          offsets.gradient = offsets.gradient / 4 * static_cast<std::size_t>(bytes_of_value(type));
          INFO(compressor->name << ", " << elements << " elements, gradient off by "
                                << offsets.gradient << ", residual by " << offsets.residual
                                << ", payload by " << offsets.packed);
          check_pack(device, *compressor, make_vectors(Input::normal, elements, 3),
                     {compressor->parameter.usual, 7}, offsets, type);
        }
}

/// A list of tensors is packed as each alone, in a number of launches that is not theirs.
inline void check_pack_batches(Device& device) {
  constexpr std::int64_t kSizes[] = {1, 4097, 700, 300'001, 8192, 64, 16'384, 12'289, 2};
  for (const Compressor* compressor : all_packers()) {
    const double parameter = compressor->parameter.usual;
    std::vector<std::unique_ptr<DevicePack>> tensors;
    std::vector<PackerTensor> described;
    std::vector<PackAnswer> expected;
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      const auto seed = static_cast<std::uint32_t>(i);
      Vectors vectors =
          make_vectors(i % 2 == 0 ? Input::layermix : Input::laplace, kSizes[i], seed);
      if (i % 3 == 2) vectors.residual.clear();
      if (i == 4) vectors.gradient[100] = NAN;  // the status is of this tensor alone
      const PackSettings settings{parameter, 31 * i};
      tensors.push_back(std::make_unique<DevicePack>(device, *compressor, vectors, settings,
                                                     PackOffsets{4 * (i % 4), 0, 4 * (i % 3)}));
      described.push_back(tensors.back()->describe());
      expected.push_back(pack_reference_answer(*compressor, vectors, settings));
    }
    const auto packer = device.make_packer(compressor->packing->rule, parameter, described, {});
    packer->pack(device.queue->stream());
    device.queue->wait();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      INFO(compressor->name << ", tensor " << i << " of " << kSizes[i] << " elements");
      require_same(expected[i], tensors[i]->answer());
    }
    // With 300,001 elements, the moments are added in two steps.
    const bool measures = compressor->packing->scale_words(1000, parameter) > 0 &&
                          compressor->packing->rule != PackRule::Int8;
    CHECK(packer->launches() == (measures ? 3 : 1));
    CHECK(packer->scratch_bytes() > 0);
  }
}

/// Iteration after iteration on one packer: it leaves its scratch memory fit for the next call, and
/// the round changes what is drawn.
inline void check_pack_iterations(Device& device, bool recorded) {
  for (const Compressor* compressor : all_packers()) {
    const std::int64_t elements = 10'000;
    const double parameter = compressor->parameter.usual;
    Vectors vectors = make_vectors(Input::normal, elements, 1);
    DevicePack tensor(device, *compressor, vectors, {parameter, 11});
    const auto packer =
        device.make_packer(compressor->packing->rule, parameter, {tensor.describe()}, {});
    std::unique_ptr<Recording> recording;
    if (recorded) {
      recording = device.queue->record([&] { packer->pack(device.queue->stream()); });
      REQUIRE(recording);
    }
    for (std::uint64_t round = 0; round < 4; ++round) {
      INFO(compressor->name << ", round " << round);
      if (round == 1) vectors.gradient[5000] = INFINITY;  // one call's status is not the next one's
      tensor.set_gradient(vectors.gradient);
      const PackAnswer expected =
          pack_reference_answer(*compressor, vectors, {parameter, 11 + round});
      packer->set_round(round, device.queue->stream());
      if (recording) recording->replay();
      if (!recording) packer->pack(device.queue->stream());
      device.queue->wait();
      require_same(expected, tensor.answer());
      vectors.residual = expected.residual;
      vectors.gradient =
          make_vectors(Input::laplace, elements, 50 + static_cast<std::uint32_t>(round)).gradient;
    }
  }
}

}  // namespace gradcast::cases
