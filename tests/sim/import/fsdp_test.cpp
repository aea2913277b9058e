// Fully sharded runs: the units, what they compute and send, and what a forecast of them needs.
#include <catch2/catch.hpp>

#include "sim/import/report.hpp"
#include "sim/import/written.hpp"
#include "tests/sim/import/toy_fsdp.hpp"

using namespace gradcast;

namespace {

using Catch::Matchers::Contains;

Imported imported(const ToyFsdp& run) { return imported_text(run.text()); }

std::vector<std::string> units_of(const Imported& toy) {
  std::vector<std::string> units;
  for (const GradientTensor& tensor : toy.model->tensors)
    units.push_back(tensor.unit + ":" + std::to_string(tensor.elements));
  return units;
}

}  // namespace

// The output layer's 100 us of forward and backward count with the layer before it, so that
// computing keeps its order: 100 + 100, and 80 + 100.
TEST_CASE("a fully sharded run has the units that were scattered, in forward order") {
  if (!kineto::event_reader_built()) return;
  const Imported toy = imported(ToyFsdp{});
  CHECK(sharded(toy));
  CHECK(toy.sharding.group == 0);
  CHECK(toy.sharding.reshard_after_forward);
  CHECK(toy.buckets == std::vector<std::int64_t>{24, 48});
  CHECK(units_of(toy) == std::vector<std::string>{"root:16", "root:32", "layers.0:24"});
  const std::vector<TensorTime>& times = toy.trace->tensors;
  CHECK(micro(times[0].forward) == Approx(20));
  CHECK(micro(times[0].backward) == Approx(40));
  CHECK(micro(times[1].forward + times[1].backward) == Approx(0));
  CHECK(micro(times[2].forward) == Approx(200));
  CHECK(micro(times[2].backward) == Approx(180));
  // A rank updates half of the parameters in 60 us.
  CHECK(micro(toy.trace->update) == Approx(120));
  CHECK(toy.trace->batch == 6);
  CHECK(says(toy.notes.used, "FSDP) over 2 ranks: 2 units"));
  CHECK_FALSE(says(toy.notes.dropped, "collectives"));
}

TEST_CASE("without FSDP2's marks a unit is what was done last and fits") {
  if (!kineto::event_reader_built()) return;
  ToyFsdp run;
  run.marks = false;
  CHECK(units_of(imported(run)) == std::vector<std::string>{"unit-1:16", "unit-1:32", "unit-2:24"});
}

TEST_CASE("without shapes, or with one flat gradient each, a unit is one tensor") {
  if (!kineto::event_reader_built()) return;
  ToyFsdp run;
  run.shapes = false;
  const Imported toy = imported(run);
  CHECK(toy.shapes == ShapesFrom::Inferred);
  CHECK(units_of(toy) == std::vector<std::string>{"root:48", "layers.0:24"});
  CHECK(micro(toy.trace->tensors[0].forward) == Approx(20));
  CHECK(micro(toy.trace->tensors[1].backward) == Approx(180));
  ToyFsdp flat;
  flat.flat = true;
  flat.marks = false;
  CHECK(units_of(imported(flat)) == std::vector<std::string>{"unit-1:48", "unit-2:24"});
  run.sizes = false;
  CHECK_FALSE(imported(run).model.has_value());
}

TEST_CASE("what forward gathered is kept if backward gathers nothing") {
  if (!kineto::event_reader_built()) return;
  ToyFsdp run;
  run.again = false;
  const Imported toy = imported(run);
  CHECK_FALSE(toy.sharding.reshard_after_forward);
  const ImportedShape shape = shape_of(toy, {});
  const ImportedFiles made = files_of(toy, "toy", shape, "my", {});
  CHECK_THAT(next_commands(toy, made, shape).front(),
             Contains("--sharding fsdp --reshard-after-forward no "));
}

TEST_CASE("forward that backward computes again is told apart") {
  if (!kineto::event_reader_built()) return;
  ToyFsdp run;
  run.recompute = true;
  const Imported toy = imported(run);
  CHECK(micro(toy.times->recompute) == Approx(20));
  CHECK(micro(toy.times->backward) == Approx(240));
  CHECK(says(toy.notes.used, "forecast it without --recompute"));
  CHECK(imported(ToyFsdp{}).times->recompute == Seconds{0});
}

TEST_CASE("parameters in bf16 and sums in fp32 are a row's and a flag's") {
  if (!kineto::event_reader_built()) return;
  ToyFsdp run;
  run.gather_type = "BFloat16";
  const Imported toy = imported(run);
  CHECK(toy.model->tensors[0].type == NumberType::Bf16);
  CHECK(toy.precision.sum == NumberType::Fp32);
  const ImportedShape shape = shape_of(toy, {});
  const ImportedFiles made = files_of(toy, "toy", shape, "my", {});
  CHECK_THAT(next_commands(toy, made, shape).front(), Contains("--sum-type fp32"));
  CHECK_THAT(made.files.back().content, Contains(",fsdp,yes,bf16,fp32"));
  require_readable(made);
}

// A reduce-scatter of 48 elements took 20 us, one of 24 took 40. A ring of two moves half of the
// bytes once: 96 B in 20 us.
TEST_CASE("the links are those of a ring that goes round once") {
  if (!kineto::event_reader_built()) return;
  const Imported toy = imported(ToyFsdp{});
  const ImportedFiles made = files_of(toy, "toy", shape_of(toy, {}), "my", {});
  REQUIRE(made.link.has_value());
  CHECK(made.link->bandwidth.value == Approx(96 / 20e-6));
}

TEST_CASE("a hybrid's copies are nodes, and its shards a node's") {
  if (!kineto::event_reader_built()) return;
  ToyFsdp run;
  run.world_size = 4;
  run.copies = true;
  const Imported toy = imported(run);
  CHECK(toy.sharding.group == 2);
  CHECK(toy.world_size == 4);
  const ImportedShape shape = shape_of(toy, {});
  CHECK(shape.nodes == 2);
  const ImportedFiles made = files_of(toy, "toy", shape, "my", {});
  CHECK_THAT(next_commands(toy, made, shape).front(), Contains("--sharding hsdp "));
  CHECK_THAT(made.files.back().content, Contains(",hsdp,"));
  // On four machines the shards of a copy are on two of them.
  const ImportedShape apart = shape_of(toy, 1);
  const ImportedFiles of_apart = files_of(toy, "toy", apart, "my", {});
  CHECK_THAT(next_commands(toy, of_apart, apart).front(),
             Contains("--sharding fsdp --shard-group 2 "));
  CHECK(of_apart.paths.measured.empty());
}

TEST_CASE("shards of a part of the ranks, and several backward passes, are refused") {
  if (!kineto::event_reader_built()) return;
  ToyFsdp part;
  part.world_size = 4;
  CHECK_THROWS_WITH(imported(part), Contains("2 of 4 ranks") && Contains("tensor or pipeline"));
  ToyFsdp twice;
  twice.twice = true;
  CHECK_THROWS_WITH(imported(twice), Contains("unit 'layers.0' is scattered more than once"));
}
