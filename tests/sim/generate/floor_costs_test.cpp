// `traces/cost-v100-floor.csv`: the what-if of kernels that take no longer than their bytes.
#include <catch2/catch.hpp>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"

using namespace gradcast;

namespace {

const GeneratedFile& file() {
  static const GeneratedFile generated = floor_cost_files(GRADCAST_SOURCE_DIR).at(0);
  return generated;
}

const CostTable& table() {
  static const CostTable loaded = load_cost_table(TextFile{file().path, file().content});
  return loaded;
}

CostEstimate at(const char* compressor, std::int64_t elements, int workers = 16) {
  return table().estimate(
      {.compressor = compressor, .elements = elements, .density = 0.001, .workers = workers});
}

}  // namespace

// ResNet-50: 12 x 25,557,032 bytes at 765 GB/s are 400.9 us, three launches 5.5 us.
TEST_CASE("at the floor every sparsifier takes 12 bytes an element and its launches",
          "[generate]") {
  for (const char* compressor :
       {"topk", "randk", "dgc", "gaussian", "trimmed", "rtopk", "threshold"}) {
    CAPTURE(compressor);
    CHECK(at(compressor, 25'557'032).encode.count() == Approx(406.4e-6).epsilon(1e-3));
  }
  CHECK(at("topk", 4096).encode.count() == Approx(1.83e-6 + 12 * 4096 / 765e9).epsilon(1e-3));
}

// 4 x 25,557,032 bytes are 133.6 us; 16 workers' 25,557 pairs of 8 bytes 4.3 us; a launch 1.83.
TEST_CASE("at the floor decoding writes the sum once and reads every pair", "[generate]") {
  CHECK(at("topk", 25'557'032, 1).decode.count() == Approx(135.7e-6).epsilon(1e-3));
  CHECK(at("topk", 25'557'032).decode.count() == Approx(139.7e-6).epsilon(1e-3));
}

// ResNet-50 by bytes an element at 765 GB/s, and launches: qsgd 8 + 8/8 and three, fp16 4 + 2 and
// one, efsignsgd 20 + 1/8 and three, int8 12 + 1 + 4/256 and one.
TEST_CASE("at the floor casts and quantisers take their own bytes and launches", "[generate]") {
  constexpr std::int64_t kResnet = 25'557'032;
  const auto encode = [](const char* compressor, std::int64_t elements) {
    return table().estimate({.compressor = compressor, .elements = elements, .density = 1}).encode;
  };
  const auto time = [](double bytes, double elements, int launches) {
    return bytes * elements / 765e9 + launches * 1.83e-6;
  };
  CHECK(encode("qsgd", kResnet).count() == Approx(time(9, kResnet, 3)).epsilon(1e-4));
  CHECK(encode("fp16", kResnet).count() == Approx(time(6, kResnet, 1)).epsilon(1e-4));
  CHECK(encode("efsignsgd", kResnet).count() == Approx(time(20.125, kResnet, 3)).epsilon(1e-4));
  CHECK(encode("int8", kResnet).count() == Approx(time(13 + 4 / 256.0, kResnet, 1)).epsilon(1e-4));
  CHECK(encode("qsgd", 16'384).count() == Approx(time(9, 16'384, 2)).epsilon(1e-3));
  CHECK(encode("qsgd", 268'435'456).count() == Approx(time(9, 268'435'456, 4)).epsilon(1e-4));
  // 16 workers' bytes, and the sum.
  const CostEstimate of_sixteen =
      table().estimate({.compressor = "qsgd", .elements = kResnet, .density = 1, .workers = 16});
  CHECK(of_sixteen.decode.count() == Approx(time(4 + 16, kResnet, 1)).epsilon(1e-4));
}

