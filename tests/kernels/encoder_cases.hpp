// The kernels against the reference, bit for bit: the same tests for CUDA (encoder_gpu_test.cpp)
// and for the emulator (encoder_emulated_test.cpp).
#pragma once
#include <cstring>
#include <functional>
#include <random>

#include "kernels/device_memory.hpp"
#include "kernels/encoder.hpp"
#include "tests/kernels/cases.hpp"

namespace gradcast::cases {

struct Device {
  std::unique_ptr<DeviceQueue> queue;
  decltype(&on_cuda::make_encoder) make_encoder;
  decltype(&on_cuda::make_decoder) make_decoder;
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

/// A tensor with its outputs on a device.
class DeviceTensor {
 public:
  DeviceTensor(Device& device, const Vectors& vectors, const Selection& selection,
               std::int64_t capacity = -1, std::size_t offset_bytes = 0)
      : gradient_(device, vectors.gradient.size(), offset_bytes),
        residual_(device, vectors.residual.size(), offset_bytes),
        values_(device, room(vectors, capacity)),
        indices_(device, room(vectors, capacity)),
        count_(device, 1),
        status_(device, 1),
        selection_(selection) {
    gradient_.set(vectors.gradient);
    residual_.set(vectors.residual);
  }

  EncoderTensor describe() {
    EncoderTensor tensor;
    tensor.gradient = gradient_.get();
    tensor.residual = residual_.get();
    tensor.elements = static_cast<std::int64_t>(gradient_.size());
    tensor.k = selection_.k;
    tensor.seed = selection_.seed;
    tensor.candidates = selection_.candidates;
    tensor.values = values_.get();
    tensor.indices = indices_.get();
    tensor.capacity = static_cast<std::int64_t>(values_.size());
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
  Banded<float> gradient_, residual_, values_;
  Banded<std::int32_t> indices_;
  Banded<std::int64_t> count_;
  Banded<std::uint32_t> status_;
  Selection selection_;
};

inline Answer device_answer(Device& device, const Method& method, const Vectors& vectors,
                            const Selection& selection, const EncoderTuning& tuning = {},
                            std::int64_t capacity = -1, std::size_t offset_bytes = 0) {
  DeviceTensor tensor(device, vectors, selection, capacity, offset_bytes);
  const auto encoder =
      device.make_encoder(method.compressor->rule, method.mode, {tensor.describe()}, tuning);
  encoder->encode(device.queue->stream());
  device.queue->wait();
  return tensor.answer();
}

/// Roads that an encode takes rarely or never by itself, each forced; the answer is the same.
struct Road {
  const char* what;
  EncoderTuning tuning;
};
inline std::vector<Road> all_roads() {
  return {{"as planned", {}},
          {"a slot a tile: nearly every tile overflows", {1, {}, 0}},
          {"a threshold of 0: every element is a candidate", {0, Key{0}, 0}},
          {"a threshold of 1: every non-zero is a candidate", {32, Key{1}, 0}},
          {"a NaN as threshold: hardly any candidate", {0, Key{0x7fc00000u}, 0}},
          {"the largest key as threshold: no candidate", {0, kLargestKey, 0}},
          {"one block", {0, {}, 1}},
          {"two blocks, a slot a tile", {1, {}, 2}},
          {"five blocks, too low a threshold", {2, Key{1}, 5}}};
}

/// Sizes that are cut into tiles and groups, with ends of every kind.
inline constexpr std::int64_t kTiledSizes[] = {8193, 16'384, 20'001, 65'537};

inline void check_every_case(Device& device, std::span<const std::int64_t> sizes,
                             std::size_t one_in) {
  for_each_case(sizes, one_in, [&](const Case& one, const Vectors& vectors) {
    INFO(one);
    require_same(reference_answer(one.method, vectors, one.selection),
                 device_answer(device, one.method, vectors, one.selection));
  });
}

inline void check_every_road(Device& device, std::size_t one_in) {
  std::uint32_t seen = 0;
  for (const Road& road : all_roads())
    for_each_case(kTiledSizes, one_in, [&](const Case& one, const Vectors& vectors) {
      INFO(road.what << ": " << one);
      const Answer answer = device_answer(device, one.method, vectors, one.selection, road.tuning);
      require_same(reference_answer(one.method, vectors, one.selection), answer);
      seen |= answer.encoded.status;
    });
  CHECK((seen & kTilesReread) != 0);  // each road was really taken
  CHECK((seen & kFullReread) != 0);
  CHECK((seen & kGeneric) != 0);
}

/// Every compressor once, at a size that is too large for every case.
inline void check_size(Device& device, std::int64_t elements) {
  const Vectors vectors = make_vectors(Input::normal, elements, 1);
  for (const Method& method : all_methods()) {
    if (method.compressor->rule == Rule::Everything) continue;
    INFO(name_of(method) << ", " << elements << " elements");
    const Selection selection{elements / 1000, method.mode, 1, 0};
    const std::int64_t room = elements / 100;  // ten times k: outputs as long as u take too long
    require_same(reference_answer(method, vectors, selection, room),
                 device_answer(device, method, vectors, selection, {}, room));
  }
}

/// Pointers off their alignment by 4, 8 and 12 bytes.
inline void check_unaligned(Device& device) {
  for (const Method& method : all_methods())
    for (const std::int64_t elements : {std::int64_t{1000}, std::int64_t{9000}})
      for (const std::size_t offset : {4u, 8u, 12u}) {
        INFO(name_of(method) << ", " << elements << " elements, off by " << offset);
        const Vectors vectors = make_vectors(Input::normal, elements, 3);
        const Selection selection{elements / 50, method.mode, 7, 0};
        require_same(reference_answer(method, vectors, selection),
                     device_answer(device, method, vectors, selection, {}, -1, offset));
      }
}

/// What does not fit stays in the residual.
inline void check_capacity(Device& device) {
  for (const Method& method : all_methods())
    for (const std::int64_t elements : {std::int64_t{1000}, std::int64_t{20'001}})
      for (const std::int64_t capacity : {0, 1, 17}) {
        INFO(name_of(method) << ", " << elements << " elements, room for " << capacity);
        const Vectors vectors = make_vectors(Input::laplace, elements, 3);
        const Selection selection{elements / 20, method.mode, 7, 0};
        require_same(reference_answer(method, vectors, selection, capacity),
                     device_answer(device, method, vectors, selection, {}, capacity));
      }
}

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
      const Selection selection{k, method.mode, 1000 + i, 0};
      expected.push_back(reference_answer(method, vectors, selection));
      tensors.push_back(std::make_unique<DeviceTensor>(device, vectors, selection));
      described.push_back(tensors.back()->describe());
    }
    const auto encoder = device.make_encoder(method.compressor->rule, method.mode, described, {});
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
        const Selection selection{sizes[i] / (i % 4 == 1 ? 3 : 50), method.mode, 100 + i, 0};
        expected.push_back(reference_answer(method, vectors, selection));
        tensors.push_back(std::make_unique<DeviceTensor>(device, vectors, selection));
        described.push_back(tensors.back()->describe());
      }
      device.make_encoder(method.compressor->rule, method.mode, described, tuning)
          ->encode(device.queue->stream());
      device.queue->wait();
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        INFO(name_of(method) << ", " << tuning.finish_blocks << " blocks, tensor " << i);
        require_same(expected[i], tensors[i]->answer());
      }
    }
}

/// A threshold that no longer fits is found anew by the next call.
inline void check_new_guesses(Device& device) {
  const std::int64_t elements = 150'000;  // two blocks of samples
  const Method method{find_compressor("topk"), Mode::Only};
  Vectors vectors = make_vectors(Input::normal, elements, 1);
  std::fill(vectors.residual.begin(), vectors.residual.end(), 0.0f);
  DeviceTensor tensor(device, vectors, {150, Mode::Only, 3, 0});
  const auto encoder = device.make_encoder(Rule::Topk, Mode::Only, {tensor.describe()}, {});
  for (const float scale : {1.0f, 1e-3f, 1e3f})
    for (int call = 0; call < 2; ++call) {
      INFO("scale " << scale << ", call " << call);
      Vectors scaled = vectors;
      for (float& value : scaled.gradient) value *= scale;
      tensor.set_gradient(scaled.gradient);
      tensor.set_residual(scaled.residual);
      encoder->encode(device.queue->stream());
      device.queue->wait();
      const Answer answer = tensor.answer();
      require_same(reference_answer(method, scaled, {150, Mode::Only, 3, 0}), answer);
      if (call == 1) CHECK((answer.encoded.status & ~kResultStatus) == 0);  // by a new guess
    }
}

/// One of many lists of tensors, tunings and changes from round to round, drawn from a seed.
class RandomBatch {
 public:
  RandomBatch(Device& device, unsigned seed, int most_tensors)
      : device_(device), random_(seed), method_(all_methods()[seed % all_methods().size()]) {
    EncoderTuning tuning;
    if (one_in(2)) tuning.slots = 1 << draw(0, 5);
    if (one_in(3))
      tuning.first_threshold = std::vector<Key>{0, 1, 0x3a000000u, kLargestKey}[draw(0, 3)];
    tuning.finish_blocks = static_cast<int>(draw(0, 40));
    const int tensors = one_in(4) ? 1 : static_cast<int>(draw(1, most_tensors));
    std::vector<EncoderTensor> described;
    for (int i = 0; i < tensors; ++i) described.push_back(add_tensor());
    encoder_ = device.make_encoder(method_.compressor->rule, method_.mode, described, tuning);
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
      const Answer expected = reference_answer(method_, one.vectors, selection, one.capacity);
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
                  {k, method_.mode, random_(), one_in(3) ? draw(1, elements) : 0},
                  one_in(5) ? draw(0, elements / 10) : -1,
                  nullptr};
    one.on_device =
        std::make_unique<DeviceTensor>(device_, one.vectors, one.selection, one.capacity,
                                       one_in(5) ? 4 * static_cast<std::size_t>(draw(1, 3)) : 0);
    const EncoderTensor described = one.on_device->describe();
    tensors_.push_back(std::move(one));
    return described;
  }

