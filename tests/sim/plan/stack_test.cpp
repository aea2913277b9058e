// Software stacks: their files, and what they do to a scenario.
#include "sim/plan/stack.hpp"

#include <catch2/catch.hpp>

#include "sim/plan/stack_use.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

constexpr const char* kHeader = "property,value,deviation,source,compressor,seen,presence\n";

Stack stack(const std::string& rows) {
  return load_stack({"platforms/stack-mine.csv", kHeader + rows});
}

void refused(const std::string& rows, const std::string& says) {
  CAPTURE(rows);
  CHECK_THROWS_WITH(stack(rows), Contains(says));
}

/// The toy on two ranks: merged, so that it has one call of 6000 elements.
Scenario on_stack(const std::string& rows, const char* fusion = "merged") {
  Scenario scenario = toy::scenario("topk");
  scenario.fusion = parse_fusion(fusion);
  scenario.stack = std::make_shared<const Stack>(stack(rows));
  apply_stack(scenario);
  return scenario;
}

}  // namespace

TEST_CASE("a stack's file says what software costs, how sure that is, and where it was seen",
          "[stack]") {
  const Stack read = stack(
      "per_iteration_overhead,20ms,50%,seen,,ranks=16,\n"
      "encode_per_call,3ms,30%,seen,topk,calls=1..161 nic=10Gbps..25Gbps,40%\n"
      "discrepancy,5%,,left,,,\nscatter,3%,,left,,,\npipelines,yes,,its code,,,\n");
  CHECK(read.name == "stack-mine");
  REQUIRE(read.terms.size() > 2);
  CHECK(read.terms[2].of_family);
  CHECK(read.terms[0].value == 0.02);
  CHECK(read.terms[0].deviation == 0.5);
  CHECK(read.terms[0].presence == 1);
  CHECK(read.terms[1].name() == "encode_per_call of topk");
  CHECK(to_text(read.terms[1].seen) == "calls=1..161 nic=10Gbps..25Gbps");
  CHECK(read.terms[1].presence == 0.4);
  CHECK(read.discrepancy == 0.05);
  CHECK(read.scatter == 0.03);
  CHECK(read.pipelines);
  CHECK_FALSE(read.schedule);
}

TEST_CASE("a stack may know small collectives less well than large ones", "[stack]") {
  const Stack read = stack(
      "discrepancy,5%,,x,,,\nscatter,3%,,x,,,\nsmall_discrepancy,20%,,x,,,\n"
      "small_scatter,30%,,x,,,\n");
  CHECK(read.small_discrepancy == 0.2);
  CHECK(read.small_scatter == 0.3);
  const Stack again = load_stack({"platforms/stack-mine.csv", stack_csv(read, {})});
  CHECK(again.small_discrepancy == 0.2);
  CHECK(again.small_scatter == 0.3);
  CHECK(stack("discrepancy,5%,,x,,,\n").small_discrepancy == 0);
  refused("discrepancy,5%,,x,,,\nsmall_scatter,400%,,x,,,\n", "says nothing");
}

TEST_CASE("a learned stack keeps the deviations that hold on other clusters", "[stack]") {
  const Stack learned = stack(
      "model_factor,1.1,3%,x,,,\ndiscrepancy_elsewhere,12%,,x,,,\nscatter_elsewhere,7%,,x,,,\n");
  CHECK(learned.discrepancy_elsewhere == 0.12);
  CHECK(learned.scatter_elsewhere == 0.07);
  const Stack kept = load_stack({"stack-x.csv", stack_csv(learned, {})});
  CHECK(kept.discrepancy_elsewhere == 0.12);
  CHECK(kept.scatter_elsewhere == 0.07);
}

TEST_CASE("a learned stack says which links its runs showed", "[stack]") {
  using Links = std::vector<std::string>;
  const auto again = [](const Stack& read) {
    return load_stack({"stack-x.csv", stack_csv(read, {})}).shown_links;
  };
  const Stack silent = stack("model_factor,1.1,3%,x,,,\n");
  CHECK_FALSE(silent.shown_links);
  CHECK_FALSE(again(silent));
  const Stack none = stack("model_factor,1.1,3%,x,,,\nshown_links,none,,x,,,\n");
  CHECK(none.shown_links == Links());
  CHECK(again(none) == Links());
  const Stack two = stack(
      "model_factor,1.1,3%,x,,,\nshown_links,link of my lab: sockets|link of my lab: "
      "intra_bandwidth,,x,,,\n");
  CHECK(again(two) == Links{"link of my lab: sockets", "link of my lab: intra_bandwidth"});
}

