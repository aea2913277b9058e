// The parts of `calibrate`: what is measured, the file that grows, the torch child, the tables.
#include <catch2/catch.hpp>
#include <csignal>
#include <new>

#include "kernels/bench/sampling.hpp"
#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/progress.hpp"
#include "sim/calibration/cost_file.hpp"
#include "sim/calibration/meter.hpp"
#include "sim/calibration/per_layer.hpp"
#include "sim/calibration/points.hpp"
#include "sim/calibration/roofline.hpp"
#include "sim/calibration/torch_child.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// Layers of two tensors, 4 and 6 million elements, and one of 1000.
Model toy_model() {
  return {"toy", {{"a", "a.w", 4'000'000, 0}, {"a", "a.b", 1000, 0}, {"b", "b.w", 6'000'000, 0}}};
}

PointsOffered plenty() {
  PointsOffered offered;
  offered.memory_bytes = 100;
  offered.memory_needed = [](const BenchPoint&) { return std::int64_t{1}; };
  offered.implementations = [](const std::string&, Mode) {
    return std::vector<std::string>{"gradcast-cpu"};
  };
  return offered;
}

PointsAsked asked(const std::vector<TensorSet>& sets, const std::vector<const char*>& compressors) {
  PointsAsked asked;
  asked.sets = sets;
  for (const char* name : compressors) asked.compressors.push_back(find_compressor(name));
  asked.densities = {0.001};
  asked.inputs = {Input::normal};
  asked.workers = {1, 16};
  return asked;
}

CostRow row_of(std::int64_t elements, int workers) {
  CostRow row;
  row.compressor = "topk";
  row.implementation = "gradcast-cpu";
  row.elements = elements;
  row.density = 0.001;
  row.workers = workers;
  row.distribution = "normal";
  row.selected = 1;
  row.encode = Seconds{1e-6};
  row.evidence = "measured";
  return row;
}

const std::vector<Provenance> kHere{{"", "A sentence."}, {"device", "toy", true}, {"date", "now"}};

BenchPoint bench_point(const char* compressor, TensorSet tensors) {
  BenchPoint point;
  point.compressor = compressor;
  point.implementation = "gradcast-cpu";
  for (const std::int64_t elements : tensors) point.wanted.push_back(elements / 100);
  point.tensors = std::move(tensors);
  point.workers = {1, 4};
  return point;
}

/// A child that greets and then runs `loop` for each line it reads.
std::vector<std::string> child(
    const TemporaryFolder& folder, const std::string& loop,
    const std::string& greeting = R"({"torch": "9.9", "cuda": "13.0"})") {
  return {"sh", folder.write("child.sh", "echo '" + greeting + "'\nwhile read -r line; do " + loop +
                                             "; done\n")};
}

bool never() { return false; }

/// A device whose memory holds a million elements and no more, whatever it said before.
class FullBench : public Bench {
 public:
  BenchDevice device() const override { return {}; }
  std::vector<std::string> implementations(const std::string& /*compressor*/,
                                           Mode /*mode*/) const override {
    return {};
  }
  std::int64_t memory_needed(const BenchPoint& /*point*/) const override { return 0; }
  BenchResult measure(const BenchPoint& point, const BenchLimits& /*limits*/) override {
    if (point.tensors[0] > 1'000'000) throw std::bad_alloc();
    return {};
  }
  BenchTiming ceiling(std::int64_t /*elements*/, const BenchLimits& /*limits*/) override {
    return {};
  }
};

}  // namespace

TEST_CASE("a range without an end or a beginning is named as that") {
  CHECK_THROWS_WITH(parse_densities("0.01.."), "the range '0.01..' has no end");
  CHECK_THROWS_WITH(parse_densities(".."), "the range '..' has no end");
  CHECK_THROWS_WITH(parse_densities("0.1,..0.01"), "the range '..0.01' has no beginning");
  CHECK_THROWS_WITH(parse_counts_to(100, "4.."), "the range '4..' has no end");
}

TEST_CASE("a density that keeps nothing of any tensor is not measured") {
  CHECK(parse_densities("1e-9") == std::vector<double>{1e-9});
  CHECK_THROWS_WITH(parse_densities("1e-300..1"),
                    Contains("'1e-300' is below the least density that is measured"));
}

