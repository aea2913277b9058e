#include "tests/sim/import/toy_run.hpp"

#include "sim/base/error.hpp"
#include "sim/import/kineto/collectives.hpp"
#include "sim/import/written.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

void refused(const ToyRun& run, const std::string& what) {
  CHECK_THROWS_WITH(imported_toy(run), Contains(what));
}

}  // namespace

// A window from 30 to 1030. Compute 4 x 100 + 60; the all-reduce 500-620, beside it compute to 520.
TEST_CASE("a window is compute, exposed communication and idleness") {
  if (!kineto::event_reader_built()) return;
  const ImportedTimes times = *imported_toy({}).times;
  CHECK(micro(times.window) == Approx(1000));
  CHECK(micro(times.compute) == Approx(460));
  CHECK(micro(times.exposed) == Approx(100));
  CHECK(micro(times.idle) == Approx(440));
  CHECK(micro(times.forward) == Approx(200));
  CHECK(micro(times.backward) == Approx(200));
  CHECK(micro(times.update) == Approx(60));
}

// Gaps of the compute stream: 230-320, launched at 310: host 80, other 10. 520-620, launched at
// 610: host 90, then the all-reduce goes on: wait 10. 680-1030, launched at 1020: host 340,
// other 10.
TEST_CASE("a gap is the host's until the launch, then the collective's, else nobody's") {
  if (!kineto::event_reader_built()) return;
  const ImportedTimes times = *imported_toy({}).times;
  CHECK(micro(times.busy) == Approx(460));
  CHECK(micro(times.host) == Approx(80 + 90 + 340));
  CHECK(micro(times.wait) == Approx(10));
  CHECK(micro(times.other) == Approx(10 + 10));
}

TEST_CASE("the tensors are in forward order, with what their operators took") {
  if (!kineto::event_reader_built()) return;
  const Imported toy = imported_toy({});
  REQUIRE(toy.model.has_value());
  REQUIRE(toy.model->tensors.size() == 2);
  CHECK(toy.model->tensors[0].tensor == "linear-1.weight");
  CHECK(toy.model->tensors[0].elements == 16);
  CHECK(toy.model->tensors[1].elements == 32);
  CHECK(micro(toy.trace->tensors[0].forward) == Approx(100));
  CHECK(micro(toy.trace->tensors[1].backward) == Approx(100));
  CHECK(toy.shapes == ShapesFrom::Recorded);
  CHECK(toy.buckets == std::vector<std::int64_t>{48});
  CHECK(toy.collectives.at(0).bytes.count == 48 * 4);
  CHECK(micro(toy.collectives.at(0).seconds) == Approx(120));
}

// From a launch to its kernel 10 us, where the stream was waiting: 310 to 320, 610 to 620. Since
// the first kernel began, at 30: linear 2 at 70 + 10 - 30; backward at 310 + 10 - 30, 410 + 10 -
// 30; update at 610 + 10 - 30; the next step at 1020 + 10 - 30.
TEST_CASE("a run that waits for its host has the dates of its launches") {
  if (!kineto::event_reader_built()) return;
  const IterationTrace trace = *imported_toy({}).trace;
  CHECK(micro(trace.tensors[0].forward_launch) == Approx(0).margin(1e-9));
  CHECK(micro(trace.tensors[1].forward_launch) == Approx(50));
  CHECK(micro(trace.tensors[1].backward_launch) == Approx(290));
  CHECK(micro(trace.tensors[0].backward_launch) == Approx(390));
  CHECK(micro(trace.update_launch) == Approx(590));
  CHECK(micro(trace.host) == Approx(1000));
  // Forward -200, backward 290-390-490, update 590-650; then the host, which takes 1000.
  CHECK(micro(trace.iteration_alone(1)) == Approx(1000));
}