TEST_CASE("a stack may all-reduce the gradients that ZeRO shards", "[stack]") {
  const std::string term = "per_iteration_overhead,20ms,50%,seen,,,\n";
  const Stack deepspeed = stack(term + "gradients,all-reduce,,its code,,,\n");
  REQUIRE(deepspeed.schedule);
  CHECK(deepspeed.schedule->shards_all_reduced);
  CHECK_THAT(stack_csv(deepspeed, {}), Contains("gradients,,all-reduce,,its code"));
  CHECK(on_stack(term + "gradients,all-reduce,,its code,,,\n").shards_all_reduced);
  CHECK_FALSE(on_stack(term).shards_all_reduced);
  refused(term + "gradients,scatter,,x,,,\n", "is not 'all-reduce' or 'reduce-scatter'");
}

TEST_CASE("a stack may shard by itself", "[stack]") {
  const std::string term = "per_iteration_overhead,20ms,50%,seen,,,\n";
  const Stack fsdp = stack(term + "sharding,fsdp,,its code,,,\n");
  REQUIRE(fsdp.schedule);
  REQUIRE(fsdp.schedule->sharding);
  CHECK(fsdp.schedule->sharding->kind == Sharding::Fsdp);
  CHECK_THAT(stack_csv(fsdp, {}), Contains("sharding,,fsdp,,its code"));
  refused(term + "sharding,some,,x,,,\n", "some");
}

TEST_CASE("a stack may broadcast what ZeRO-1 updated", "[stack]") {
  const std::string term = "per_iteration_overhead,20ms,50%,seen,,,\n";
  const Stack ddp = stack(term + "parameters,broadcast,,its code,,,\n");
  REQUIRE(ddp.schedule);
  CHECK(ddp.schedule->owners_broadcast);
  CHECK_THAT(stack_csv(ddp, {}), Contains("parameters,,broadcast,,its code"));
  CHECK(on_stack(term + "parameters,broadcast,,its code,,,\n").owners_broadcast);
  CHECK_FALSE(on_stack(term + "parameters,all-gather,,x,,,\n").owners_broadcast);
  refused(term + "parameters,gather,,x,,,\n", "is not 'all-gather' or 'broadcast'");
}

TEST_CASE("a stack says which shardings its software has", "[stack]") {
  const std::string term = "per_iteration_overhead,20ms,50%,seen,,,\n";
  const Stack deepspeed = stack(term + "shardings,zero1 zero2,,its code,,,\n");
  REQUIRE(deepspeed.schedule);
  CHECK(deepspeed.schedule->has(parse_sharding("zero2")));
  CHECK(deepspeed.schedule->has(parse_sharding("none")));
  CHECK_FALSE(deepspeed.schedule->has(parse_sharding("fsdp")));
  CHECK_THAT(stack_csv(deepspeed, {}), Contains("shardings,,zero1 zero2,,its code"));
  const Stack horovod = stack(term + "shardings,none,,its code,,,\n");
  CHECK_FALSE(horovod.schedule->has(parse_sharding("zero1")));
  // Nobody says.
  CHECK(stack(term + "overlap,yes,,its code,,,\n").schedule->has(parse_sharding("fsdp")));
  refused(term + "shardings,none fsdp,,x,,,\n", "'none' stands alone");
  refused(term + "shardings,zero3,,x,,,\n", "zero3");
}

TEST_CASE("a stack may run several collectives at a time", "[stack]") {
  const std::string term = "per_iteration_overhead,20ms,50%,seen,,,\n";
  const Stack ddp = stack(term + "network_streams,2,,its code,,,\n");
  REQUIRE(ddp.schedule);
  CHECK(ddp.schedule->network_streams == 2);
  CHECK_THAT(stack_csv(ddp, {}), Contains("network_streams,,2,,its code"));
  CHECK_THAT(stack_csv(stack(term + "buffers,broadcast,,its code,,,\n"), {}),
             !Contains("network_streams"));
  refused(term + "network_streams,0,,x,,,\n", "is not a count from 1 to 64");
}