TEST_CASE("lists take ranges: densities by 1-2-5, counts by doubling") {
  CHECK(parse_densities("0.01,0.001") == std::vector<double>{0.001, 0.01});
  CHECK(parse_densities("0.0001..0.01") ==
        std::vector<double>{0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01});
  CHECK(parse_densities("0.0003..0.003,0.5") ==
        std::vector<double>{0.0003, 0.0005, 0.001, 0.002, 0.003, 0.5});
  CHECK(parse_counts_to(100, "4..64") == std::vector<int>{4, 8, 16, 32, 64});
  CHECK(parse_counts_to(100, "3..10,1") == std::vector<int>{1, 3, 6, 10});
  CHECK(parse_words("a,b,a") == std::vector<std::string>{"a", "b"});
  for (const char* wrong : {"", "0.1,", "0.1..", "0.1..0.1", "0.2..0.1", "0..1", "0.1..2"})
    CHECK_THROWS_AS(parse_densities(wrong), ValueError);
  for (const char* wrong : {"0", "1..200", "8..4", "x", "1..2..3"})
    CHECK_THROWS_AS(parse_counts_to(100, wrong), ValueError);
}

// Backward order: 6 M, then 1000 and 4 M. 25 MiB are 6,553,600 elements, 64 MiB more than all.
TEST_CASE("a model is its tensors, its buckets, and all of it, once each") {
  const std::vector<TensorSet> expected{
      {1000}, {4'000'000}, {6'000'000}, {10'001'000}, {4'000'000, 1000, 6'000'000}};
  CHECK(sets_of_models({toy_model(), toy_model()}) == expected);
  CHECK(whole_models({toy_model()}) ==
        std::vector<TensorSet>{{10'001'000}, {4'000'000, 1000, 6'000'000}});
  const Model lone{"lone", {{"a", "a.w", 1000, 0}}};
  CHECK(sets_of_models({lone}) == std::vector<TensorSet>{{1000}});
  CHECK(merged_sets({{1024}}, {{7}, {1024}}) == std::vector<TensorSet>{{7}, {1024}});
  CHECK(sweep_sets().front() == TensorSet{1024});
  CHECK(sweep_sets().back() == TensorSet{400'000'000});
}

TEST_CASE("points are all combinations, with k of each tensor and both modes") {
  const CalibrationPoints made =
      make_points(asked({{500}, {4000, 2000}}, {"topk", "gaussian"}), plenty());
  REQUIRE(made.points.size() == 6);
  CHECK(made.notes.empty());
  CHECK(made.points[0].call.wanted == std::vector<std::int64_t>{1});
  CHECK(made.points[1].call.mode == Mode::Paper);
  CHECK(made.points[2].call.mode == Mode::Code);
  CHECK(made.points[3].call.wanted == std::vector<std::int64_t>{4, 2});
  const std::vector<CostRow> rows = rows_of(made.points[3], nullptr);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].tensors == 2);
  CHECK(rows[0].elements == 6000);
  CHECK(key_of(rows[1]) == "topk,,gradcast-cpu,2,6000,0.001,16,normal");
}

TEST_CASE("what is not defined or does not fit is left out, and said") {
  PointsAsked dgc = asked({{1000}}, {"dgc"});
  dgc.densities = {0.01, 0.02};
  const CalibrationPoints defined = make_points(dgc, plenty());
  CHECK(defined.points.size() == 3);  // paper at both, code at 0.01
  REQUIRE(defined.notes.size() == 1);
  CHECK_THAT(defined.notes[0], Contains("above density 0.01"));

  PointsOffered small = plenty();
  small.memory_needed = [](const BenchPoint& point) { return point.tensors[0]; };
  const CalibrationPoints fitting = make_points(asked({{100}, {101}, {102}}, {"topk"}), small);
  CHECK(fitting.points.size() == 1);
  REQUIRE(fitting.notes.size() == 1);
  CHECK_THAT(fitting.notes[0], Contains("memory") && Contains("101, 102 elements"));
  CHECK(make_points(asked({{2'000'000'000, 2'000'000'000}}, {"topk"}), plenty()).points.empty());
}

TEST_CASE("distributions go by the names of inputs") {
  CHECK(parse_input("student_t2") == Input::student_t2);
  CHECK(input_text(Input::layermix) == "layermix");
  CHECK_THROWS_WITH(parse_input("laplac"), Contains("did you mean 'laplace'?"));
}

