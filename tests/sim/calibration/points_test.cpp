// The points of `calibrate`: sets of tensors, and the points made of them.
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

TEST_CASE("casts and quantisers are timed once, whatever the densities, with their numbers") {
  PointsAsked two = asked({{500}}, {"topk", "fp16", "qsgd"});
  two.densities = {0.001, 0.01};
  const CalibrationPoints made = make_points(two, plenty());
  REQUIRE(made.points.size() == 4);  // topk at both
  CHECK(made.points[2].call.compressor == "fp16");
  CHECK(made.points[2].density == 1);
  CHECK(made.points[2].call.parameter == 0);
  CHECK(made.points[3].call.parameter == 127);
  CHECK(made.points[3].call.wanted == std::vector<std::int64_t>{500});
  CHECK(key_of(rows_of(made.points[3], nullptr)[0]) == "qsgd,,gradcast-cpu,1,500,1,1,normal,127");
  PointsAsked levels = asked({{500}}, {"qsgd"});
  levels.parameters = {7, 15};
  const CalibrationPoints of_both = make_points(levels, plenty());
  REQUIRE(of_both.points.size() == 2);
  CHECK(of_both.points[0].call.parameter == 7);
  CHECK(rows_of(of_both.points[1], nullptr)[0].parameter == 15);
}

TEST_CASE("PowerSGD has near-square matrices of tensors alone, and a model's own together") {
  Model model{"toy", {{"a", "a.w", 600, 0}, {"a", "a.b", 30, 0}}};
  PointsAsked wanted = asked(whole_models({model}), {"powersgd"});
  CHECK(shapes_of_models({model}).empty());
  const CalibrationPoints lacking = make_points(wanted, plenty());
  CHECK(lacking.points.size() == 6);  // two modes, ranks 1, 2 and 4
  REQUIRE(lacking.notes.size() == 1);
  CHECK_THAT(lacking.notes[0], Contains("needs the shapes") && Contains("630 elements"));
  model.tensors[0].shape = {30, 4, 5};
  model.tensors[1].shape = {30};
  wanted.shapes = shapes_of_models({model});
  const CalibrationPoints made = make_points(wanted, plenty());
  REQUIRE(made.points.size() == 12);
  const auto shapes = [&](std::size_t point) {
    std::vector<std::pair<std::int64_t, std::int64_t>> sides;
    for (const MatrixShape& shape : made.points[point].call.shapes)
      sides.emplace_back(shape.rows, shape.columns);
    return sides;
  };
  using Sides = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CHECK(shapes(0) == Sides{{25, 25}});
  CHECK(shapes(11) == Sides{{30, 20}, {30, 1}});
  CHECK(made.points[11].call.parameter == 4);
  wanted.code_only = true;
  CHECK(make_points(wanted, plenty()).points.size() == 2);  // one mode, the usual rank
}

TEST_CASE("what a device has no kernels for is left out in one line") {
  PointsOffered without = plenty();
  without.implementations = [](const std::string& compressor, Mode) {
    return compressor == "powersgd" ? std::vector<std::string>{}
                                    : std::vector<std::string>{"gradcast-cuda"};
  };
  const CalibrationPoints made = make_points(asked({{500}, {900}}, {"powersgd", "fp16"}), without);
  CHECK(made.points.size() == 2);
  CHECK(made.notes == std::vector<std::string>{"nothing on this device runs 'powersgd'"});
}

TEST_CASE("gradients of 16 bits are timed of the project's kernels alone") {
  PointsOffered gpu = plenty();
  gpu.implementations = [](const std::string&, Mode) {
    return std::vector<std::string>{"gradcast-cuda", "cub"};
  };
  PointsAsked wanted = asked({{500}}, {"topk"});
  wanted.input_types = {ValueType::Fp32, ValueType::Bf16};
  const CalibrationPoints made = make_points(wanted, gpu);
  REQUIRE(made.points.size() == 3);  // both of the kernels, and one of CUB
  CHECK(made.notes == std::vector<std::string>{"cub is timed on fp32 gradients only"});
  const CostRow row = rows_of(made.points[1], nullptr).at(0);
  CHECK(row.input_type == NumberType::Bf16);
  CHECK(key_of(row) != key_of(rows_of(made.points[0], nullptr).at(0)));
  wanted.input_types = {ValueType::Bf16};
  CHECK(make_points(wanted, plenty()).points.empty());  // the CPU's definitions take floats
}

TEST_CASE("torch is offered for sparsifiers only, and that is said once") {
  PointsOffered with_torch = plenty();
  with_torch.implementations = [](const std::string&, Mode) {
    return std::vector<std::string>{"gradcast-cpu", "torch"};
  };
  const CalibrationPoints made = make_points(asked({{500}}, {"topk", "fp16", "qsgd"}), with_torch);
  CHECK(made.points.size() == 4);
  CHECK(made.notes == std::vector<std::string>{"torch is timed for sparsifiers only"});
}

TEST_CASE("distributions go by the names of inputs") {
  CHECK(parse_input("student_t2") == Input::student_t2);
  CHECK(input_text(Input::layermix) == "layermix");
  CHECK_THROWS_WITH(parse_input("laplac"), Contains("did you mean 'laplace'?"));
}