TEST_CASE("a stack may broadcast buffers", "[stack]") {
  const std::string term = "per_iteration_overhead,20ms,50%,seen,,,\n";
  const Stack ddp = stack(term + "buffers,broadcast,,its code,,,\n");
  REQUIRE(ddp.schedule);
  CHECK(ddp.schedule->buffers_broadcast);
  CHECK_THAT(stack_csv(ddp, {}), Contains("buffers,,broadcast,,its code"));
  refused(term + "buffers,gather,,x,,,\n", "is not 'broadcast'");
}

TEST_CASE("a stack's file may say which schedule it runs by itself", "[stack]") {
  const std::string term = "per_iteration_overhead,20ms,50%,seen,,,\n";
  const Stack ddp = stack(term + "fusion,ddp,,its documentation,,,\noverlap,yes,,as above,,,\n");
  REQUIRE(ddp.schedule);
  CHECK(to_text(ddp.schedule->fusion) == "ddp");
  CHECK(ddp.schedule->overlap == UsualOverlap::Yes);
  const Stack never = stack(term + "overlap,never,,its code,,,\n");
  CHECK(never.schedule->overlap == UsualOverlap::Never);
  CHECK(to_text(never.schedule->fusion) == "merged");
  const Stack again = load_stack({"platforms/stack-mine.csv", stack_csv(ddp, {})});
  CHECK(to_text(again.schedule->fusion) == "ddp");
  CHECK_THROWS_WITH(stack(term + "overlap,often,,x,,,\n"),
                    Contains("'often' is not 'yes', 'no' or 'never'"));
}

TEST_CASE("what is written is read again", "[stack]") {
  const Stack once = stack(
      "nic_share,60%,50%,x,,nic=10Gbps,\nstaging_bandwidth,8Gbps,90%,x,,,40%\n"
      "host_bandwidth,16Gbps,90%,x,,,\n"
      "encode_per_call,3ms,30%,x,dgc,calls=1,\ndiscrepancy,5%,,x,,,\nscatter,3%,,x,,,\n");
  const std::string text = stack_csv(once, {"mine", "sources: a b"});
  const Stack again = load_stack({"platforms/stack-mine.csv", text});
  CHECK(again.sources == std::vector<std::string>{"a", "b"});
  CHECK(stack_csv(again, {"mine", "sources: a b"}) == text);
  CHECK(again.terms[0].value == Approx(1 / 0.6 - 1));
  CHECK(again.terms[2].value == Approx(0.25e-18));  // the square of 0.5 ns a byte
}

TEST_CASE("a stack's mistakes are named", "[stack]") {
  CHECK_THROWS_WITH(load_stack({"platforms/stack-mine.csv",
                                "property,value,deviation,source,implementation\n"
                                "nic_share,80%,30%,x,torch\n"}),
                    Contains(":2: column 'implementation': 'nic_share' is of none"));
  CHECK_THROWS_WITH(load_stack({"platforms/stack-mine.csv",
                                "property,value,deviation,source,implementation\n"
                                "encode_per_call,1ms,30%,x,gradcast-cdua\n"}),
                    Contains("did you mean 'gradcast-cuda'?"));
  refused("nic_bandwidth,10Gbps,,x,,,\n", "unknown property 'nic_bandwidth'");
  refused("per_iteration_overhead,20,,x,,,\n", "stack-mine.csv:2: column 'value'");
  refused("per_iteration_overhead,20ms,400%,x,,,\n", "is more than 300%");
  refused("per_iteration_overhead,20ms,,x,topk,,\n",
          "'per_iteration_overhead' is of no compressor");
  refused("encode_per_call,20ms,,x,topq,,\n", "did you mean 'topk'?");
  refused("encode_per_call,1ms,,x,,calls,\n",
          "is not a number with its range, like 'calls=1..161'");
  refused("encode_per_call,1ms,,x,,call=1,\n", "'call' is none of calls");
  refused("encode_per_call,1ms,,x,,calls=9..1,\n", "begins above its end");
  refused("encode_per_call,1ms,,x,,,0%\n", "is not above 0% and at most 100%");
  refused("encode_per_call,1ms,,x,,,\nencode_per_call,2ms,,x,,,\n", "stands twice");
  refused("overlap,yes,,x,,,\noverlap,no,,x,,,\n",
          "stack-mine.csv:3: column 'property': 'overlap' stands twice");
  refused("encode_per_call,1ms,,,,,\n", "column 'source'");
  refused("", "the stack has no property");
}