TEST_CASE("a cost file grows by rows, and what stands there stays") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  std::string first;
  {
    CostFile file(path, kHere, {1, 16});
    CHECK(folder.files() == 0);  // a file without rows would be no table
    file.tell_command("gradcast calibrate");
    file.add({row_of(10, 1), row_of(10, 16)});
    first = read_text_file(path).content;
    CHECK_THAT(first, Catch::StartsWith("# A sentence.\n# device: toy\n# date: now\n"));
  }
  CostFile file(path, {{"", "A sentence."}, {"device", "toy", true}, {"date", "later"}}, {1, 16});
  CHECK(file.has(row_of(10, 16)));
  CHECK_FALSE(file.has(row_of(20, 16)));
  file.tell_command("gradcast calibrate");
  file.add({row_of(10, 1), row_of(20, 1), row_of(20, 16)});
  const std::string second = read_text_file(path).content;
  CHECK(second.starts_with(first));
  CHECK(load_cost_table(read_text_file(path)).rows.size() == 4);
  file.tell_command("gradcast calibrate --sweep");
  file.add({row_of(30, 1)});
  CHECK_THAT(read_text_file(path).content,
             Contains("# command: gradcast calibrate\n"
                      "# then: gradcast calibrate --sweep (later)\n"));
  file.tell_command("gradcast calibrate --sweep");  // told already
  file.add({row_of(40, 1)});
  CHECK_THAT(read_text_file(path).content, !Contains("(later)\n# then"));
}

TEST_CASE("two runs on one cost file lose no row: the second stops") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  CostFile first(path, kHere, {1});
  CostFile second(path, kHere, {1});  // both of them saw no file
  first.add({row_of(10, 1)});
  first.add({row_of(20, 1)});  // what it wrote itself is no change
  const std::string there = read_text_file(path).content;
  const auto stops = [&](CostFile& run) {
    try {
      run.add({row_of(30, 1)});
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::Failure);
      CHECK_THAT(error.what(), Contains("costs.csv: another run has changed it") &&
                                   Contains("start again") && Contains("-o"));
    }
  };
  stops(second);
  CHECK(read_text_file(path).content == there);
  CostFile third(path, kHere, {1});  // this one saw both rows, and then a third
  first.add({row_of(25, 1)});
  stops(third);
  CHECK(load_cost_table(read_text_file(path)).rows.size() == 3);
}

TEST_CASE("a cost table that was removed while it grew is written again, whole") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  CostFile file(path, kHere, {1});
  file.add({row_of(10, 1)});
  std::filesystem::remove(path);
  file.add({row_of(20, 1)});
  CHECK(load_cost_table(read_text_file(path)).rows.size() == 2);
}

TEST_CASE("an empty file is a new cost table") {
  TemporaryFolder folder;
  const std::string path = folder.write("costs.csv", "");
  CostFile file(path, kHere, {1});
  file.add({row_of(10, 1)});
  CHECK(load_cost_table(read_text_file(path)).rows.size() == 1);
}

TEST_CASE("a cost file of something else is refused, by what differs, and left alone") {
  TemporaryFolder folder;
  const auto refused = [&](const std::string& content, const std::string& says) {
    const std::string path = folder.write("costs.csv", content);
    CHECK_THROWS_WITH(CostFile(path, kHere, {1, 16}), Contains(says));
    CHECK(read_text_file(path).content == content);
  };
  const std::string rows = cost_table_csv({"", {row_of(10, 1), row_of(10, 16)}}, {});
  refused("# device: other\n" + rows, "its device is 'other', here it is 'toy'; name another file");
  refused(rows, "lacks the comment line '# device: ...'");
  std::string crlf = "# device: toy\n" + rows;
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2)
    crlf.insert(at, 1, '\r');
  refused(crlf, "has CRLF line ends, which calibrate does not continue; name another file");
  refused("# device: toy\n" + cost_table_csv({"", {row_of(10, 1)}}, {}),
          "has rows of 1 workers, asked for are 1,16");
  refused("my diary\n", "costs.csv:1: unknown column 'my diary'");
  // One line of provenance that is known later only.
  CostFile file(folder.write("costs.csv", "# device: toy\n# torch: 1\n" + rows), kHere, {1, 16});
  CHECK_NOTHROW(file.require({"torch", "1", true}));
  CHECK_THROWS_WITH(file.require({"torch", "2", true}),
                    Contains("its torch is '1', here it is '2'"));
}