TEST_CASE("of three full steps or more, the first is left out") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  CHECK(imported_toy(run).steps_used == 2);
  run.steps = 4;
  const Imported toy = imported_toy(run);
  CHECK(toy.steps_used == 2);
  CHECK(toy.steps_dropped == 2);
  CHECK(says(toy.notes.used, "2 of 4 steps: ProfilerStep#1, ProfilerStep#2"));
}

TEST_CASE("another annotation that repeats marks steps too") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.step_name = "step#";
  CHECK(imported_toy(run).steps_used == 2);
  run.step_name = "no number ";  // it has one
  CHECK(imported_toy(run).steps_used == 2);
}

TEST_CASE("one rank's collectives include waiting, and the import says so") {
  if (!kineto::event_reader_built()) return;
  CHECK(says(imported_toy({}).notes.unknown, "collectives include waiting"));
}

TEST_CASE("a run that marks no steps has those between its optimizer's calls") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.steps = 5;
  run.step_name = "";
  const Imported toy = imported_toy(run);
  CHECK(says(toy.notes.inferred, "the 5 steps, from the optimizer's calls"));
  CHECK(toy.steps_used == 3);  // not the first full one, nor the last, which nothing ends
  CHECK(micro(toy.times->window) == Approx(1000));
  CHECK(micro(toy.times->update) == Approx(60));
}

// From the first kernel, 30, to the end of the last, 680.
TEST_CASE("one step alone is taken, to its last kernel") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.steps = 1;
  const Imported marked = imported_toy(run);
  CHECK(marked.steps_used == 1);
  CHECK(micro(marked.times->window) == Approx(650));
  CHECK(micro(marked.times->update) == Approx(60));
  CHECK(says(marked.notes.inferred, "the end of the only step, from its last kernel"));
  run.step_name = "";
  const Imported by_optimizer = imported_toy(run);
  CHECK(micro(by_optimizer.times->window) == Approx(650));
  CHECK(says(by_optimizer.notes.inferred, "the 1 steps, from the optimizer's calls"));
}

TEST_CASE("a run that marks nothing and has no known optimizer has steps by its gradients") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.steps = 5;
  run.step_name = "";
  run.optimizer = false;
  const Imported toy = imported_toy(run);
  CHECK(says(toy.notes.inferred,
             "the 5 steps, from forward that begins again after gradients, each with the same 1 "
             "collectives"));
  CHECK(toy.steps_used == 3);
  CHECK(micro(toy.times->window) == Approx(1000));
  CHECK(micro(toy.times->forward) == Approx(200));
  CHECK(micro(toy.times->backward) == Approx(200));
  CHECK(micro(toy.times->update) == Approx(60));
  run.steps = 1;
  CHECK(micro(imported_toy(run).times->window) == Approx(650));
}

// Steps 1, 3 and 5 of 0 to 6 send. The mean of all steps was told before: half the bytes.
TEST_CASE("gradients that add up over steps are told as a step that sends them has them") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.steps = 7;
  run.sends_every = 2;
  const Imported toy = imported_toy(run);
  REQUIRE(toy.collectives.size() == 1);
  CHECK(toy.collectives[0].count == 1);
  CHECK(toy.collectives[0].bytes == Bytes{4 * 48});
  CHECK(toy.buckets == std::vector<std::int64_t>{48});
  CHECK(says(toy.notes.unknown, "only 3 of 5 steps send them"));
  CHECK_FALSE(says(imported_toy({}).notes.unknown, "how often"));
}

// Backward: 100 + 30. The copy (5) and the addition (10) behind the first all-reduce are the
// update's, with its 60. 32 elements took 30 us, 16 took 20.
TEST_CASE("a compiled backward pass ends where it sends its first gradient") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.compiled = true;
  const Imported toy = imported_toy(run);
  CHECK(micro(toy.times->backward) == Approx(130));
  CHECK(micro(toy.trace->backward()) == Approx(130));
  CHECK(micro(toy.trace->update) == Approx(75));
  REQUIRE(toy.collectives.size() == 1);
  CHECK(toy.collectives[0].count == 2);
  CHECK(toy.collectives[0].bytes == Bytes{4 * 48});
  CHECK(toy.buckets == std::vector<std::int64_t>{16, 32});
  REQUIRE(toy.transfers.size() == 2);
  CHECK(toy.transfers[1].bytes == Bytes{4 * 32});
  CHECK(micro(toy.transfers[1].seconds) == Approx(30));
  CHECK(says(toy.notes.inferred, "each gradient is sent by itself"));
  const ImportedFiles made = files_of(toy, "toy", shape_of(toy, {}), "my", {});
  CHECK_FALSE(made.paths.measured.empty());
}