TEST_CASE("a term acts where it was seen, and within a factor of two of that", "[stack]") {
  // One call; the toy's encode takes 6 ms.
  const auto encode = [](const std::string& seen, const char* fusion = "merged") {
    const Scenario scenario = on_stack("encode_per_call,7ms,,x,topk," + seen + ",\n", fusion);
    double sum = 0;
    for (const PlannedBucket& bucket : make_plan(scenario).buckets)
      sum += bucket.cost.encode.count();
    return sum;
  };
  CHECK(encode("calls=1") == Approx(13e-3));
  CHECK(encode("elements=12000") == Approx(13e-3));
  CHECK(encode("elements=12001") == Approx(6e-3));
  CHECK(encode("elements=1..3000") == Approx(13e-3));
  CHECK(encode("elements=1..2999") == Approx(6e-3));
  // Three calls of 7 ms each were never seen: they are not multiplied on.
  CHECK(encode("calls=1", "layer") == Approx(6e-3));
  CHECK(encode("calls=2", "layer") == Approx(27e-3));
  CHECK(outside_seen(on_stack("encode_per_call,7ms,,x,topk,calls=1,\n", "layer")) ==
        "encode_per_call of topk");
}

TEST_CASE("a host's rate limits larger messages, more ranks and faster NICs than were seen",
          "[stack]") {
  // 6000 elements of top-k at density 0.01 are 60 values and 60 indices of 4 bytes: 480 bytes, on
  // two ranks. The smallest message that counts as seen has half of the smallest one's bytes.
  const auto left = [](const char* quantity, const char* seen) {
    return outside_seen(on_stack(std::string(quantity) + ",8Gbps,,x,," + seen + ",\n"));
  };
  CHECK(left("reduction_bandwidth", "bytes=1..8 ranks=1").empty());
  CHECK(left("staging_bandwidth", "bytes=1..8 ranks=1").empty());
  CHECK(left("reduction_bandwidth", "bytes=960..4000 ranks=2").empty());
  CHECK(left("reduction_bandwidth", "bytes=961..4000 ranks=2") == "reduction_bandwidth");
  CHECK(outside_seen(on_stack("per_message_latency,9us,,x,,bytes=1..8 ranks=2,\n")) ==
        "per_message_latency");
  CHECK(left("host_bandwidth", "nic=8bps").empty());
  CHECK(left("host_bandwidth", "nic=1Tbps") == "host_bandwidth");
  for (const char* seen : {"nic=8bps", "nic=8bps shards=1"}) {
    Scenario sharded = on_stack("host_bandwidth,8Gbps,,x,," + std::string(seen) + ",\n");
    sharded.sharding.kind = Sharding::Zero1;
    apply_stack(sharded);
    CHECK(outside_seen(sharded).empty());
  }
}

TEST_CASE("a library takes of a faster NIC what it takes of one, whoever shards", "[stack]") {
  const auto left = [](const std::string& row) {
    Scenario sharded = on_stack(row);
    sharded.sharding.kind = Sharding::Zero1;
    apply_stack(sharded);
    return outside_seen(sharded);
  };
  CHECK(left("nic_share,90%,,x,,nic=8bps,\n").empty());
  CHECK(left("per_collective_latency,9us,,x,,nic=8bps,\n").empty());
  CHECK(left("nic_share,90%,,x,,nic=1Tbps,\n") == "nic_share");
  CHECK(left("per_iteration_overhead,9us,,x,,nic=8bps,\n") == "per_iteration_overhead");
}

// Two micro-steps that both send have twice the buckets of one, and as many calls.
TEST_CASE("calls are those of a micro-step where each synchronises", "[stack]") {
  Scenario scenario = toy::scenario();
  const auto calls = [&] {
    return outside_of(parse_seen("calls=1000"), scenario, make_plan(scenario), HoldsFor::Seen);
  };
  const std::string of_one = calls();
  scenario.accumulation = 2;
  scenario.synchronise = Synchronise::Every;
  CHECK(calls() == of_one);
}

