#include "sim/timeline/timeline_json.hpp"

#include <catch2/catch.hpp>

#include "sim/base/block_reader.hpp"
#include "sim/engine/engine.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/timeline/chrome_trace.hpp"
#include "sim/timeline/timeline_parts.hpp"
#include "tests/read_unpacked.hpp"
#include "tests/sim/plan/toy.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

struct Written {
  Plan plan;
  RunRecord record;
  std::string text;
};

Written written(const Scenario& scenario, bool gzip = false) {
  Written its{make_plan(scenario), {}, {}};
  its.record = find_engine("analytic")->run(its.plan, scenario.cluster);
  TimelineHead head{Json{{"tool", "test"}}, {}, gzip};
  for (int rank = 0; rank < its.plan.ranks(); ++rank) head.ranks.push_back(rank);
  its.text = timeline_to_json(make_timeline(its.plan, its.record), its.plan,
                              layout_of(scenario.cluster), head);
  return its;
}

Json events_of(const std::string& text, const char* ph) {
  const Json document = Json::parse(text);
  Json events = Json::array();
  for (const Json& event : document["traceEvents"])
    if (event["ph"] == ph) events.push_back(event);
  return events;
}

}  // namespace

TEST_CASE("collectives are named as NCCL's kernels") {
  CHECK(kernel_name(*find_collective("ring-all-reduce")) == "AllReduce_RING");
  CHECK(kernel_name(*find_collective("double-binary-tree")) == "AllReduce_DOUBLE_BINARY_TREE");
  CHECK(kernel_name(*find_collective("two-level-all-gather")) == "AllGather_TWO_LEVEL");
  CHECK(kernel_name(*find_collective("ring-reduce-scatter")) == "ReduceScatter_RING");
}

TEST_CASE("a timeline has the profiler's fields") {
  const std::string text = written(toy::scenario()).text;
  const Json document = Json::parse(text);
  CHECK(document["schemaVersion"] == 1);
  CHECK(document["baseTimeNanoseconds"] == 0);
  CHECK(document["displayTimeUnit"] == "ms");
  CHECK(document["distributedInfo"]["world_size"] == 2);
  CHECK(document["otherData"]["tool"] == "test");
  // Backward of layer c is 6 ms after 6 ms of forward.
  CHECK_THAT(text, Contains(R"("name":"backward c","pid":0,"tid":1,"ts":6000.000,"dur":6000.000,)"
                            R"("args":{"device":0,"stream":1,"phase":"backward"}})"));
  const Json slices = events_of(text, "X");
  const auto collective = std::find_if(slices.begin(), slices.end(), [](const Json& slice) {
    return slice["args"].contains("Collective name");
  });
  REQUIRE(collective != slices.end());
  CHECK((*collective)["name"] == "ncclDevKernel_AllReduce_RING");
  CHECK((*collective)["args"] == Json::parse(R"({"device":0,"stream":2,"phase":"collective",
    "step":"ring-all-reduce bucket 0","bucket":0,"bytes":24000,"Collective name":"allreduce",
    "In msg nelems":6000,"Out msg nelems":6000,"Group size":2,"dtype":"Float"})"));
  const Json names = events_of(text, "M");
  CHECK(names[0]["args"]["name"] == "rank 0 (node 0)");
  CHECK(names[4]["args"]["name"] == "network");
}

// Selected: 60 pairs of 8 bytes, in words of 4: 120, of two ranks 240.
TEST_CASE("an all-gather's words are those of the pairs that travel") {
  const Json slices = events_of(written(toy::scenario("topk")).text, "X");
  const auto gather = std::find_if(slices.begin(), slices.end(), [](const Json& slice) {
    return slice["args"].contains("Collective name");
  });
  CHECK((*gather)["args"]["Collective name"] == "allgather");
  CHECK((*gather)["args"]["In msg nelems"] == 120);
  CHECK((*gather)["args"]["Out msg nelems"] == 240);
}