// Points of 1, 1, 2 and 4 units. Two done in 5 s: 2 units, so the 6 to come take 15 s. Three done
// in 10 s: 4 units, so the 4 to come take as long.
TEST_CASE("time left is by the work of the points, which rises with their size") {
  CHECK(about(Seconds{0.2}) == "1 s");
  CHECK(about(Seconds{99}) == "99 s");
  CHECK(about(Seconds{101}) == "2 min");
  CHECK(about(Seconds{7500}) == "2 h 5 min");
  const std::vector<double> work{1, 1, 2, 4};
  CHECK(time_left(0, work, Seconds{1}).empty());
  CHECK(time_left(2, work, Seconds{5}) == "about 15 s left");
  CHECK(time_left(3, work, Seconds{10}) == "about 10 s left");
  CHECK(time_left(2, std::vector<double>(10, 7.0), Seconds{5}) == "about 20 s left");
}

// At a million elements a second and 2 s a point: 3 million elements take longer than that.
TEST_CASE("a point takes its seconds, or the least samples where they are longer") {
  FullBench bench;
  const Meter meter(bench, Seconds{2}, 1e6);
  CHECK(meter.work({bench_point("topk", {1000}), 0.01}) == 2);
  CHECK(meter.work({bench_point("topk", {1'000'000, 2'000'000}), 0.01}) == 3);
}

TEST_CASE("a point that the device's memory does not hold is left out, and said") {
  FullBench bench;
  Meter meter(bench, Seconds{1}, 1e6);
  std::vector<std::string> notes;
  std::vector<std::int64_t> kept;
  measure_all(
      {{bench_point("topk", {1000}), 0.01},
       {bench_point("topk", {2'000'000}), 0.01},
       {bench_point("topk", {3000}), 0.01}},
      meter, true,
      [&](const CalibrationPoint& point, const BenchResult& /*result*/) {
        kept.push_back(point.elements());
      },
      [&](const std::string& line) { notes.push_back(line); });
  CHECK(kept == std::vector<std::int64_t>{1000, 3000});
  CHECK(notes == std::vector<std::string>{
                     "left out: topk, 2000000 elements, by gradcast-cpu: the device's memory did "
                     "not hold it"});
}