TEST_CASE("a GPU that computes slows its collectives down, sharded or not", "[stack]") {
  const auto left = [](const std::string& quantity) {
    Scenario sharded = on_stack(quantity + ",20%,,x,,calls=1,\n");
    sharded.sharding.kind = Sharding::Zero1;
    apply_stack(sharded);
    return outside_seen(sharded);
  };
  CHECK(left("computing_slowdown").empty());
  CHECK(left("communication_slowdown") == "communication_slowdown");
}

TEST_CASE("a single node's run has no share of a NIC to be told of", "[stack]") {
  const auto uses = [](int nodes) {
    Scenario scenario = toy::scenario("topk");
    scenario.cluster.nodes = nodes;
    scenario.cluster.gpus_per_node = 4 / nodes;
    scenario.stack = std::make_shared<const Stack>(stack("nic_share,90%,,x,,nic=1Tbps,\n"));
    apply_stack(scenario);
    return outside_seen(scenario);
  };
  CHECK(uses(2) == "nic_share");
  CHECK(uses(1).empty());
}

TEST_CASE("what two groups saw apart, nobody saw together", "[stack]") {
  // Three calls of up to 3,000 elements at density 0.01. One group saw one call, another three
  // calls at density 0.5: each number was seen, but not both.
  const auto left = [](const std::string& seen) {
    return outside_seen(on_stack("encode_per_call,7ms,,x,topk," + seen + ",\n", "layer"));
  };
  CHECK(left("calls=1..3 density=0.01..0.5").empty());
  CHECK(left("calls=1 density=0.01 | calls=3 density=0.5") == "encode_per_call of topk");
  CHECK(left("calls=1 density=0.01 | calls=3 density=0.01..0.5").empty());
  CHECK(to_text(parse_seen("calls=1 ranks=2|calls=3..161")) == "calls=1 ranks=2 | calls=3..161");
}

TEST_CASE("a compressor's own term comes before that of all", "[stack]") {
  const Scenario scenario = on_stack(
      "encode_per_call,7ms,,x,,,\nencode_per_call,1ms,,x,topk,,\n"
      "encode_per_call,9ms,,x,dgc,,\n");
  CHECK(scenario.codec.per_call == Seconds{1e-3});
  CHECK(on_stack("encode_per_call,9ms,,x,fp16,,\n").codec.per_call == Seconds{0});
}

TEST_CASE("without its stack a scenario is physics again", "[stack]") {
  Scenario scenario = on_stack("per_iteration_overhead,20ms,,x,,,\nnic_share,50%,,x,,,\n");
  CHECK(scenario.cluster.per_iteration_overhead == Seconds{20e-3});
  CHECK(scenario.cluster.node(0).nic.bandwidth.value == Approx(0.5e6));
  const Scenario physics = without_stack(scenario);
  CHECK(physics.cluster.per_iteration_overhead == Seconds{0});
  CHECK(physics.cluster.node(0).nic.bandwidth.value == Approx(1e6));
  apply_stack(scenario);  // again, as after a change
  CHECK(scenario.cluster.node(0).nic.bandwidth.value == Approx(0.5e6));
}

// `--nic-share 100%` beside a stack that says 50 %: the typed value stays.
TEST_CASE("a term that was asked for by value is not the stack's", "[stack]") {
  Scenario scenario = toy::scenario("topk");
  scenario.stack = std::make_shared<const Stack>(
      stack("per_iteration_overhead,20ms,,x,,,\nnic_share,50%,,x,,,\n"));
  scenario.stated = {"nic_share"};
  apply_stack(scenario);
  CHECK(scenario.cluster.node(0).nic.bandwidth.value == Approx(1e6));
  CHECK(scenario.cluster.per_iteration_overhead == Seconds{20e-3});
  CHECK(terms_for(*scenario.stack, scenario).size() == 1);
}

namespace {

/// Three costs of compressors: of operators, of this project's kernels, and of whatever encodes.
constexpr const char* kByImplementation =
    "property,value,deviation,source,compressor,implementation\n"
    "staging_bandwidth,4GBps,,x,,\nencode_per_call,7ms,,x,topk,torch\n"
    "encode_per_call,200us,,x,,gradcast-cuda\ndecode_per_call,1ms,,x,,\n"
    "per_iteration_overhead,20ms,,x,,\n";

std::string names_by(const std::string& implementation) {
  Scenario scenario = toy::scenario("topk");
  scenario.implementation = implementation;
  const Stack stack = load_stack({"platforms/stack-mine.csv", kByImplementation});
  std::string names;
  for (const StackTerm* term : terms_for(stack, scenario)) names += term->name() + "; ";
  return names;
}

}  // namespace

