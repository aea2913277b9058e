// What `calibrate` is to time: the sets of tensors, and the points made of them.
#include "sim/calibration/points.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/calibration/toy_point.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

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

}  // namespace

// Backward order: 6 M, then 1000 and 4 M. 25 MiB are 6,553,600 elements, 64 MiB more than all.
TEST_CASE("a model is its tensors, its buckets, and all of it, once each") {
  const std::vector<TensorSet> expected{
      {1000}, {4'000'000}, {6'000'000}, {10'001'000}, {4'000'000, 1000, 6'000'000}};
  CHECK(sets_of_models({toy::model(), toy::model()}) == expected);
  CHECK(whole_models({toy::model()}) ==
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
