// `traces/cost-v100-derived.csv`: costs of every compressor, derived from kernels that ran on a
// simulated V100.
#include <catch2/catch.hpp>
#include <set>

#include "kernels/compressor.hpp"
#include "kernels/floor_bytes.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/simulated_kernels.hpp"
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

// fp16 reads 4 bytes and writes 2; it reads 2 if gradients have 16 bits. QSGD reads 4 bytes twice
// and writes 1: with 16-bit gradients 2 x 2 + 1. At 8 G elements the launches do not count.
TEST_CASE("casts and quantisers go on in proportion to the bytes", "[generate]") {
  const double fp16 = at("fp16", kMost, 1).encode.count();
  CHECK(fp16 >= 0.999 * 6 * static_cast<double>(kMost) / kStreamed);
  for (const NumberType input : {NumberType::Bf16, NumberType::Fp16})
    CHECK(at("fp16", kMost, 1, input).encode.count() == Approx(fp16 * 4 / 6).epsilon(1e-3));
  CHECK(at("fp16", kMost / 2, 1).encode.count() == Approx(fp16 / 2).epsilon(1e-2));
  const double qsgd = at("qsgd", kMost, 1).encode.count();
  CHECK(at("qsgd", kMost, 1, NumberType::Bf16).encode.count() ==
        Approx(qsgd * 5 / 9).epsilon(1e-3));
  // Each worker's payload of 1 byte an element takes as long as any other's.
  const auto decode = [](int workers) {
    return at("qsgd", kMost, 1, NumberType::Fp32, workers).decode.count();
  };
  CHECK(decode(129) - decode(1) == Approx(128 * (decode(2) - decode(1))).epsilon(1e-3));
  CHECK(decode(2) - decode(1) >= 0.999 * static_cast<double>(kMost) / kStreamed);
}

// 512 x 512 at rank 4 took 15,441 + 13,056 cycles in the first call, 15,100 + 10,553 + 7,028 in the
// second, and 11,728 in the third.
TEST_CASE("PowerSGD takes what its kernels took, and orthogonalises longer at higher ranks",
          "[generate]") {
  const auto of_rank = [](double rank, std::int64_t elements) {
    return at("powersgd", elements, 1, NumberType::Fp32, 1, rank);
  };
  CHECK(of_rank(4, 262'144).encode.count() == Approx(61'178 / 1132e6).epsilon(1e-4));
  CHECK(of_rank(4, 262'144).decode.count() == Approx(11'728 / 1132e6).epsilon(1e-4));
  for (const std::int64_t elements : {std::int64_t{262'144}, std::int64_t{16'777'216}})
    CHECK(of_rank(32, elements).encode > of_rank(4, elements).encode);
  // 92,681 x 92,681: 16 bytes an element at the most.
  CHECK(of_rank(4, kMost).encode.count() >= 0.999 * 16.0 * 92'681 * 92'681 / kStreamed);
}

namespace {

/// The time of the row's bytes at the whole bandwidth, and of its launches.
struct Floor {
  Seconds encode, decode;
};

Floor floor_of(const CostRow& row) {
  const Compressor& compressor = *find_compressor(row.compressor);
  const auto all = static_cast<double>(row.elements);
  const double less = row.input_type == NumberType::Fp32 ? 0 : 2 * all;
  const auto time = [](double bytes, int launches) {
    return launches * SimulatedV100::kLaunch + Seconds{bytes / SimulatedV100::kBytesPerSecond};
  };
  if (compressor.packing != nullptr) {
    const double parameter = compressor.parameter.usual;
    const int passes = measures_first(*compressor.packing) ? 2 : 1;
    return {time(encode_floor_bytes(compressor, parameter, row.elements) - passes * less,
                 pack_launches(*compressor.packing, row.elements)),
            time(decode_floor_bytes(*compressor.packing, parameter, row.elements, row.workers), 1)};
  }
  if (compressor.low_rank != nullptr) {
    const LowRankSettings matrix{.shape = near_square(row.elements),
                                 .rank = static_cast<std::int64_t>(row.parameter),
                                 .mode = Mode::Code};
    return {time(encode_floor_bytes(matrix) - less, low_rank_launches(matrix)),
            time(decode_floor_bytes(matrix), 1)};
  }
  return {time(kEncodeBytes * all - less, row.elements <= kWholeTensor ? 1 : 3),
          time(decode_bytes(all, row.selected, row.workers), 1)};
}

}  // namespace

TEST_CASE("every compressor ran, and no row is below the floor", "[generate]") {
  std::set<std::string> simulated;
  const Seconds rounding{1e-9};
  for (const CostRow& row : table().rows) {
    CAPTURE(row.compressor, row.parameter, row.elements, row.workers, to_text(row.input_type));
    CHECK((row.evidence == "simulated" || row.evidence == "derived"));
    if (row.evidence == "simulated") simulated.insert(row.compressor);
    const Floor floor = floor_of(row);
    CHECK(row.encode + rounding >= floor.encode);
    CHECK(row.decode + rounding >= floor.decode);
    if (find_compressor(row.compressor)->family != Family::Sparsifier)
      CHECK(row.factors.low == Approx(floor.encode / row.encode).epsilon(1e-3));
  }
  for (const Compressor* compressor : all_compressors())
    if (compressor->family != Family::Dense)
      CHECK(simulated.contains(std::string(compressor->name)));
}

TEST_CASE("sizes that ran are what they took, and densities beyond cost no less", "[generate]") {
  const GeneratedFile simulated = simulated_cost_files(GRADCAST_SOURCE_DIR).at(0);
  const CostTable ran = load_cost_table(TextFile{simulated.path, simulated.content});
  std::size_t same = 0;
  for (const CostRow& row : table().rows) {
    if (row.evidence != "simulated") continue;
    ++same;
    CAPTURE(row.compressor, row.elements, row.density);
    const CostEstimate theirs =
        CompressorCosts(ran, {.compressor = row.compressor, .parameter = row.parameter})
            .of(row.elements, row.density, 1);
    CHECK(theirs.encode == row.encode);
    CHECK(static_cast<double>(theirs.selected) == row.selected);
  }
  // 7 sparsifiers, 2 densities, 3 or 4 sizes; 9 packers, 3 sizes; PowerSGD: 5 ranks, 3 sizes; each
  // with 2 numbers of workers.
  CHECK(same > 160);
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
      if (compressor->family == Family::Sparsifier)
        CHECK(row.factors.low == Approx(0.7003).epsilon(1e-3));  // at the whole bandwidth
      CHECK(row.factors.low > 0.1);
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