// 7 ms are Python and operators one after another: a call of kernels does not take them. On the CPU
// nothing goes through the host's memory either.
TEST_CASE("what was seen beside one implementation is not a cost of another", "[stack]") {
  const std::string rest = "decode_per_call; per_iteration_overhead; ";
  for (const char* others : {"torch", "cub", "mine"})
    CHECK(names_by(others) == "staging_bandwidth; encode_per_call of topk by torch; " + rest);
  CHECK(names_by("gradcast-cuda") ==
        "staging_bandwidth; encode_per_call by gradcast-cuda; " + rest);
  CHECK(names_by("gradcast-cpu") == rest);
}

TEST_CASE("a family's costs are those beside the same implementation", "[stack]") {
  const Stack read = load_stack({"platforms/stack-mine.csv", kByImplementation});
  std::string names;
  for (const StackTerm& term : read.terms)
    if (term.of_family && term.compressor == "gaussian") names += term.name();
  CHECK(names == "encode_per_call of gaussian by torch");
  const Stack again = load_stack({"platforms/stack-mine.csv", stack_csv(read, {})});
  CHECK(again.terms[1].name() == "encode_per_call of topk by torch");
}

TEST_CASE("a stack's name says what carries its collectives", "[stack]") {
  CHECK(transport_of("horovod-mpi") == Transport::Mpi);
  CHECK(transport_of("population-mpi-without-x") == Transport::Mpi);
  CHECK(transport_of("ddp-gloo") == Transport::Gloo);
  for (const char* name : {"ddp-nccl", "deepspeed-zero", "paper", "population"})
    CHECK(transport_of(name) == Transport::Nccl);
}

TEST_CASE("what most stacks of a population lack is not in its forecast", "[stack]") {
  CHECK(on_stack("per_iteration_overhead,20ms,,x,,,40%\n").cluster.per_iteration_overhead ==
        Seconds{0});
  CHECK(on_stack("per_iteration_overhead,20ms,,x,,,60%\n").cluster.per_iteration_overhead ==
        Seconds{20e-3});
}

TEST_CASE("a compressor that nobody measured takes what its family takes, and is less sure",
          "[stack]") {
  const Stack read = load_stack({"platforms/stack-mine.csv",
                                 "property,value,deviation,source,compressor,seen\n"
                                 "encode_per_call,1ms,60%,x,topk,calls=1\n"
                                 "encode_per_call,100ms,80%,x,dgc,calls=1 | calls=9\n"
                                 "scatter,3%,,x,,\ndiscrepancy,3%,,x,,\n"});
  const auto term_of = [&](const std::string& compressor) {
    return std::find_if(read.terms.begin(), read.terms.end(),
                        [&](const StackTerm& term) { return term.compressor == compressor; });
  };
  const auto threshold = term_of("threshold");
  REQUIRE(threshold != read.terms.end());
  CHECK(threshold->value == Approx(10e-3));  // a factor of 10 from either
  // (0.6^2 + 0.8^2) / 2 = 0.5 of each, and (ln 10)^2 = 5.3 between them.
  CHECK(threshold->deviation == Approx(std::sqrt(0.5 + std::log(10) * std::log(10))));
  CHECK(to_text(threshold->seen) == "calls=1 | calls=9");
  CHECK(threshold->source == "nobody measured it: as topk, dgc");
  CHECK(term_of("topk")->value == 1e-3);
  CHECK(term_of("fp16") == read.terms.end());  // no cast was measured
  CHECK_THAT(stack_csv(read, {}), !Contains("threshold"));
}

