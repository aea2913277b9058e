// The measurement of encoders, on the emulator and with a clock that the test sets.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "kernels/bench/call_tally.hpp"
#include "kernels/bench/device_bench.hpp"
#include "kernels/bench/device_inputs.hpp"
#include "kernels/bench/drift.hpp"
#include "kernels/compressor.hpp"
#include "kernels/floor_bytes.hpp"

using namespace gradcast;

namespace {

/// Every sample takes 2 us, and 3 us where the input was made anew for it. Each third is throttled
/// and takes 5.
class FakeTimer final : public GpuTimer {
 public:
  void evict() override {}
  void begin() override {
    ++samples_;
    drifted_ = filled_;
    filled_ = false;
  }
  void end() override {}
  double seconds() override {
    if (throttled()) return 5e-6;
    return drifted_ ? 3e-6 : 2e-6;
  }
  bool throttled() override { return samples_ % 3 == 0; }
  void fill(const Numbers& to, std::int64_t elements, Input input, std::uint32_t seed,
            std::int64_t of_elements, float scale) override {
    for (std::int64_t i = 0; i < elements; ++i) {
      const float value = scale * input_element(input, seed, of_elements, i);
      if (to.type == ValueType::Fp32)
        to.floats()[i] = value;
      else
        static_cast<std::uint16_t*>(to.first)[i] = code_of_value(to.type, value);
    }
    filled_ = true;
  }
  void add(const float* gradient, float* residual, std::int64_t elements) override {
    for (std::int64_t i = 0; i < elements; ++i) residual[i] += gradient[i];
  }
  BenchDevice device() const override { return {"emulator", "emulator", "", "", "", 1 << 30}; }

 private:
  int samples_ = 0;
  bool filled_ = false;
  bool drifted_ = false;
};

std::vector<float> numbers_in(DeviceQueue& queue, const ConstNumbers& numbers,
                              std::int64_t elements) {
  if (numbers.type == ValueType::Fp32) return downloaded(queue, numbers.floats(), elements);
  std::vector<float> values;
  for (const std::uint16_t code :
       downloaded(queue, static_cast<const std::uint16_t*>(numbers.first), elements))
    values.push_back(value_of_code(numbers.type, code));
  return values;
}

std::vector<EncoderTuning> tunings;  // encoders made since it was cleared

std::unique_ptr<Encoder> make_noted_encoder(Rule rule, Mode mode,
                                            const std::vector<EncoderTensor>& tensors,
                                            const EncoderTuning& tuning,
                                            const Workspace& workspace) {
  tunings.push_back(tuning);
  return on_emulator::make_encoder(rule, mode, tensors, tuning, workspace);
}

std::unique_ptr<Bench> emulated_bench() {
  tunings.clear();
  DeviceBenchParts parts;
  parts.implementation = "gradcast-emulated";
  parts.queue = on_emulator::make_queue(0);
  parts.timer = std::make_unique<FakeTimer>();
  parts.make_encoder = make_noted_encoder;
  parts.make_decoder = on_emulator::make_decoder;
  parts.make_packer = on_emulator::make_packer;
  parts.make_unpacker = on_emulator::make_unpacker;
  parts.make_low_rank_encoder = on_emulator::make_low_rank_encoder;
  return make_device_bench(std::move(parts));
}

BenchLimits few_samples() {
  BenchLimits limits;
  limits.seconds = 1e6;
  limits.least_samples = limits.most_samples = 4;
  return limits;
}

BenchPoint point_of(const char* compressor, Mode mode, std::vector<std::int64_t> tensors) {
  BenchPoint point;
  point.compressor = compressor;
  point.mode = mode;
  point.implementation = "gradcast-emulated";
  for (const std::int64_t elements : tensors) point.wanted.push_back(elements / 1000);
  point.tensors = std::move(tensors);
  point.workers = {1, 4};
  return point;
}

}  // namespace

