#include "sim/decide/fitting.hpp"

#include <catch2/catch.hpp>

#include "sim/decide/decision.hpp"
#include "sim/engine/engine.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/plan/memory.hpp"

using namespace gradcast;

namespace {

struct Run {
  Request asked{};
  Scenario scenario{};
};

Run run(const std::string& model, const std::string& sharding = "none") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Run made;
  made.asked.model = model;
  made.asked.cluster = "dgx-a100";
  made.asked.costs.clear();
  made.asked.today = true;
  made.asked.sharding = parse_sharding(sharding);
  made.scenario = make_scenario(with_defaults(made.asked, files), files);
  return made;
}

std::vector<FittingBatch> fitting(const Run& run, double gigabytes) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return fitting_batches(run.asked, run.scenario, Bytes{static_cast<std::int64_t>(gigabytes * 1e9)},
                         files);
}

}  // namespace

TEST_CASE("a tenth of a GPU's memory is reserved", "[decide]") {
  CHECK(usable_memory(Bytes{80'000'000'000}) == Bytes{72'000'000'000});
}

// One sample more would not fit: the run's memory with that batch says so.
TEST_CASE("the largest batch fits, and one sample more does not", "[decide]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const Run gpt2 = run("gpt2-xl");
  const auto ways = fitting(gpt2, 72);
  REQUIRE(ways.size() == 4);
  for (const FittingBatch& way : ways) {
    CAPTURE(way.with);
    Request request = with_defaults(way.option.request, files);
    CHECK(request.batch == way.batch);
    const auto total = [&] {
      const Scenario scenario = make_scenario(request, files);
      return memory_of(scenario, make_plan(scenario)).total();
    };
    CHECK(total() <= Bytes{72'000'000'000});
    request.batch = way.batch + 1;
    CHECK(total() > Bytes{72'000'000'000});
  }
  CHECK(ways[0].with == "");
  CHECK(ways[3].with == "FSDP and recomputation");
  CHECK(ways[0].batch < ways[1].batch);
  CHECK(ways[1].batch < ways[3].batch);
}

TEST_CASE("what the run has already is no way to save memory", "[decide]") {
  for (const FittingBatch& way : fitting(run("gpt2-xl", "fsdp"), 72))
    CHECK(way.with.find("FSDP") == std::string::npos);
}

TEST_CASE("FSDP is no way to save memory for software that does not have it", "[decide]") {
  Run horovod = run("gpt2-xl");
  horovod.asked.stack = "horovod-nccl";
  horovod.asked.stack_given = true;
  for (const FittingBatch& way : fitting(horovod, 72))
    CHECK(way.with.find("FSDP") == std::string::npos);
  horovod.asked.stack = "ddp-nccl";  // PyTorch has it by other software
  const auto ways = fitting(horovod, 72);
  REQUIRE(ways.size() == 4);
  CHECK(ways[2].option.request.stack == "fsdp2-nccl");
}

TEST_CASE("where nothing fits, the option says so", "[decide]") {
  const auto ways = fitting(run("gpt2-xl"), 10);  // parameters and gradients alone: 12.5 GB
  REQUIRE(!ways.empty());
  CHECK(ways[0].batch == 0);
  CHECK(ways[0].option.refused == "not even one sample fits in memory");
  CHECK(ways[0].option.name == "largest batch");  // of 0 samples nobody trains
  for (const FittingBatch& way : ways)
    if (way.batch == 0) CHECK(way.option.name.find("batch 0") == std::string::npos);
}

// FNN-3 keeps a few KB a sample: a million of them fit. Its trace has times of 128.
TEST_CASE("a batch far beyond the trace's fits, and is no option", "[decide]") {
  const auto ways = fitting(run("fnn-3"), 72);
  REQUIRE(!ways.empty());
  CHECK(ways[0].batch == 1'000'000);
  CHECK(ways[0].option.refused.starts_with("it fits, but"));
}

TEST_CASE("without activations nobody can say which batch fits", "[decide]") {
  Run unknown = run("resnet-101");
  unknown.asked.model = "transformer-cs336-xl";
  unknown.asked.trace = "iteration-transformer-cs336-xl-512-tokens";
  CHECK(fitting(unknown, 72).empty());
}

// The trace of GPT-2 XL has a batch of 18, and 11 fit. A run that goes on today fits: 8 is assumed.
TEST_CASE("a run whose batch nobody names has one that fits", "[decide]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  DecideAsked asked;
  asked.request = run("gpt2-xl").asked;
  asked.gpu_memory = Bytes{80'000'000'000};
  const Engine& engine = *find_engine("analytic");
  const Decision fits = decide(asked, engine, files);
  CHECK(fits.fitting[0].batch == 11);
  CHECK(fits.now.batch() == 8);
  CHECK(fits.memory.total() <= *fits.usable);
  CHECK(bound_of(fits) != Bound::Memory);
  CHECK(fits.assumed.ends_with("because the trace's 18 does not"));

  asked.request.batch = 18;
  const Decision named = decide(asked, engine, files);
  CHECK(named.now.batch() == 18);
  CHECK(bound_of(named) == Bound::Memory);
}