TEST_CASE("the CPU's bench tells what it selected, all tensors of a call together") {
  const auto bench = make_cpu_bench();
  BenchLimits quick;
  quick.seconds = 0.001;
  CHECK(bench->implementations("topk", Mode::Only) == std::vector<std::string>{"gradcast-cpu"});
  CHECK(bench->implementations("dense", Mode::Only).empty());
  CHECK(bench->memory_needed(bench_point("topk", {1'000'000})) > 24'000'000);
  const BenchResult topk = bench->measure(bench_point("topk", {5000, 300}), quick);
  CHECK(topk.selected == 53);
  CHECK(topk.recall == 1);
  CHECK(topk.encode.samples >= 3);
  CHECK(topk.encode.median_seconds > 0);
  CHECK(topk.encode.p95_seconds >= topk.encode.median_seconds);
  CHECK(topk.decode.size() == 2);
  const BenchResult randk = bench->measure(bench_point("randk", {20'000}), quick);
  CHECK(randk.selected == 200);
  CHECK(randk.recall < 0.1);  // 1 % of them, by chance
  BenchPoint zeros = bench_point("topk", {1000});
  zeros.input = Input::zero;
  CHECK(bench->measure(zeros, quick).recall == 1);  // of equals any will do
  CHECK(bench->ceiling(100'000, quick).median_seconds > 0);
  quick.interrupted = [] { return true; };
  CHECK_THROWS_AS(bench->measure(zeros, quick), BenchInterrupted);
}

TEST_CASE("the torch child is asked and answers, line by line") {
  TemporaryFolder folder;
  TorchChild torch(child(folder, R"(echo "$line" > )" + (folder.path / "asked").string() +
                                     R"(; echo '{"encode": [0.5, 0.6, 20], "decode": [[0.1, 0.2, 3],
 [0.3, 0.4, 5]], "selected": 12, "recall": 0.5, "variant": "as-launched"}' | tr -d '\n'; echo)"),
                   never, Seconds{20});
  CHECK(torch.version() == "9.9, CUDA 13.0");
  BenchPoint point = bench_point("topk", {1200});
  point.seed = 7;
  const BenchResult result = torch.measure(point, Seconds{0.25});
  CHECK(result.encode.median_seconds == 0.5);
  CHECK(result.decode[1].p95_seconds == 0.4);
  CHECK(result.decode[0].samples == 3);
  CHECK(result.selected == 12);
  CHECK(result.recall == 0.5);
  CHECK(result.path == "as-launched");
  const std::string question = read_text_file(folder.path / "asked").content;
  for (const char* said :
       {R"("compressor":"topk")", R"("mode":"")", R"("tensors":[1200])", R"("wanted":[12])",
        R"("distribution":"normal")", R"("workers":[1,4])", R"("seconds":0.25)", R"("seed":7)"})
    CHECK_THAT(question, Contains(said));
}

TEST_CASE("a torch child that refuses, dies, hangs or talks nonsense stops nothing") {
  TemporaryFolder folder;
  const BenchPoint point = bench_point("topk", {1200});
  const auto measure = [&](const std::string& loop) {
    TorchChild torch(child(folder, loop), never, Seconds{0.5});
    torch.measure(point, Seconds{0.1});
  };
  CHECK_THROWS_AS(measure(R"(echo '{"error": "out of memory"}')"), TorchRefused);
  CHECK_THROWS_WITH(measure("echo 'Segmentation fault' >&2; exit 1"),
                    Contains("it ended (Segmentation fault)"));
  CHECK_THROWS_WITH(measure("sleep 60"), Contains("did not answer within"));
  CHECK_THROWS_WITH(measure("echo hello"), Contains("not what it should be"));
  CHECK_THROWS_WITH(measure(R"(echo '{"encode": [1, 1, 1]}')"), Contains("not what it should be"));
  CHECK_THROWS_WITH(measure("kill -9 $$"), Contains("it ended"));
  const auto start = [&](const std::vector<std::string>& command) {
    const TorchChild torch(command, never, Seconds{0.5});
  };
  CHECK_THROWS_WITH(start({"/no/such/python"}), Contains("/no/such/python: No such file"));
  CHECK_THROWS_WITH(start({"true"}), Contains("it ended"));
  CHECK_THROWS_WITH(start(child(folder, "true", R"({"error": "no torch here"})")),
                    Contains("no torch here"));
  CHECK_THROWS_WITH(start(child(folder, "true", "hello")), Contains("first line"));
  CHECK_THROWS_AS(TorchChild({"sleep", "60"}, [] { return true; }), BenchInterrupted);
}

// A layer's backward stands on its last tensor: 8 ms for both tensors of a, 2 ms for b.
TEST_CASE("an encode is shown beside the backward of its layer") {
  IterationTrace trace;
  trace.tensors = {{"a.w", {}, {}}, {"a.b", {}, Seconds{0.008}}, {"b.w", {}, Seconds{0.002}}};
  const PerLayerColumn all{
      "topk",
      "",
      "gradcast-cpu",
      {{1000, Seconds{0.001}}, {4'000'000, Seconds{0.004}}, {6'000'000, Seconds{0.005}}}};
  const PerLayerColumn part{"gaussian", "code", "torch", {{1000, Seconds{0.002}}}};
  const Answer answer = per_layer_answer(toy_model(), trace, {all, part});
  REQUIRE(answer.rows.size() == 6);
  CHECK(answer.rows[0]["share_of_backward"] == 0.5);
  CHECK(answer.rows[2]["layer_backward_seconds"] == 0.008);
  CHECK(answer.rows[4]["share_of_backward"] == 2.5);
  CHECK(answer.rows[5]["encode_seconds"].is_null());
  CHECK(answer.summary["totals"][0]["encode_seconds"].get<double>() == Approx(0.010));
  CHECK(answer.summary["totals"][1]["encode_seconds"].is_null());
  CHECK_THAT(answer.table, Contains("gaussian (code), torch") && Contains("3 tensors"));
}

// 1 M elements: e = g + e in 10 us is 1.2 TB/s, 2 M in 16 us are 1.5 TB/s, the best.
TEST_CASE("shares are of the ceiling at this size, and of the floor at the best bandwidth") {
  CalibrationPoint point;
  point.call = bench_point("topk", {1'000'000});
  BenchResult result;
  result.encode = {20e-6, 21e-6, 20, 0};
  result.selected = 5000;
  result.recall = 0.25;
  const Answer answer = roofline_answer(
      {{point, result}}, {{1'000'000, {10e-6, 11e-6, 20, 0}}, {2'000'000, {16e-6, 17e-6, 20, 0}}});
  REQUIRE(answer.rows.size() == 2);
  CHECK(answer.rows[0]["compressor"] == "ceiling");
  CHECK(answer.rows[1]["share_of_ceiling"].get<double>() == Approx(0.5));
  CHECK(answer.rows[1]["share_of_floor"].get<double>() == Approx(8.0 / 20));
  CHECK(answer.rows[1]["selected_share"].get<double>() == Approx(0.5));
  CHECK(answer.rows[1]["bytes"].is_null());  // not counted
  CHECK(answer.summary["best_bandwidth_bytes_per_second"].get<double>() == Approx(1.5e12));
}
