// The encoders' and the decoder's kernels on weak memory: the answer is the reference's whatever
// the order in which stores reach others, and so is the road to it. The table of mutations
// (mutations.py) is held against these cases: each mutation makes one of them fail.
#include <cmath>

#include "kernels/emulator/memory.hpp"
#include "tests/kernels/decoder_cases.hpp"
#include "tests/kernels/encoder_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

Device weak(unsigned seed) {
  emulator::Schedule schedule;
  schedule.seed = seed;
  schedule.weak_memory = true;
  return {on_emulator::make_queue(schedule), on_emulator::make_encoder, on_emulator::make_decoder};
}

Device ordinary() {
  return {on_emulator::make_queue(0), on_emulator::make_encoder, on_emulator::make_decoder};
}

struct Sized {
  std::int64_t elements, k;
};

/// Tensors of one encoder, encoded some times over. At most a quarter of each is sent, so that
/// there is less memory to exchange.
struct Scene {
  Input input;
  std::vector<Sized> sizes;
  EncoderTuning tuning;
  int calls = 1;
};

std::vector<Vectors> vectors_of(const Scene& scene) {
  std::vector<Vectors> all;
  for (std::size_t i = 0; i < scene.sizes.size(); ++i)
    all.push_back(make_vectors(scene.input, scene.sizes[i].elements, static_cast<unsigned>(i) + 1));
  return all;
}

/// `vectors` are those of the first call.
Selection selection_of(const Scene& scene, const Method& method,
                       const std::vector<Vectors>& vectors, std::size_t i) {
  return cases::selection_of(method, vectors[i], scene.sizes[i].k, 100 + i);
}

std::vector<Answer> device_answers(Device& device, const Method& method, const Scene& scene,
                                   const std::vector<Vectors>& vectors) {
  std::vector<std::unique_ptr<DeviceTensor>> tensors;
  std::vector<EncoderTensor> described;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    tensors.push_back(std::make_unique<DeviceTensor>(
        device, vectors[i], selection_of(scene, method, vectors, i), scene.sizes[i].elements / 4));
    described.push_back(tensors.back()->describe());
  }
  const auto encoder =
      device.make_encoder(method.compressor->rule, method.mode, described, scene.tuning, {});
  for (int call = 0; call < scene.calls; ++call) encoder->encode(device.queue->stream());
  device.queue->wait();
  std::vector<Answer> answers;
  for (const auto& tensor : tensors) answers.push_back(tensor->answer());
  return answers;
}

/// Every seed must give the reference's answers, by the road that ordinary memory takes.
void check_scene(const Method& method, const Scene& scene, unsigned first_seed, unsigned seeds) {
  const std::vector<Vectors> vectors = vectors_of(scene);
  std::vector<Answer> expected;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    Vectors left = vectors[i];
    for (int call = 0; call < scene.calls; ++call) {
      Answer answer = reference_answer(method, left, selection_of(scene, method, vectors, i),
                                       scene.sizes[i].elements / 4);
      left.residual = answer.residual;
      if (call + 1 == scene.calls) expected.push_back(std::move(answer));
    }
  }
  Device plain = ordinary();
  const std::vector<Answer> on_ordinary = device_answers(plain, method, scene, vectors);
  for (unsigned seed = first_seed; seed < first_seed + seeds; ++seed) {
    INFO(name_of(method) << ", order drawn from " << seed);
    Device device = weak(seed);
    const std::vector<Answer> answers = device_answers(device, method, scene, vectors);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      INFO("tensor " << i << " of " << scene.sizes[i].elements << " elements");
      require_same(expected[i], answers[i]);
      REQUIRE(answers[i].encoded.status == on_ordinary[i].encoded.status);
    }
  }
}

/// Each in a section of its own, so that mutations.py can have a single one run.
void check_every_method(const Scene& scene, unsigned first_seed, unsigned seeds) {
  for (const Method& method : all_methods()) DYNAMIC_SECTION(name_of(method)) {
      check_scene(method, scene, first_seed, seeds);
    }
}