// Two int32, behind the all-reduce of both gradients.
TEST_CASE("ranks that tell each other which parameters they used send no gradients with it") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  for (int step = 0; step < run.steps; ++step)
    run.more +=
        ToyRun::kernel("ncclKernel_AllReduce", 20, 1000 * step + 620, 2, 2, 1000 * step + 464,
                       R"("Collective name":"allreduce","In msg nelems":2,"Group size":2,)"
                       R"("dtype":"Int")");
  const Imported toy = imported_toy(run);
  CHECK(toy.finds_unused);
  CHECK(toy.buckets == std::vector<std::int64_t>{48});
  CHECK_FALSE(says(toy.notes.unknown, "buckets"));
  CHECK_FALSE(imported_toy({}).finds_unused);
  // 48 gradients in int8, as a quantising hook sends them.
  ToyRun quantised;
  quantised.dtype = "Char";
  CHECK_FALSE(imported_toy(quantised).finds_unused);
  CHECK(imported_toy(quantised).buckets == std::vector<std::int64_t>{48});
}

TEST_CASE("buckets that do not add up to the gradients are said") {
  if (!kineto::event_reader_built()) return;
  Imported toy = imported_toy({});
  note_doubts(toy);
  CHECK_FALSE(says(toy.notes.unknown, "why the buckets"));
  toy.buckets = {24};
  note_doubts(toy);
  CHECK(says(toy.notes.unknown, "why the buckets have 24 elements and the gradients 48"));
}

TEST_CASE("without shapes nothing is made up: there is no model") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.gradient_dims[0] = run.gradient_dims[1] = "";
  const Imported toy = imported_toy(run);
  CHECK(toy.shapes == ShapesFrom::Unknown);
  CHECK_FALSE(toy.model.has_value());
  CHECK(toy.gradients == 2);
  CHECK(says(toy.notes.unknown, "--params"));
}

TEST_CASE("--params gives names and sizes, in forward order") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.gradient_dims[0] = run.gradient_dims[1] = "";
  ImportOptions options;
  options.params = TextFile{"p.csv", "tensor,elements\nin.weight,16\nout.weight,32\n"};
  const Imported toy = imported_toy(run, options);
  CHECK(toy.shapes == ShapesFrom::Given);
  CHECK(toy.model->tensors[0].tensor == "in.weight");
  CHECK(toy.model->tensors[0].layer == "in");
  CHECK(toy.model->tensors[1].elements == 32);
  options.params->content = "tensor,elements\nin.weight,16\n";
  CHECK_THROWS_WITH(imported_toy(run, options),
                    Contains("1 parameters") && Contains("2 gradients"));
  options.params->content = "tensor,elements\nout.weight,32\nin.weight,16\n";
  CHECK_THROWS_WITH(imported_toy({}, options),
                    Contains("parameter 2, 'in.weight'") && Contains("has 32"));
}

TEST_CASE("steps without the usual gradients are left out") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.steps = 5;
  // Step 2 yields one more than the others.
  run.more = ToyRun::slice("cpu_op", "torch::autograd::AccumulateGrad", 2, 2460, 2,
                           R"("Input Dims":[[5]])");
  const Imported toy = imported_toy(run);
  CHECK(toy.steps_used == 2);
  CHECK(says(toy.notes.dropped, "ProfilerStep#2: 3 gradients, where others have 2"));
}