// 4096 x 4096 at rank 2: 16 bytes an element and 8 for each of P's and Q's 16,384 numbers, in eight
// launches (both thin matrices take two, and so do both products); then 12 and 4, in one. For 4 x 4
// nothing is saved: 12 + 4 and 8 bytes an element, in two and one.
TEST_CASE("at the floor PowerSGD reads u once for each product", "[generate]") {
  const auto at = [](std::int64_t elements, int workers) {
    return CompressorCosts(table(), {.compressor = "powersgd", .parameter = 2})
        .of(elements, 1, workers);
  };
  constexpr std::int64_t kLarge = 4096 * 4096;
  CHECK(at(kLarge, 1).encode.count() ==
        Approx((16.0 * kLarge + 8 * 16'384) / 765e9 + 8 * 1.83e-6).epsilon(1e-4));
  CHECK(at(kLarge, 16).decode.count() ==
        Approx((12.0 * kLarge + 4 * 16'384) / 765e9 + 1.83e-6).epsilon(1e-4));
  CHECK(at(16, 1).encode.count() == Approx(16.0 * 16 / 765e9 + 2 * 1.83e-6).epsilon(1e-3));
  CHECK(at(16, 1).decode.count() == Approx(8.0 * 16 / 765e9 + 1.83e-6).epsilon(1e-3));
}

TEST_CASE("every compressor that has kernels has a floor, at its usual number", "[generate]") {
  for (const Compressor* compressor : all_compressors()) {
    INFO(compressor->name);
    const bool has_kernels = compressor->family != Family::Dense;
    std::set<double> parameters;
    for (const CostRow& row : table().rows)
      if (row.compressor == compressor->name) parameters.insert(row.parameter);
    std::set<double> expected;
    if (has_kernels) expected = {cost_parameter(*compressor, compressor->parameter.usual)};
    if (compressor->low_rank != nullptr) expected = {1, 2, 4};  // those that PyTorch's table has
    CHECK(parameters == expected);
  }
}

TEST_CASE("the floor is below what the authors' operators take, and says that it is no measurement",
          "[generate]") {
  const GeneratedFile published = cost_table_files().at(0);
  const CostTable torch = load_cost_table(TextFile{published.path, published.content});
  for (const CostRow& row : table().rows) {
    CHECK(row.evidence == "derived");
    CHECK(row.samples == 0);
    CHECK(row.mode != "paper");
  }
  for (const char* compressor : {"topk", "dgc", "gaussian"}) {
    const CostEstimate theirs = torch.estimate(
        {.compressor = compressor, .elements = 61'100'840, .density = 0.001, .workers = 16});
    const CostEstimate floor = at(compressor, 61'100'840);
    CHECK(floor.encode < theirs.encode);
    CHECK(floor.decode < theirs.decode);
    CHECK(floor.selected == theirs.selected);
    CHECK(floor.mode == theirs.mode);
  }
  CHECK_THAT(file().content, Catch::StartsWith("# NOT MEASURED"));
}

// The floor is the least; what was simulated says how much more it may be.
TEST_CASE("a floor has the interval up to the upper end of the derived costs", "[generate]") {
  const GeneratedFile made = derived_cost_files(GRADCAST_SOURCE_DIR).at(0);
  const CostTable derived = load_cost_table(TextFile{made.path, made.content});
  for (const CostRow& row : table().rows) {
    CAPTURE(row.compressor, row.elements, row.workers);
    CHECK(row.factors.low == 1);
    CHECK(row.factors.high > 1);
  }
  for (const char* compressor : {"topk", "qsgd", "powersgd"})
    for (const std::int64_t elements : {16'384, 25'557'032}) {
      CAPTURE(compressor, elements);
      const double density = compressor == std::string("topk") ? 0.001 : 1;
      const CostChoice choice{.compressor = compressor, .parameter = 4};
      const CostEstimate floor = CompressorCosts(table(), choice).of(elements, density, 16);
      const CostEstimate theirs = CompressorCosts(derived, choice).of(elements, density, 16);
      // Factors are those of sizes and workers around the point.
      CHECK(floor.factors.high * (floor.encode + floor.decode) >=
            0.999 * theirs.factors.high * (theirs.encode + theirs.decode));
    }
}