TEST_CASE("a measured point tells its times, and leaves out throttled samples",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  const BenchResult result = bench->measure(point_of("topk", Mode::Only, {20'000}), few_samples());
  CHECK(result.encode.median_seconds == 3e-6);
  CHECK(result.encode.p95_seconds == 3e-6);
  CHECK(result.encode.samples == 4);
  CHECK(result.encode.discarded >= 1);
  CHECK(result.decode.size() == 2);
  CHECK(result.decode[0].median_seconds == 2e-6);
}

// 20 and 10 elements pass in turn 0, whose selection is reported; drifting elements pass or do not.
TEST_CASE("a fixed threshold is timed where what is wanted passes", "[emulated][bench]") {
  const auto bench = emulated_bench();
  const BenchResult result =
      bench->measure(point_of("threshold", Mode::Only, {20'000, 10'000}), few_samples());
  CHECK(result.recall == 1);
  CHECK(result.selected > 10);
  CHECK(result.selected < 90);
  CHECK(result.path == "fast");
}

// Two tensors, so that the second begins behind a gap; their outliers are 3 and 2 elements.
TEST_CASE("a recorded vector is encoded tensor by tensor, and grows and shrinks",
          "[emulated][bench]") {
  RecordedInput input{"u.npy", std::vector<float>(1500, 0.0f)};
  for (const std::size_t at : {0u, 500u, 999u, 1000u, 1499u}) input.u[at] = 8;
  BenchPoint point = point_of("trimmed", Mode::Code, {1000, 500});
  point.wanted = {3, 2};
  point.recorded = std::make_shared<const RecordedInput>(input);
  const auto bench = emulated_bench();
  const BenchResult result = bench->measure(point, few_samples());
  CHECK(result.selected == 5);
  CHECK(result.recall == 1);
  CHECK(result.encode.median_seconds == 2e-6);  // the timer made nothing anew
}

TEST_CASE("encode is timed with inputs that drift, and on request also warm and cold",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  BenchPoint point = point_of("topk", Mode::Only, {20'000});
  point.workers.clear();
  const BenchResult drifting = bench->measure(point, few_samples());
  CHECK_FALSE(drifting.warm);
  CHECK_FALSE(drifting.cold);
  REQUIRE(tunings.size() == 2);  // the second finds the recall
  CHECK_FALSE(tunings[0].sample_always);

  tunings.clear();
  point.warm_and_cold = true;
  const BenchResult all = bench->measure(point, few_samples());
  CHECK(all.encode.median_seconds == 3e-6);
  REQUIRE(all.warm);
  CHECK(all.warm->median_seconds == 2e-6);  // nothing is made anew
  REQUIRE(all.cold);
  CHECK(all.cold->median_seconds == 2e-6);
  REQUIRE(tunings.size() == 3);
  CHECK_FALSE(tunings[0].sample_always);
  CHECK(tunings[1].sample_always);
  CHECK(all.recall == 1);  // whatever was timed last
}

// 8 calls up, 8 down; 7 draws in turn.
TEST_CASE("inputs drift by 1 % a call, and by other values each time", "[emulated][bench]") {
  CHECK(drifted_input(5, 0).gradient_seed == 10);
  CHECK(drifted_input(5, 0).scale == 1.0f);
  CHECK(drifted_input(5, 8).scale == Approx(1.0829).margin(1e-4));  // 1.01^8
  CHECK(drifted_input(5, 16).scale == 1.0f);
  std::set<std::uint32_t> seeds;
  for (std::int64_t turn = 0; turn < 112; ++turn) {
    const DriftedInput now = drifted_input(5, turn);
    const DriftedInput next = drifted_input(5, turn + 1);
    CHECK(std::max(now.scale, next.scale) / std::min(now.scale, next.scale) ==
          Approx(1.01).margin(1e-5));
    CHECK(now.gradient_seed != next.gradient_seed);
    CHECK(now.gradient_seed % 2 == 0);  // odd ones are residuals'
    seeds.insert(now.gradient_seed);
  }
  CHECK(seeds.size() == 7);
}

TEST_CASE("calls that differ are told by their means, and their paths by how often", "[bench]") {
  CallTally tally(1000, Rule::Topk);
  tally.add(10, 0, {});
  CHECK(tally.path() == "fast");
  tally.add(16, kFullReread, {});
  tally.add(13, 0, {});
  CHECK(tally.selected() == 13);
  CHECK(tally.path() == "fast 2, u re-read 1");
  CallTally same(1000, Rule::Topk);
  same.add(13, 0, {});
  CHECK(tally.bytes() > same.bytes());  // one of three read u again
}

// A tile of 512 elements, read again by the two looks of Top-k's last kernel, is 2 x 4 x 512 bytes;
// 100 samples, of gradient and residual, are 800.
TEST_CASE("bytes count tiles that are read again, and the sample that a call takes", "[bench]") {
  EncoderWork work;
  work.tiles = 16;
  work.tile_elements = 512;
  const double as_planned = encode_bytes(8192, 0, 8, 0, work, looks_of(Rule::Topk));
  CHECK(as_planned == 12 * 8192 + 16 * 4 * 5 + 8 * 40);
  CHECK(encode_bytes(8192, 100, 8, 0, work, looks_of(Rule::Topk)) == as_planned + 800);
  work.tiles_reread = 1;
  CHECK(encode_bytes(8192, 0, 8, 0, work, looks_of(Rule::Topk)) == as_planned + 2 * 4 * 512);
}

// 20 of 20,000 and 1 of 1000: exact Top-k finds all of them.
TEST_CASE("a measured point tells how many were selected, and how many of the largest",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  const BenchResult exact =
      bench->measure(point_of("topk", Mode::Only, {20'000, 1000}), few_samples());
  CHECK(exact.selected == 21);
  CHECK(exact.recall == 1);
  CHECK(exact.path == "fast");
  const BenchResult random =
      bench->measure(point_of("randk", Mode::Only, {20'000, 1000}), few_samples());
  CHECK(random.selected == 21);
  CHECK(random.recall < 0.2);  // one in a thousand, by chance
}

TEST_CASE("a threshold compressor's count is its own", "[emulated][bench]") {
  const auto bench = emulated_bench();
  const BenchResult result =
      bench->measure(point_of("gaussian", Mode::Code, {100'000}), few_samples());
  CHECK(result.selected > 66);  // within Algorithm 1's bounds of 100
  CHECK(result.selected < 134);
  CHECK(result.recall > 0.6);
}

TEST_CASE("the device's own implementation is offered for every compressor but dense",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  for (const Compressor* compressor : all_compressors())
    CHECK(bench->implementations(std::string(compressor->name), Mode::Only).size() ==
          (compressor->family == Family::Dense ? 0 : 1));
}

// Workers receive one sum, so 16 take no longer than one. A vector is sent whole.
TEST_CASE("PowerSGD is timed by its shapes: both products, and what is received",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  BenchPoint point = point_of("powersgd", Mode::Code, {64 * 147, 64});
  point.parameter = 2;
  point.shapes = {{64, 147}, {64, 1}};
  point.workers = {1, 16};
  CHECK(bench->memory_needed(point) > 32 * 9472);
  const BenchResult result = bench->measure(point, few_samples());
  CHECK(result.encode.samples == 4);
  CHECK(result.selected == 9472);
  CHECK(result.bytes == 16 * 9472 + 2 * 4 * (64 + 147) * 2);
  REQUIRE(result.decode.size() == 2);
  CHECK(result.decode[0].median_seconds == result.decode[1].median_seconds);
  point.shapes.pop_back();
  CHECK_THROWS_AS(bench->measure(point, few_samples()), std::logic_error);
}

TEST_CASE("what is timed of PowerSGD is the definition's call of the point's tensors",
          "[emulated][bench]") {
  const auto queue = on_emulator::make_queue(0);
  FakeTimer timer;
  BenchPoint point = point_of("powersgd", Mode::Code, {40 * 30, 7});
  point.parameter = 2;
  point.shapes = {{40, 30}, {7, 1}};
  const DeviceLowRank matrices(*queue, timer, point);
  const std::vector<LowRankTensor> described = matrices.describe();
  const LowRank& definition = *find_compressor("powersgd")->low_rank;
  std::vector<std::vector<float>> expected;
  for (const LowRankTensor& tensor : described) {
    const auto elements = static_cast<std::size_t>(tensor.shape.rows * tensor.shape.columns);
    const std::vector<float> gradient(tensor.gradient.floats(),
                                      tensor.gradient.floats() + elements);
    std::vector<float> residual(tensor.residual, tensor.residual + elements);
    const LowRankSettings settings{tensor.shape, 2, point.mode, point.seed};
    const LowRankNumbers numbers = definition.numbers(tensor.shape, 2, point.mode);
    std::vector<float> q(static_cast<std::size_t>(numbers.second));
    expected.emplace_back(static_cast<std::size_t>(numbers.first));
    definition.first(gradient, residual, settings, q, expected.back());
  }
  on_emulator::make_low_rank_encoder(2, point.mode, described)->first(queue->stream());
  queue->wait();
  for (std::size_t t = 0; t < described.size(); ++t)
    for (std::size_t i = 0; i < expected[t].size(); ++i)
      REQUIRE(described[t].p[i] == Approx(expected[t][i]).margin(1e-3));
}

TEST_CASE("every cast and quantiser is timed with inputs that drift, and decoded of each worker",
          "[emulated][bench]") {
  const auto bench = emulated_bench();
  for (const Compressor* compressor : all_packers()) {
    INFO(compressor->name);
    BenchPoint point = point_of(compressor->name.data(), Mode::Only, {20'000, 1000});
    point.parameter = compressor->parameter.usual;
    CHECK(bench->memory_needed(point) > 16 * 21'000);
    const BenchResult result = bench->measure(point, few_samples());
    CHECK(result.encode.median_seconds == 3e-6);  // made anew for it
    CHECK(result.encode.samples == 4);
    CHECK(result.selected == 21'000);
    CHECK(result.bytes == encode_floor_bytes(*compressor, point.parameter, 20'000) +
                              encode_floor_bytes(*compressor, point.parameter, 1000));
    CHECK_FALSE(result.warm);
    REQUIRE(result.decode.size() == 2);
    CHECK(result.decode[1].median_seconds == 2e-6);
    point.workers.clear();
    CHECK(bench->measure(point, few_samples()).decode.empty());
  }
}

// The device holds what the reference makes of the point's inputs. There are two tensors, so that
// the second begins behind a gap, and three workers.
TEST_CASE("what is timed is a pack of the point's tensors, and what three workers say together",
          "[emulated][bench]") {
  const auto queue = on_emulator::make_queue(0);
  FakeTimer timer;
  for (const Compressor* compressor : all_packers())
    for (const ValueType type : {ValueType::Fp32, ValueType::Bf16}) {
      INFO(compressor->name << ", type " << static_cast<int>(type));
      const Packing& packing = *compressor->packing;
      BenchPoint point = point_of(compressor->name.data(), Mode::Only, {3000, 500});
      point.parameter = compressor->parameter.usual;
      point.input_type = type;
      DevicePacks packs(*queue, timer, point, *compressor);
      const auto described = packs.describe();
      std::vector<std::vector<std::uint32_t>> expected;
      for (const PackerTensor& tensor : described) {
        CHECK((tensor.residual != nullptr) == compressor->feedback);
        const auto gradient = numbers_in(*queue, tensor.gradient, tensor.elements);
        auto residual = compressor->feedback
                            ? downloaded<float>(*queue, tensor.residual, tensor.elements)
                            : std::vector<float>{};
        expected.emplace_back(
            static_cast<std::size_t>(packing.words(tensor.elements, point.parameter)));
        packing.encode(gradient, residual, {point.parameter, point.seed}, expected.back());
      }
      on_emulator::make_packer(packing.rule, point.parameter, described)->pack(queue->stream());
      packs.prepare_unpack(3);
      const auto of_three = packs.describe_unpack(3);
      on_emulator::make_unpacker(packing.rule, point.parameter, of_three)->unpack(queue->stream());
      queue->wait();
      for (std::size_t t = 0; t < of_three.size(); ++t) {
        const std::vector<std::span<const std::uint32_t>> payloads(3, expected[t]);
        std::vector<float> dense(static_cast<std::size_t>(of_three[t].elements));
        packing.decode(payloads, point.parameter, dense);
        CHECK(std::set<const std::uint32_t*>(of_three[t].payloads.begin(),
                                             of_three[t].payloads.end())
                  .size() == 3);  // each worker has its own
        for (float& value : dense) value = as_sent(type, value);
        CHECK(numbers_in(*queue, {of_three[t].dense.first, type}, of_three[t].elements) == dense);
      }
    }
}

// Rounding to bf16 makes ties, and Top-k sends k = 20 of 20,000 all the same; the others send all.
TEST_CASE("gradients of 16 bits are timed as they are", "[emulated][bench]") {
  const auto bench = emulated_bench();
  for (const char* name : {"topk", "powersgd", "qsgd"}) {
    INFO(name);
    BenchPoint point =
        point_of(name, name == std::string("powersgd") ? Mode::Code : Mode::Only, {20'000});
    point.input_type = ValueType::Bf16;
    point.parameter = find_compressor(name)->parameter.usual;
    point.shapes = {{200, 100}};
    const BenchResult result = bench->measure(point, few_samples());
    CHECK(result.encode.samples == 4);
    CHECK(result.selected == (name == std::string("topk") ? 20 : 20'000));
    CHECK(result.recall == 1);
    CHECK(result.bytes == 0);  // counts are of fp32
  }
}

TEST_CASE("the ceiling is measured", "[emulated][bench]") {
  CHECK(emulated_bench()->ceiling(10'000, few_samples()).median_seconds == 2e-6);
}