TEST_CASE("events stand by process, thread and time, and arrows lie on their slices") {
  Scenario scenario = toy::scenario();
  scenario.fusion = parse_fusion("layer");
  scenario.overlap = true;
  const std::string text = written(scenario).text;
  const auto key = [](const Json& event) {
    return std::tuple(event["pid"].get<int>(), event["tid"].get<int>(), event["ts"].get<double>());
  };
  std::tuple<int, int, double> last{-1, 0, 0};
  const Json document = Json::parse(text);
  for (const Json& event : document["traceEvents"]) {
    if (event["ph"] == "M") continue;
    CHECK(key(event) >= last);
    last = key(event);
  }
  const Json begins = events_of(text, "s");
  const Json ends = events_of(text, "f");
  REQUIRE(begins.size() == 6);  // three layers of two ranks
  REQUIRE(ends.size() == 6);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    CHECK(begins[i]["id"] == i + 1);
    CHECK(ends[i]["id"] == i + 1);
    CHECK(ends[i]["bp"] == "e");
  }
  CHECK(begins[1]["ts"] == 15'999.999);  // backward of b ends at 16 ms
  CHECK(ends[1]["ts"] == 24'000.0);      // when the network is free again
}

TEST_CASE("links are counters of a process of their own") {
  Scenario scenario = toy::scenario();
  const Plan plan = make_plan(scenario);
  RunRecord record = find_engine("analytic")->run(plan, scenario.cluster);
  record.links = {{"node10.nic0.up", {{Seconds{0}, {1.25e9}}, {Seconds{2e-3}, {0}}}},
                  {"node2.nic0.up", {{Seconds{1e-3}, {1e6}}}}};
  const std::string text = timeline_to_json(make_timeline(plan, record), plan,
                                            layout_of(scenario.cluster), {Json::object(), {0}});
  const Json counters = events_of(text, "C");
  REQUIRE(counters.size() == 3);
  CHECK(counters[0]["name"] == "node10.nic0.up");
  CHECK(counters[0]["args"]["Gbps"] == 10);
  CHECK(counters[1]["name"] == "node2.nic0.up");
  CHECK(counters[1]["ts"] == 1000.0);
  CHECK(counters[1]["args"]["Gbps"] == 0.008);
  CHECK(counters[0]["pid"] == 2);  // after ranks 0 and 1
}

TEST_CASE("a packed timeline is the same text, and the same file every time") {
  if (!gzip_built()) return;
  const TemporaryFolder folder;
  const std::string text = written(toy::scenario()).text;
  const std::string packed = written(toy::scenario(), true).text;
  CHECK(packed.size() < text.size());
  CHECK(read_unpacked(folder.write("t.gz", packed)) == text);
  CHECK(packed == written(toy::scenario(), true).text);
  CHECK(packed.substr(4, 4) == std::string(4, '\0'));  // no date
}

TEST_CASE("names of tensors cannot break the file") {
  Scenario scenario = toy::scenario();
  scenario.model.change().tensors[1].tensor = scenario.trace.change().tensors[1].tensor =
      "a\"b\\\n\xff";
  const Json slices = events_of(written(scenario).text, "X");
  CHECK(slices[1]["name"] == "forward a\"b\\\n\xEF\xBF\xBD");
}

// The second rank computes half as fast: seen from the first, 18 ms of waiting.
TEST_CASE("a timeline read back adds up to the parts of each rank") {
  Scenario scenario = toy::scenario();
  scenario.rank_speeds = {1, 0.5};
  const TemporaryFolder folder;
  const ChromeTrace trace = read_chrome_trace(folder.write("t.json", written(scenario).text));
  CHECK_FALSE(first_that_does_not_nest(trace));
  const auto milliseconds = [](Seconds time) { return time.count() * 1e3; };
  const IterationResult fast = parts_of(trace, "0");
  CHECK(milliseconds(fast.forward) == Approx(6));
  CHECK(milliseconds(fast.backward) == Approx(12));
  CHECK(milliseconds(fast.wait) == Approx(18));
  CHECK(milliseconds(fast.exposed_communication) == Approx(24));
  CHECK(milliseconds(fast.update) == Approx(1));
  CHECK(milliseconds(fast.iteration) == Approx(61));
  const IterationResult slow = parts_of(trace, "1");
  CHECK(milliseconds(slow.backward) == Approx(24));
  CHECK(milliseconds(slow.wait) == Approx(0).margin(1e-9));
  CHECK(milliseconds(marked_exposed(trace, "1")) == Approx(24));
  CHECK_THROWS_WITH(parts_of(trace, "2"), Contains("no lane 'compute'"));
}
