// `traces/cost-v100-derived.csv`: costs of every compressor, derived from kernels that ran on a
// simulated V100.
#include <catch2/catch.hpp>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/compressor_words.hpp"

using namespace gradcast;

namespace {

const GeneratedFile& file() {
  static const GeneratedFile generated = derived_cost_files(GRADCAST_SOURCE_DIR).at(0);
  return generated;
}

const CostTable& table() {
  static const CostTable loaded = load_cost_table(TextFile{file().path, file().content});
  return loaded;
}

CostEstimate at(const char* compressor, std::int64_t elements, double density,
                NumberType input = NumberType::Fp32, int workers = 1, double parameter = 0) {
  return CompressorCosts(table(),
                         {.compressor = compressor, .input_type = input, .parameter = parameter})
      .of(elements, density, workers);
}

// The simulator's stream of 4 M elements: 93,475 cycles at 1132 MHz are 82.57 us for 12 bytes each.
constexpr double kStreamed = 12.0 * 4'194'304 / (93'475 / 1132e6);  // 609.5 GB/s
constexpr double kLaunched = 5000 / 1132e6;                         // 4.4 us
constexpr std::int64_t kMost = std::int64_t{1} << 33;

}  // namespace

// Top-k at 0.001 is 34.7 us and 12 bytes an element at 609.5 GB/s, 70 % of 870.4; for 8 G elements
// 169.1 ms. A 16-bit gradient saves 2 of the 12 bytes.
TEST_CASE("costs go on to 8 G elements in proportion to the bytes", "[generate]") {
  const double bytes = 12.0 * static_cast<double>(kMost);
  CHECK(kStreamed == Approx(609.5e9).epsilon(1e-3));
  CHECK(at("topk", kMost, 0.001).encode.count() == Approx(bytes / kStreamed).epsilon(1e-3));
  CHECK(at("topk", kMost, 0.001, NumberType::Bf16).encode.count() ==
        Approx(bytes / kStreamed * 10 / 12).epsilon(1e-3));
  CHECK(at("topk", kMost, 0.001).outside.empty());
  // Between the points of the table too: GPT-2 XL.
  CHECK(at("topk", 1'557'611'200, 0.001).encode.count() ==
        Approx(34.7e-6 + 12.0 * 1'557'611'200 / kStreamed).epsilon(2e-3));
}

// fp16 reads 4 bytes and writes 2, in a launch; it reads 2 if gradients have 16 bits. QSGD reads 4
// bytes twice and writes 1: with 16-bit gradients 2 x 2 + 1, in 4 launches.
TEST_CASE("casts and quantisers take their bytes at the share of a stream", "[generate]") {
  const auto n = static_cast<double>(kMost);
  CHECK(at("fp16", kMost, 1).encode.count() == Approx(kLaunched + 6 * n / kStreamed).epsilon(1e-4));
  for (const NumberType input : {NumberType::Bf16, NumberType::Fp16})
    CHECK(at("fp16", kMost, 1, input).encode.count() ==
          Approx(kLaunched + 4 * n / kStreamed).epsilon(1e-4));
  CHECK(at("qsgd", kMost, 1).encode.count() ==
        Approx(4 * kLaunched + 9 * n / kStreamed).epsilon(1e-4));
  CHECK(at("qsgd", kMost, 1, NumberType::Bf16).encode.count() ==
        Approx(4 * kLaunched + 5 * n / kStreamed).epsilon(1e-4));
  // 128 workers' payloads of 1 byte, and the sum.
  CHECK(at("qsgd", kMost, 1, NumberType::Fp32, 128).decode.count() ==
        Approx(kLaunched + (4 + 128) * n / kStreamed).epsilon(1e-3));
}

// 92,681 x 92,681 at rank 4: 16 bytes an element and 8 of each of P's and Q's 741,448 numbers.
TEST_CASE("PowerSGD takes its bytes at the share of a stream, by rank", "[generate]") {
  const double n = 92'681.0 * 92'681;
  const double thin = 4 * 2 * 92'681.0;
  CHECK(at("powersgd", kMost, 1, NumberType::Fp32, 1, 4).encode.count() ==
        Approx(4 * kLaunched + (16 * n + 8 * thin) / kStreamed).epsilon(1e-4));
  CHECK(at("powersgd", kMost, 1, NumberType::Fp32, 1, 32).encode.count() >
        at("powersgd", kMost, 1, NumberType::Fp32, 1, 4).encode.count());
}

TEST_CASE("sizes that ran are what they took, and densities beyond cost no less", "[generate]") {
  const GeneratedFile simulated = simulated_cost_files(GRADCAST_SOURCE_DIR).at(0);
  const CostTable ran = load_cost_table(TextFile{simulated.path, simulated.content});
  std::size_t same = 0;
  for (const CostRow& row : table().rows) {
    if (row.evidence != "simulated") continue;
    ++same;
    CAPTURE(row.compressor, row.elements, row.density);
    const CostEstimate theirs = ran.estimate(
        {.compressor = row.compressor, .elements = row.elements, .density = row.density});
    CHECK(theirs.encode == row.encode);
    CHECK(static_cast<double>(theirs.selected) == row.selected);
  }
  CHECK(same > 80);  // 7 sparsifiers, 2 densities, 3 or 4 sizes and 2 numbers of workers
  for (const char* compressor : {"topk", "randk", "gaussian", "trimmed", "rtopk", "threshold"}) {
    CAPTURE(compressor);
    for (const std::int64_t elements : {std::int64_t{262'144}, kMost}) {
      CHECK(at(compressor, elements, 0.0001).encode == at(compressor, elements, 0.001).encode);
      CHECK(at(compressor, elements, 0.1).encode > at(compressor, elements, 0.01).encode);
    }
  }
}

TEST_CASE("every compressor has derived costs of every type of gradient, with an interval",
          "[generate]") {
  for (const Compressor* compressor : all_compressors()) {
    if (compressor->family == Family::Dense) continue;
    CAPTURE(compressor->name);
    std::set<NumberType> inputs;
    for (const CostRow& row : table().rows) {
      if (row.compressor != compressor->name) continue;
      inputs.insert(row.input_type);
      CHECK(row.factors.low == Approx(0.7003).epsilon(1e-3));  // at the whole bandwidth
      CHECK(row.factors.high >= 1.5);
      CHECK(row.samples == 0);
    }
    CHECK(inputs.size() == 3);
    const double density = compressor->family == Family::Sparsifier ? 0.01 : 1;
    const CostEstimate usual =
        at(std::string(compressor->name).c_str(), kMost, density, NumberType::Bf16, 1024,
           cost_parameter(*compressor, compressor->parameter.usual));
    CHECK(usual.outside.empty());
    CHECK(usual.far_outside.empty());
  }
  CHECK_THAT(file().content, Catch::StartsWith("# NOT MEASURED"));
}