// ---- what is no data-parallel run ----

TEST_CASE("all-to-all, pipelines, shards and groups of ranks are refused with the reason") {
  if (!kineto::event_reader_built()) return;
  const auto with = [](const std::string& name, const std::string& args) {
    ToyRun run;
    run.more = ToyRun::kernel("ncclDevKernel_x", 20, 240, 5, 1, 80,
                              R"("Collective name":")" + name + "\"" + args);
    return run;
  };
  refused(with("all_to_allv", ""), "expert or embedding parallelism");
  refused(with("send", ""), "a pipeline");
  refused(with("_reduce_scatter_base", ""), "FSDP");
  refused(with("_reduce_scatter_base", ""), "forecast it with --sharding");
  refused(with("_allgather_base", ""), "FSDP");
  ToyRun groups = with("allreduce", R"(,"Group size":2)");
  groups.world_size = 8;
  refused(groups, "2 of 8 ranks");
}

// Eight ranks, two of which hold the same parameters.
TEST_CASE("a hybrid is imported for the data-parallel group that its trace names") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  std::string text = run.text();
  const auto replace = [&](const std::string& old, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += with.size())
      text.replace(at, old.size(), with);
  };
  replace(R"("world_size":2)", R"("world_size":8)");
  replace(R"("dtype":"Float")",
          R"("dtype":"Float","Process Group Description":"DATA_PARALLEL_GROUP")");
  const std::string other = ToyRun::kernel(
      "ncclDevKernel_x", 21, 240, 5, 1, 80,
      R"("Collective name":"allreduce","Process Group Description":"TENSOR_MODEL_PARALLEL_GROUP")");
  text.replace(text.find("],\"traceName"), 1, other + "]");
  const Imported toy = imported_text(text);
  CHECK(toy.world_size == 2);
  CHECK(toy.buckets == std::vector<std::int64_t>{48});
  CHECK(says(toy.notes.dropped, "everything but the data-parallel group of 2 of 8 ranks"));
}

TEST_CASE("groups are named in many ways") {
  CHECK(kineto::names_data_parallel("DATA_PARALLEL_GROUP_WITH_CP"));
  CHECK(kineto::names_data_parallel("mesh_dp"));
  CHECK_FALSE(kineto::names_data_parallel("default_pg"));
  CHECK_FALSE(kineto::names_data_parallel("mesh_tp"));
  CHECK_FALSE(kineto::names_data_parallel(""));
}

// ---- what cannot be read ----

TEST_CASE("a trace that says too little is refused, with what would help") {
  if (!kineto::event_reader_built()) return;
  ToyRun none;
  none.gradients = false;
  none.step_name = "";
  none.optimizer = false;
  refused(none, "has no steps (ProfilerStep#N), and no gradients");
  CHECK_THROWS_WITH(imported_text(R"({"traceEvents":[]})"), Contains("has no kernel of a GPU"));
  CHECK_THROWS_WITH(imported_text("{\"schemaVersion\":1}"), Contains("has no list of events"));
  ToyRun two;
  two.more = R"(,{"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":5,"dur":1,)"
             R"("args":{"device":1}})";
  refused(two, "2 GPUs of one process");
}

TEST_CASE("an event that is wrong is named by its number") {
  if (!kineto::event_reader_built()) return;
  const auto with = [](const std::string& event) {
    return R"({"traceEvents":[{"ph":"X","ts":1,"dur":1},)" + event + "]}";
  };
  const auto refuses = [&](const std::string& event, const std::string& what) {
    CHECK_THROWS_WITH(imported_text(with(event)), Contains("event 2: ") && Contains(what));
  };
  refuses(R"({"ph":"X","name":"a","ts":1,"dur":-1})", "\"dur\" of 'a' is negative");
  refuses(R"({"ph":"X","name":"a","dur":1})", "\"ts\" of 'a' is missing");
  refuses(R"({"ph":"X","name":"a","ts":"soon","dur":1})", "\"soon\", not microseconds");
  refuses(R"({"ph":"X","name":"a","ts":1e300,"dur":1})", "not microseconds");
  refuses(R"({"ph":"X","cat":"kernel","name":"a","ts":1,"dur":2000000000})", "more than 1000 s");
  refuses("7", "is no object");
}

