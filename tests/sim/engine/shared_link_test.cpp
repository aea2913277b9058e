// Collectives of one communicator that run at the same time, in closed form and beside the engines
// that simulate messages. By hand.
#include "sim/engine/playback/shared_link.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/network/gloo_broadcast.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

struct Work {
  Seconds begin;
  Seconds waiting;
  Seconds bytes;
};

/// "20 20": when each work ends, in milliseconds.
std::string ends(const std::vector<Work>& works) {
  EventQueue events;
  SharedLink link(events);
  std::vector<double> over(works.size());
  for (std::size_t i = 0; i < works.size(); ++i)
    events.at(works[i].begin, [&, i] {
      link.begin(works[i].waiting, works[i].bytes,
                 [&, i] { over[i] = events.now().count() * 1e3; });
    });
  events.run();
  std::string text;
  for (const double end : over) {
    char one[32];
    std::snprintf(one, sizeof one, "%s%.6g", text.empty() ? "" : " ", end);
    text += one;
  }
  return text;
}

/// Milliseconds of all-reduces of two hosts that are all ready at once: of 8000 bytes two rounds of
/// 4 kB at 1 MB/s each, so 8 ms of bytes and two latencies.
double milliseconds(const char* engine, const std::vector<int>& payloads, int at_a_time,
                    Seconds latency) {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.gpus_per_node = 1;
  cluster.nic = {BytesPerSecond{1e6}, latency};
  cluster.intra = {BytesPerSecond{1e15}, 0s};
  Plan plan;
  plan.rank_speeds.assign(2, 1);
  plan.network_streams = at_a_time;
  for (const int payload : payloads)
    plan.steps.push_back({StepKind::Collective,
                          "bucket",
                          {},
                          0s,
                          find_collective("ring-all-reduce"),
                          {.payload = Bytes{payload}}});
  Seconds end{0};
  const RunRecord record = find_engine(engine)->run(plan, cluster);
  for (const Interval& step : record.of_rank(0)) end = std::max(end, step.end);
  return end.count() * 1e3;
}

constexpr const char* kEngines[] = {"analytic", "flow-exact", "flow-fluid", "simgrid-exact",
                                    "simgrid-fluid"};

}  // namespace

// Each has half the link: 2 x 10 ms.
TEST_CASE("two works of bytes alone take as long together as one after the other",
          "[shared_link]") {
  CHECK(ends({{0s, 0s, 10ms}, {0s, 0s, 10ms}}) == "20 20");
}

// 10 ms each, 8 of them bytes. One after the other: 20 ms. Together: both wait for 2, then 2 x 8.
TEST_CASE("two works that begin together also wait together", "[shared_link]") {
  CHECK(ends({{0s, 2ms, 8ms}, {0s, 2ms, 8ms}}) == "18 18");
}

// The second waits from 5 to 7. The first has 3 ms of bytes left by then: to 13. The second has 5
// left by then: to 18, as if its latency were not there.
TEST_CASE("the latency of a work hides behind the bytes of one that began before it",
          "[shared_link]") {
  CHECK(ends({{0s, 2ms, 8ms}, {5ms, 2ms, 8ms}}) == "13 18");
}

// Half the link each until 10, when the second has sent its 5 ms. The first has 5 left: to 15.
TEST_CASE("a work that is left alone has the whole link", "[shared_link]") {
  CHECK(ends({{0s, 0s, 10ms}, {0s, 0s, 5ms}}) == "15 10");
}

TEST_CASE("a work without bytes takes its latency", "[shared_link]") {
  CHECK(ends({{0s, 10ms, 0s}, {0s, 0s, 5ms}}) == "10 5");
}

// Without latency: 4 x 8 ms, however many at a time.
TEST_CASE("buckets without latency take as long two at a time as one after another",
          "[shared_link]") {
  const std::vector<int> four(4, 8000);
  for (const char* engine : kEngines) {
    if (!find_engine(engine)->built()) continue;
    CAPTURE(engine);
    CHECK(milliseconds(engine, four, 1, 0s) == Approx(32).epsilon(1e-6));
    CHECK(milliseconds(engine, four, 2, 0s) == Approx(32).epsilon(1e-6));
  }
}

// With 1 ms a message a bucket takes 8 + 2 ms. One after another: 4 x 10. Two at a time: twice
// 2 + 2 x 8. If a message takes 10 ms: 4 x 28, and twice 20 + 2 x 8.
TEST_CASE("two buckets at a time wait together, then share the link", "[shared_link]") {
  const std::vector<int> four(4, 8000);
  CHECK(milliseconds("analytic", four, 1, 1ms) == Approx(40).epsilon(1e-6));
  CHECK(milliseconds("analytic", four, 2, 1ms) == Approx(36).epsilon(1e-6));
  CHECK(milliseconds("analytic", four, 1, 10ms) == Approx(112).epsilon(1e-6));
  CHECK(milliseconds("analytic", four, 2, 10ms) == Approx(72).epsilon(1e-6));
}

TEST_CASE("equal buckets take in closed form what simulated messages take",
          "[shared_link][contract]") {
  for (const char* engine : kEngines) {
    if (!find_engine(engine)->built()) continue;
    for (const Seconds latency : {0ms, 1ms, 2ms, 4ms, 10ms, 40ms})
      for (const std::size_t buckets : {1, 2, 3, 4, 7}) {
        CAPTURE(engine, latency.count(), buckets);
        const std::vector<int> payloads(buckets, 8000);
        const double simulated = milliseconds(engine, payloads, 2, latency);
        CHECK(simulated == Approx(milliseconds("analytic", payloads, 2, latency)).epsilon(1e-6));
        CHECK(simulated <= milliseconds(engine, payloads, 1, latency) * (1 + 1e-6));
      }
  }
}

// Each round of an all-reduce waits anew, so a round of one bucket may flow while another's waits.
TEST_CASE("unequal buckets take nearly that", "[shared_link][contract]") {
  const std::vector<int> payloads{8000, 20000, 2000, 30000, 8000};
  for (const char* engine : kEngines) {
    if (!find_engine(engine)->built()) continue;
    for (const Seconds latency : {1ms, 4ms, 10ms}) {
      CAPTURE(engine, latency.count());
      const double closed = milliseconds("analytic", payloads, 2, latency);
      CHECK(milliseconds(engine, payloads, 2, latency) == Approx(closed).epsilon(0.05));
    }
  }
}

// Ten broadcasts of a byte, 1 ms each: gloo_broadcast.hpp counts both that are under way.
TEST_CASE("broadcasts go one at a time beside two streams", "[shared_link]") {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.gpus_per_node = 1;
  cluster.nic = {BytesPerSecond{1e15}, 1ms};
  cluster.intra = {BytesPerSecond{1e15}, 0s};
  Plan plan;
  plan.rank_speeds.assign(2, 1);
  plan.network_streams = 2;
  for (int i = 0; i < 10; ++i) {
    plan.steps.push_back({StepKind::Collective, "parameter", {}, 0s, &gloo_broadcast, {Bytes{1}}});
    plan.steps.back().communicator = Plan::kOneAtATime;
  }
  for (const char* engine : kEngines) {
    if (!find_engine(engine)->built()) continue;
    CAPTURE(engine);
    const RunRecord record = find_engine(engine)->run(plan, cluster);
    CHECK(record.of_rank(1).back().end.count() == Approx(10e-3).epsilon(1e-6));
  }
}
