// `traces/cost-v100-simulated.csv`: times of the kernels on a simulated V100, and a law beyond
// them.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/simulated_laws.hpp"
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
  const auto encodes = simulated_calls(kernels);
  REQUIRE(encodes.size() == 1);
  CHECK(encodes[0].time.count() == Approx(6e-6));
  CHECK(encodes[0].selected == 200);
}

// 10 us and 12 bytes an element at half of 870.4 GB/s: 12 x 4,352,000 / 435.2e9 = 120 us.
TEST_CASE("the law finds its fixed part and its share again", "[generate]") {
  std::vector<SimulatedCall> points;
  for (const std::int64_t elements : {20'000, 262'144, 1'048'576})
    points.push_back(
        {"topk", elements, 0.01, 0, Seconds{10e-6 + 12 * static_cast<double>(elements) / 435.2e9}});
  const BytesLaw law = fit_sparse_law(points, 0.9);
  CHECK(law.fixed.count() == Approx(10e-6));
  CHECK(law.share == Approx(0.5));
  CHECK(law.worst_error == Approx(0).margin(1e-9));
  CHECK(law.at(12 * 4'352'000).count() == Approx(130e-6));
}

TEST_CASE("no law believes a share above that of the stream, and says how far it is off",
          "[generate]") {
  std::vector<SimulatedCall> points = {{"topk", 20'000, 0.01, 0, Seconds{10e-6}},
                                       {"topk", 1'048'576, 0.01, 0, Seconds{12e-6}}};
  const BytesLaw law = fit_sparse_law(points, 0.7);
  CHECK(law.share == Approx(0.7));
  CHECK(law.worst_error > 0.3);
}

TEST_CASE("a file of simulated kernels is refused with its line", "[generate]") {
  CHECK_THROWS_WITH(
      load_simulated_kernels(kernels_file("topk,20000,0.01,start,5,1132,1,0,2,10,200\n")),
      Catch::Contains("simulated-toy.csv:2") &&
          Catch::Contains("'start' is no kernel of topk (prepare, stream, finish)"));
  const TextFile none = kernels_file("topk,20000,0.01,stream,5,1132,1,0,2,10,200\n");
  CHECK_THROWS_WITH(streamed_share(load_simulated_kernels(none), none),
                    Catch::Contains("has no stream of 4194304 elements or more"));
}

TEST_CASE("kernels of packers and of matrices have what they need to be told apart", "[generate]") {
  const auto file = [](const std::string& rows) {
    TextFile text = kernels_file(rows);
    text.content.insert(text.content.find('\n'), ",parameter,columns,workers");
    return text;
  };
  const auto calls = simulated_calls(
      load_simulated_kernels(file("qsgd,4096,1,pack,2,1132,1,0,2,10,4096,127,,\n"
                                  "qsgd,4096,1,unpack,2,2264,1,0,2,10,4096,127,,16\n"
                                  "powersgd,4096,1,project,2,1132,1,0,2,10,4096,4,64,\n"
                                  "powersgd,4096,1,project,2,1132,1,0,2,10,4096,4,32,\n"
                                  "powersgd,4096,1,restore,2,3396,1,0,2,10,4096,4,64,1\n")));
  REQUIRE(calls.size() == 5);
  CHECK(calls[0].encodes());
  CHECK(calls[1].workers == 16);
  CHECK(calls[1].time.count() == Approx(2e-6));
  CHECK(calls[3].columns == 32);
  CHECK(!calls[4].encodes());
  const auto refused = [&](const std::string& row, const char* why) {
    CHECK_THROWS_WITH(load_simulated_kernels(file(row)),
                      Catch::Contains("simulated-toy.csv:2") && Catch::Contains(why));
  };
  refused("qsgd,4096,1,unpack,2,1132,1,0,2,10,4096,127,,\n", "a decode has a number of workers");
  refused("qsgd,4096,1,restore,2,1132,1,0,2,10,4096,127,,1\n", "'restore' is no kernel of qsgd");
  refused("powersgd,4096,1,project,2,1132,1,0,2,10,4096,4,63,\n", "no whole number of rows");
}

TEST_CASE("launches are counted as the kernels that ran", "[generate]") {
  const TextFile ran =
      read_text_file(std::filesystem::path(GRADCAST_SOURCE_DIR) / "traces/simulated-v100.csv");
  int checked = 0;
  for (const SimulatedCall& call : simulated_calls(load_simulated_kernels(ran))) {
    const Compressor& compressor = *find_compressor(call.compressor);
    if (compressor.family == Family::Sparsifier) continue;
    CAPTURE(call.compressor, call.elements, call.columns, call.parameter);
    ++checked;
    if (!call.encodes())
      CHECK(call.launches == 1);
    else if (compressor.packing != nullptr)
      CHECK(call.launches == pack_launches(*compressor.packing, call.elements));
    else
      CHECK(call.launches ==
            low_rank_launches({.shape = {call.elements / call.columns, call.columns},
                               .rank = static_cast<std::int64_t>(call.parameter),
                               .mode = Mode::Code}));
  }
  CHECK(checked > 60);
}

// Rank 5 has room for 8 numbers a row: 256 rows a chunk. 1024 rows are four chunks of one block;
// 1025 are five, each with its block; 200,000 are 782, of which each of 128 blocks has seven.
TEST_CASE("thin matrices of more than four chunks have several blocks", "[generate]") {
  CHECK(thin_chunks(1024, 5).width == 8);
  CHECK(thin_chunks(1024, 5).one_by_one == 4);
  CHECK(!thin_chunks(1024, 5).apart);
  CHECK(thin_chunks(1025, 5).one_by_one == 1);
  CHECK(thin_chunks(1025, 5).apart);
  CHECK(thin_chunks(200'000, 5).one_by_one == 7);
  CHECK(!thin_chunks(1025, 33).apart);
}

// 3 us, two launches of 5000 cycles, and bytes at half of 870.4 GB/s.
TEST_CASE("a law leaves what is known of the launches to the caller", "[generate]") {
  std::vector<TimedBytes> points;
  for (const double bytes : {1e6, 4e6, 9e6})
    points.push_back({bytes, Seconds{3e-6 + bytes / 435.2e9} + 2 * SimulatedV100::kLaunch,
                      2 * SimulatedV100::kLaunch});
  const BytesLaw law = fit_bytes_law(points, 0.7);
  CHECK(law.fixed.count() == Approx(3e-6));
  CHECK(law.share == Approx(0.5));
  CHECK(law.at(435.2e3, SimulatedV100::kLaunch).count() == Approx(4e-6 + 5000 / 1132e6));
}

TEST_CASE("decoding a worker's payload takes a read's latency, or its bytes if they take longer",
          "[generate]") {
  const UnpackLaw law{
      .fixed = Seconds{1e-6}, .latency = Seconds{2e-6}, .payload_share = 0.25, .sum_share = 0.5};
  const double launch = 5000 / 1132e6;
  CHECK(law.at(0, 1, 3).count() == Approx(launch + 1e-6 + 3 * 2e-6));
  // 2,176,000 bytes at 217.6 GB/s take 10 us; the sum, 870,400 bytes at 435.2 GB/s, 2 us.
  CHECK(law.at(870'400, 2'176'000, 3).count() == Approx(launch + 3e-6 + 3 * 10e-6));
}

TEST_CASE("sizes that ran are simulated, the others derived; nothing was timed", "[generate]") {
  bool simulated = false;
  for (const CostRow& row : table().rows) {
    CAPTURE(row.compressor, row.elements);
    CHECK(row.samples == 0);
    if (find_compressor(row.compressor)->family == Family::Sparsifier)
      CHECK(row.evidence == (row.elements <= 1'048'576 ? "simulated" : "derived"));
    CHECK((row.evidence == "derived" || row.elements <= 1'048'576));
    simulated = simulated || row.evidence == "simulated";
  }
  CHECK(simulated);
  CHECK_THAT(file().content, Catch::StartsWith("# SIMULATED, NOT MEASURED"));
}

TEST_CASE("a simulated encode takes longer than the floor, and less than the authors' operators",
          "[generate]") {
  const GeneratedFile published = cost_table_files().at(0);
  const GeneratedFile bytes = floor_cost_files(GRADCAST_SOURCE_DIR).at(0);
  const CostTable torch = load_cost_table(TextFile{published.path, published.content});
  const CostTable floor = load_cost_table(TextFile{bytes.path, bytes.content});
  for (const char* compressor : {"topk", "gaussian"}) {
    const CostQuery query{
        .compressor = compressor, .elements = 25'557'032, .density = 0.001, .workers = 16};
    CHECK(table().estimate(query).encode > floor.estimate(query).encode);
    CHECK(table().estimate(query).encode < torch.estimate(query).encode);
  }
}