TEST_CASE("a file that is cut off is refused, wherever that was") {
  if (!kineto::event_reader_built()) return;
  const std::string whole = ToyRun{}.text();
  for (std::size_t bytes = 1; bytes < whole.size(); bytes += 97)
    CHECK_THROWS_WITH(imported_text(whole.substr(0, bytes)), Contains("is cut off"));
}

TEST_CASE("names of operators become names for files and columns") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  std::string text = run.text();
  for (std::size_t at = 0; (at = text.find("aten::linear", at)) != std::string::npos; ++at)
    text.replace(at, 12, R"(aten::..\/x,\"\n=1)");
  const TemporaryFolder folder;
  const Imported toy = import_reader_named("kineto").read({folder.write("trace.json", text)}, {});
  CHECK(toy.model->tensors[0].tensor == "___x____1-1.weight");
}

// The profiler names the step of a class: "Optimizer.step#AdamW.step".
TEST_CASE("an imported trace says whose step its update is") {
  if (!kineto::event_reader_built()) return;
  const auto optimizer_of = [](const std::string& its_class, const std::string& call) {
    ToyRun run;
    run.optimizer_class = its_class;
    run.optimizer_call = call;
    return imported_toy(run).trace->optimizer;
  };
  CHECK(optimizer_of("AdamW", "") == Optimizer::Adam);
  CHECK(optimizer_of("FusedAdam", "") == Optimizer::Adam);
  // PyTorch's fused AdamW adds 1 to its number of steps.
  const auto fused = [](const std::string& its_class, const std::string& call) {
    ToyRun run;
    run.optimizer_class = its_class;
    run.optimizer_call = call;
    return imported_toy(run).trace->fused;
  };
  CHECK(fused("AdamW", "aten::_foreach_add_"));
  CHECK_FALSE(fused("AdamW", "aten::_foreach_mul_"));
  CHECK_FALSE(fused("AdamW", ""));  // no calls are recorded
  CHECK(fused("FusedAdam", ""));
  CHECK_FALSE(optimizer_of("Lion", "").has_value());
  ToyRun sharded;  // PyTorch's ZeRO-1 steps the optimizer that it shards
  sharded.optimizer_class = "AdamW";
  sharded.more =
      ToyRun::slice("user_annotation", "Optimizer.step#ZeroRedundancyOptimizer.step", 1, 599, 63);
  CHECK(imported_toy(sharded).trace->optimizer == Optimizer::Adam);
  // SGD multiplies in place where it has buffers of momentum, and adds alone where it has none.
  CHECK(optimizer_of("SGD", "aten::_foreach_mul_") == Optimizer::Momentum);
  CHECK(optimizer_of("SGD", "aten::mul_") == Optimizer::Momentum);
  CHECK(optimizer_of("SGD", "aten::_foreach_add_") == Optimizer::Sgd);
  CHECK_FALSE(optimizer_of("SGD", "").has_value());
  ToyRun run;
  CHECK(says(imported_toy(run).notes.unknown, "the momentum of SGD"));
  run.optimizer_class = "AdamW";
  CHECK(says(imported_toy(run).notes.used, "the optimizer, AdamW"));
  run.optimizer = false;
  CHECK(says(imported_toy(run).notes.unknown, "no step has the name of one"));
}

// A multiplication outside the step is the network's own, as of dropout.
TEST_CASE("calls outside the optimizer's step say nothing of its momentum") {
  if (!kineto::event_reader_built()) return;
  ToyRun run;
  run.more = ToyRun::slice("cpu_op", "aten::mul_", 1, 200, 10);
  CHECK_FALSE(imported_toy(run).trace->optimizer.has_value());
}