  void change(OneTensor& one) {
    const auto elements = static_cast<std::int64_t>(one.vectors.gradient.size());
    one.vectors.gradient =
        make_vectors(any_input(), elements, static_cast<std::uint32_t>(random_())).gradient;
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

/// Iteration after iteration on one encoder: it leaves its scratch memory fit for the next call,
/// and the round changes what is drawn.
inline void check_iterations(Device& device, bool recorded) {
  for (const Method& method : all_methods()) {
    const std::int64_t elements = 30'000;
    Selection selection{300, method.mode, 11, 0};
    Vectors vectors = make_vectors(Input::normal, elements, 1);
    DeviceTensor tensor(device, vectors, selection);
    const auto encoder =
        device.make_encoder(method.compressor->rule, method.mode, {tensor.describe()}, {});
    std::unique_ptr<Recording> recording;
    if (recorded) {
      recording = device.queue->record([&] { encoder->encode(device.queue->stream()); });
      REQUIRE(recording);
    }
    for (std::uint64_t round = 0; round < 4; ++round) {
      INFO(name_of(method) << ", round " << round);
      selection.seed = 11 + round;
      const Answer expected = reference_answer(method, vectors, selection);
      encoder->set_round(round, device.queue->stream());
      if (recording) recording->replay();
      if (!recording) encoder->encode(device.queue->stream());
      device.queue->wait();
      require_same(expected, tensor.answer());
      vectors.residual = expected.residual;
      vectors.gradient =
          make_vectors(Input::laplace, elements, 50 + static_cast<std::uint32_t>(round)).gradient;
      tensor.set_gradient(vectors.gradient);
    }
  }
}

/// A tensor's sets of many workers, on a device: of unequal sizes, some empty, one with an index
/// outside.
class DeviceSets {
 public:
  DeviceSets(Device& device, std::int64_t elements, int workers)
      : dense_(device, static_cast<std::size_t>(elements)) {
    for (int w = 0; w < workers; ++w) {
      const Vectors vectors = make_vectors(Input::normal, elements, static_cast<std::uint32_t>(w));
      const Selection selection{w % 5 == 2 ? 0 : 1 + (w * 37) % 400, Mode::Only, 0, 0};
      answers_.push_back(
          reference_answer({find_compressor("topk"), Mode::Only}, vectors, selection));
      if (w == 1) {  // as from a broken message
        answers_.back().indices.push_back(static_cast<std::int32_t>(elements + 3));
        answers_.back().values.push_back(1.0f);
      }
    }
    for (const Answer& answer : answers_) {
      sets_.push_back({answer.values, answer.indices});
      values_.push_back(std::make_unique<Banded<float>>(device, answer.values.size()));
      values_.back()->set(answer.values);
      indices_.push_back(std::make_unique<Banded<std::int32_t>>(device, answer.indices.size()));
      indices_.back()->set(answer.indices);
      counts_.push_back(std::make_unique<Banded<std::int64_t>>(device, 1));
      counts_.back()->set({static_cast<std::int64_t>(answer.values.size())});
    }
  }

  DecoderTensor describe() {
    DecoderTensor tensor{dense_.get(), static_cast<std::int64_t>(dense_.size()), {}};
    for (std::size_t w = 0; w < sets_.size(); ++w)
      tensor.sets.push_back({values_[w]->get(), indices_[w]->get(), counts_[w]->get()});
    return tensor;
  }

  void require_decoded() {
    std::vector<float> expected(dense_.size());
    decode(sets_, expected);
    REQUIRE(first_difference(expected, dense_.read()) == -1);
  }

 private:
  Banded<float> dense_;
  std::vector<Answer> answers_;
  std::vector<SparseSet> sets_;
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
      tensors.push_back(std::make_unique<DeviceSets>(device, elements, workers));
      described.push_back(tensors.back()->describe());
    }
    device.make_decoder(described)->decode(device.queue->stream());
    device.queue->wait();
    for (const auto& tensor : tensors) tensor->require_decoded();
  }
}

/// What guesses are made for: on gradients as they are, the candidates tell, call after call.
inline void check_fast_road(Device& device) {
  for (const Method& method : all_methods()) {
    if (method.compressor->rule == Rule::Everything) continue;
    // The authors' Trimmed Top-k sends several times k: from below what was caught.
    if (method.compressor->rule == Rule::Trimmed && method.mode == Mode::Code) continue;
    const Selection selection{300, method.mode, 3, 0};
    const Vectors vectors = make_vectors(Input::normal, 300'000, 1);
    DeviceTensor tensor(device, vectors, selection);
    const auto encoder =
        device.make_encoder(method.compressor->rule, method.mode, {tensor.describe()}, {});
    for (int call = 0; call < 3; ++call) {
      INFO(name_of(method) << ", call " << call);
      tensor.set_residual(vectors.residual);
      encoder->encode(device.queue->stream());
      device.queue->wait();
      CHECK((tensor.answer().encoded.status & (kFullReread | kGeneric)) == 0);
    }
  }
}

}  // namespace gradcast::cases
