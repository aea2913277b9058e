// `traces/cost-v100-simulated.csv`: times of the kernels on a simulated V100, and a law beyond
// them.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/simulated_kernels.hpp"
#include "sim/inputs/cost_table.hpp"

using namespace gradcast;

namespace {

const GeneratedFile& file() {
  static const GeneratedFile generated = simulated_cost_files(GRADCAST_SOURCE_DIR).at(0);
  return generated;
}

const CostTable& table() {
  static const CostTable loaded = load_cost_table(TextFile{file().path, file().content});
  return loaded;
}

TextFile kernels_file(const std::string& rows) {
  return {"simulated-toy.csv",
          "compressor,elements,density,kernel,blocks,cycles,dram_read,dram_written,l2,instructions,"
          "selected\n" +
              rows};
}

}  // namespace

// 1132 + 2264 + 3396 cycles at 1132 MHz are 1 + 2 + 3 us.
TEST_CASE("an encode takes its kernels' cycles together; a stream alone is no encode",
          "[generate]") {
  const auto kernels =
      load_simulated_kernels(kernels_file("topk,20000,0.01,prepare,5,1132,1,0,2,10,200\n"
                                          "topk,20000,0.01,stream,5,2264,1,0,2,10,200\n"
                                          "topk,20000,0.01,finish,5,3396,1,0,2,10,200\n"
                                          "topk,4194304,0.01,stream,5,90000,1,0,2,10,0\n"));
  const auto encodes = simulated_encodes(kernels);
  REQUIRE(encodes.size() == 1);
  CHECK(encodes[0].time.count() == Approx(6e-6));
  CHECK(encodes[0].selected == 200);
}

// 10 us and 12 bytes an element at half of 870.4 GB/s: 12 x 4,352,000 / 435.2e9 = 120 us.
TEST_CASE("the law finds its fixed part and its share again", "[generate]") {
  std::vector<SimulatedEncode> points;
  for (const std::int64_t elements : {20'000, 262'144, 1'048'576})
    points.push_back(
        {"topk", elements, 0.01, 0, Seconds{10e-6 + 12 * static_cast<double>(elements) / 435.2e9}});
  const EncodeLaw law = fit_encode_law(points, 0.9);
  CHECK(law.fixed.count() == Approx(10e-6));
  CHECK(law.share == Approx(0.5));
  CHECK(law.worst_error == Approx(0).margin(1e-9));
  CHECK(law.at(4'352'000).count() == Approx(130e-6));
}

TEST_CASE("no law believes a share above that of the stream, and says how far it is off",
          "[generate]") {
  std::vector<SimulatedEncode> points = {{"topk", 20'000, 0.01, 0, Seconds{10e-6}},
                                         {"topk", 1'048'576, 0.01, 0, Seconds{12e-6}}};
  const EncodeLaw law = fit_encode_law(points, 0.7);
  CHECK(law.share == Approx(0.7));
  CHECK(law.worst_error > 0.3);
}

TEST_CASE("a file of simulated kernels is refused with its line", "[generate]") {
  CHECK_THROWS_WITH(
      load_simulated_kernels(kernels_file("topk,20000,0.01,start,5,1132,1,0,2,10,200\n")),
      Catch::Contains("simulated-toy.csv:2") &&
          Catch::Contains("'start' is not 'prepare', 'stream' or 'finish'"));
  const TextFile none = kernels_file("topk,20000,0.01,stream,5,1132,1,0,2,10,200\n");
  CHECK_THROWS_WITH(streamed_share(load_simulated_kernels(none), none),
                    Catch::Contains("has no stream of 4194304 elements or more"));
}

TEST_CASE("sizes that ran are simulated, the others derived; nothing was timed", "[generate]") {
  bool simulated = false;
  for (const CostRow& row : table().rows) {
    CAPTURE(row.compressor, row.elements);
    CHECK(row.samples == 0);
    CHECK(row.evidence == (row.elements <= 1'048'576 ? "simulated" : "derived"));
    simulated = simulated || row.evidence == "simulated";
  }
  CHECK(simulated);
  CHECK_THAT(file().content, Catch::StartsWith("# SIMULATED, NOT MEASURED"));
}

TEST_CASE("a simulated encode takes longer than the floor, and less than the authors' operators",
          "[generate]") {
  const GeneratedFile published = cost_table_files().at(0);
  const GeneratedFile bytes = floor_cost_files().at(0);
  const CostTable torch = load_cost_table(TextFile{published.path, published.content});
  const CostTable floor = load_cost_table(TextFile{bytes.path, bytes.content});
  for (const char* compressor : {"topk", "gaussian"}) {
    const CostQuery query{
        .compressor = compressor, .elements = 25'557'032, .density = 0.001, .workers = 16};
    CHECK(table().estimate(query).encode > floor.estimate(query).encode);
    CHECK(table().estimate(query).encode < torch.estimate(query).encode);
  }
}