// 20,001 elements are 3 groups, the last of them of 7 tiles and 33 elements; 16,383 are a tile's
// end but for one.
const Scene kOrdinary{Input::layermix, {{20'001, 200}}, {0, {}, 3}};
const Scene kOverflowing{Input::laplace, {{16'383, 300}}, {1, {}, 2}};
const Scene kTied{Input::ties, {{17'000, 500}}, {0, {}, 3}};
const Scene kBelowCandidates{Input::normal, {{16'400, 4000}}, {0, Key{0x7fc00000u}, 3}};
const Scene kAllCandidates{Input::normal, {{16'400, 100}}, {2, Key{1}, 5}};
// Small ones, of one block each; and more parts to a block than its notes fit in shared memory.
const Scene kSmall{Input::layermix, {{1, 1}, {1025, 100}, {8192, 80}}, {}};
// A thread has 4 elements of the one and 32 of the other, and k ends within a thread's.
const Scene kSmallTied{Input::constant, {{1000, 301}, {8191, 500}}, {}};
const Scene kManyParts{Input::laplace,
                       {{9000, 90},
                        {16'385, 5000},
                        {8200, 0},
                        {8193, 8193},
                        {8200, 82},
                        {8200, 82},
                        {8200, 82},
                        {8200, 82},
                        {8200, 82},
                        {8200, 2000},
                        {8200, 82},
                        {8200, 82}},
                       {0, {}, 1}};
// The second call has the thresholds that the first has kept.
const Scene kTwoCalls{Input::normal, {{40'000, 400}}, {0, {}, 5}, 2};

}  // namespace

TEST_CASE("weak memory: large tensors", "[emulated]") { check_every_method(kOrdinary, 1, 3); }

TEST_CASE("weak memory: tiles with more candidates than slots", "[emulated]") {
  check_every_method(kOverflowing, 11, 2);
}

TEST_CASE("weak memory: selections that reach below the candidates", "[emulated]") {
  check_every_method(kBelowCandidates, 21, 2);
}

// Thread 0 of a block may meet the others while the block's other threads still clear what all
// count in.
TEST_CASE("weak memory: selections that reach below the candidates under many orders",
          "[emulated]") {
  check_scene({find_compressor("topk"), Mode::Only}, kBelowCandidates, 100, 12);
}

TEST_CASE("weak memory: small tensors", "[emulated]") { check_every_method(kSmall, 31, 2); }

TEST_CASE("weak memory: small tensors with ties", "[emulated]") {
  check_every_method(kSmallTied, 35, 2);
}

TEST_CASE("weak memory: ties", "[emulated][slow]") { check_every_method(kTied, 41, 12); }

TEST_CASE("weak memory: nothing but candidates", "[emulated][slow]") {
  check_every_method(kAllCandidates, 51, 3);
}

TEST_CASE("weak memory: notes in global memory", "[emulated][slow]") {
  check_every_method(kManyParts, 61, 1);
}

TEST_CASE("weak memory: a second call", "[emulated][slow]") {
  check_every_method(kTwoCalls, 71, 3);
}

// 16,400 elements are sampled by four blocks: 4096 samples, 1024 of each quarter. Every 16th
// element is large, so some 64 of a block's samples. They are in a bin of the sample's histogram of
// their own (from 1, 1.125, 1.25 and 1.375), so that no block adds to another's bin. The 235th
// largest sample gives the threshold (twice k, of a quarter of the elements): a tile has 32
// candidates for its 64 slots. All other elements are equal: without one block's samples, these
// reach the threshold, and all elements are candidates, which the status tells.
void check_sampled(unsigned first_seed, unsigned seeds) {
  const std::int64_t elements = 16'400;
  const Method method{find_compressor("topk"), Mode::Only};
  Vectors vectors = make_vectors(Input::normal, elements, 1);
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto at = static_cast<std::size_t>(i);
    vectors.residual[at] = 0;
    vectors.gradient[at] = std::copysign(1e-6f, vectors.gradient[at]);
    if (i % 16 == 0)
      vectors.gradient[at] =
          1 + 0.125f * static_cast<float>(i / 4096 % 4) + 1e-6f * static_cast<float>(i % 4096);
  }
  const Selection selection{470, Mode::Only, 3, 0};
  const Answer expected = reference_answer(method, vectors, selection, 470);
  for (unsigned seed = first_seed; seed < first_seed + seeds; ++seed) {
    INFO("order drawn from " << seed);
    Device device = weak(seed);
    const Answer answer = device_answer(device, method, vectors, selection, {64, {}, 0}, 470);
    require_same(expected, answer);
    CHECK((answer.encoded.status & ~kResultStatus) == 0);
  }
}

TEST_CASE("weak memory: the threshold is from the samples of all blocks", "[emulated]") {
  check_sampled(1, 4);
}

// A defect there shows only if one block stops at one place for long: rarely.
TEST_CASE("weak memory: the threshold is from the samples of all blocks under many orders",
          "[emulated][slow]") {
  check_sampled(5, 300);
}

TEST_CASE("weak memory: sparse sets add up in the order of the workers", "[emulated]") {
  Device device = weak(1);
  check_decode(device);
}

TEST_CASE("weak memory: every compressor under many orders", "[emulated][slow]") {
  for (unsigned seed = 1000; seed < 1006; ++seed)
    for (const Scene* scene : {&kOrdinary, &kOverflowing, &kTied, &kBelowCandidates, &kSmall})
      for (const Method& method : all_methods()) check_scene(method, *scene, seed, 1);
}