namespace {

constexpr const char* kLearnedHeader =
    "property,compressor,value,deviation,source,seen,presence,deviation_below,between\n";
constexpr const char* kLearnedRows =
    "per_iteration_overhead,,20ms,20%,3 runs,,,50%,\n"
    "rank_spread,,2%,30%,3 runs,,,,\n"
    "model_factor,,0.95,4%,on all times of this cluster,,,8%,\n"
    "kind_factor,,1.07,2%,3 runs,compute=0.2133 ranks=16,,,\n"
    "kind_factor,topk,0.9,3%,3 runs,compute=0.2133 ranks=16,,,\n"
    "scatter,,3%,,x,,,,\n"
    "correlation,,-0.3,,between the logarithms,,,,model_factor | kind_factor at 0.2133 on 16\n"
    "correlation,,-0.9,,between the logarithms,,,,per_iteration_overhead | model_factor\n";

Stack learned(const std::string& rows = kLearnedRows) {
  return load_stack({"platforms/stack-mine.csv", kLearnedHeader + rows});
}

}  // namespace

TEST_CASE("a learned stack has a factor, two sides of deviations, and correlations", "[stack]") {
  const Stack read = learned();
  REQUIRE(read.factor);
  CHECK(*read.factor == 0.95);
  CHECK(read.discrepancy == 0.04);
  CHECK(read.discrepancy_below == 0.08);
  CHECK(read.terms[0].deviation_below == 0.5);
  REQUIRE(read.kinds.size() == 2);
  CHECK(read.kinds[0].kind.compute == Seconds{0.2133});
  CHECK(read.kinds[0].factor == 1.07);
  CHECK(read.kinds[0].deviation == 0.02);
  CHECK(read.kinds[1].name() == "kind_factor of topk at 0.2133 on 16");
  REQUIRE(read.correlations.size() == 2);
  CHECK(read.correlations[1].one == "per_iteration_overhead");
  CHECK(read.correlations[1].other == kModelFactor);
  CHECK(read.correlations[1].value == -0.9);
  const std::string text = stack_csv(read, {"sources: a"});
  const Stack again = load_stack({"platforms/stack-mine.csv", text});
  CHECK(stack_csv(again, {"sources: a"}) == text);
  CHECK(again.correlations[1].value == -0.9);
  CHECK(again.kinds[1].factor == 0.9);
}

TEST_CASE("a learned stack's mistakes are named", "[stack]") {
  const std::string rows = kLearnedRows;
  const auto says = [&](const std::string& more, const std::string& what) {
    CAPTURE(more);
    CHECK_THROWS_WITH(learned(rows + more), Contains(what));
  };
  says("model_factor,,1,1%,x,,,,\n", "'model_factor' stands twice");
  says("discrepancy,,5%,,x,,,,\n", "'discrepancy' and 'model_factor' are the same error");
  says("correlation,,0.5,,x,,,,model_factor | per_iteration_overhead\n", "stands twice");
  says("kind_factor,,1.1,1%,x,compute=0.21331 ranks=16,,,\n", "stands twice");
  for (const char* seen :
       {"", "ranks=4", "compute=1", "compute=0.1..0.2 ranks=4", "compute=0 ranks=4",
        "compute=1 ranks=4 calls=1", "compute=1 ranks=1.5", "compute=1 | ranks=4"})
    says("kind_factor,,1.1,1%,x," + std::string(seen) + ",,,\n",
         "a kind of runs is one time of one GPU and a number of ranks, like");
  says("correlation,,1,,x,,,,rank_spread | model_factor\n", "is not above -1 and below 1");
  says("correlation,,0.5,,x,,,,rank_spread\n", "is not two terms");
  says("correlation,,0.5,,x,,,,nic_share | model_factor\n",
       "names 'nic_share', which the stack does not have");
  // a and b go against each other, b and c too: then a and c go together.
  says(
      "correlation,,-0.9,,x,,,,rank_spread | model_factor\n"
      "correlation,,-0.9,,x,,,,rank_spread | per_iteration_overhead\n",
      "no joint distribution has these correlations");
  CHECK_THROWS_WITH(learned("model_factor,,0,1%,x,,,,\n"), Contains("is not a factor"));
}

TEST_CASE("the factor of a cluster is in the plan, and not in physics", "[stack]") {
  const Scenario scaled =
      on_stack("per_iteration_overhead,20ms,50%,seen,,,\nmodel_factor,1.1,3%,x,,,\n");
  CHECK(make_plan(scaled).model_factor == 1.1);
  CHECK(make_plan(without_stack(scaled)).model_factor == 1);
  CHECK(make_plan(on_stack("per_iteration_overhead,20ms,50%,seen,,,\n")).model_factor == 1);
}
