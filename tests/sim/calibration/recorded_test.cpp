// Recorded vectors as what compressors are timed on.
#include "sim/calibration/recorded.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "kernels/bench/bench.hpp"
#include "sim/base/error.hpp"
#include "sim/base/npy.hpp"
#include "tests/sim/calibration/toy_point.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// Elements 0, 1, 2, ...
RecordedFile ramp(const std::string& name, std::size_t elements) {
  RecordedInput input{name, std::vector<float>(elements)};
  std::iota(input.u.begin(), input.u.end(), 0.0f);
  return {std::make_shared<const RecordedInput>(std::move(input)), {"folder/" + name, "abc"}};
}

PointsAsked asked_of(const RecordedFile& file) {
  PointsAsked asked;
  asked.compressors = {find_compressor("topk")};
  asked.densities = {0.01};
  asked.workers = {1};
  asked.recorded = {file.input};
  return asked;
}

PointsOffered offered_by(std::vector<std::string> implementations) {
  PointsOffered offered;
  offered.memory_bytes = 100;
  offered.memory_needed = [](const BenchPoint&) { return std::int64_t{1}; };
  offered.implementations = [=](const std::string&, Mode) { return implementations; };
  return offered;
}

}  // namespace

TEST_CASE("a recorded vector is read under its file's name", "[calibration]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("u-3.npy", npy_of(std::vector<float>{1, -2, 3}));
  const RecordedFile file = read_recorded(path);
  CHECK(file.input->name == "u-3.npy");
  CHECK(file.input->u == std::vector<float>{1, -2, 3});
  CHECK(file.file.typed == path);
  CHECK_THAT(described(file), Catch::StartsWith("u of 3 elements, recorded in a training"));
  CHECK_THROWS_WITH(read_recorded(folder.write("odd.npy", npy_of(std::vector<float>{1, NAN, 3}))),
                    Contains("odd.npy") && Contains("element 1 (from 0) is not finite"));
  CHECK_THROWS_AS(read_recorded(folder.write("no.npy", "no vector")), DataError);
  CHECK_THROWS_AS(read_recorded((folder.path / "absent.npy").string()), DataError);
}

TEST_CASE("a vector is timed whole, or its first elements, and never repeated", "[calibration]") {
  PointsAsked asked = asked_of(ramp("u.npy", 500));
  asked.own_sizes = true;
  const CalibrationPoints whole = make_points(asked, offered_by({"gradcast-cpu", "torch"}));
  REQUIRE(whole.points.size() == 1);
  CHECK(whole.points[0].call.tensors == TensorSet{500});
  CHECK(rows_of(whole.points[0], nullptr)[0].distribution == "u.npy");
  CHECK(whole.notes == std::vector<std::string>{"torch is not timed on recorded vectors"});

  asked.own_sizes = false;
  asked.sets = {{100}, {400, 200}};
  const CalibrationPoints parts = make_points(asked, offered_by({"gradcast-cpu"}));
  REQUIRE(parts.points.size() == 1);
  CHECK(parts.points[0].call.tensors == TensorSet{100});
  CHECK(parts.notes ==
        std::vector<std::string>{"u.npy has 500 elements, so not measured: 600 elements"});
}

TEST_CASE("vectors that are too short or named alike are refused", "[calibration]") {
  const std::vector<RecordedFile> files{ramp("u.npy", 500)};
  require_long_enough(files, {{100}, {300, 200}});
  CHECK_THROWS_WITH(require_long_enough(files, {{300, 201}}),
                    Contains("folder/u.npy has 500 elements, and the models need 501"));
  CHECK_THROWS_WITH(require_names_differ({files[0], files[0]}), Contains("the same name"));
  require_names_differ({files[0], ramp("other.npy", 500)});
  CHECK(own_sizes({files[0], ramp("v.npy", 7), files[0]}) == std::vector<TensorSet>{{7}, {500}});
}

// 990 zeros and ten outliers of alike size: whatever k is, Gaussian-k finds those ten. In a normal
// vector it would find about 1 % of 1000, too, but not the same.
TEST_CASE("the CPU's bench encodes the recorded vector itself", "[calibration]") {
  RecordedInput input{"u.npy", std::vector<float>(1000, 0.0f)};
  for (std::size_t i = 0; i < 10; ++i) input.u[100 * i] = 1.0f;
  BenchPoint point = toy::bench_point("gaussian", {1000});
  point.mode = Mode::Code;
  point.recorded = std::make_shared<const RecordedInput>(input);
  BenchLimits quick;
  quick.seconds = 0.001;
  const auto bench = make_cpu_bench();
  const BenchResult result = bench->measure(point, quick);
  CHECK(result.selected == 10);
  CHECK(result.recall == 1);
  // The input that is made comes back after it: its ten largest are others.
  point.recorded = nullptr;
  const double made = bench->measure(point, quick).selected;
  CHECK(made == make_cpu_bench()->measure(point, quick).selected);
  CHECK(made != 10);
}
