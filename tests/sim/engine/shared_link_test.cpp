// Collectives of one communicator that run at the same time, in closed form and beside the engines
// that simulate messages. By hand.
#include "sim/engine/playback/shared_link.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "sim/engine/engine.hpp"
#include "sim/network/gloo_broadcast.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

struct Work {
  Seconds begin;
  Seconds alone;
  double share;
};

/// "20 20": when each work ends, in milliseconds.
std::string ends(const std::vector<Work>& works) {
  EventQueue events;
  SharedLink link(events);
  std::vector<double> over(works.size());
  for (std::size_t i = 0; i < works.size(); ++i)
    events.at(works[i].begin, [&, i] {
      link.begin(works[i].alone, works[i].share, [&, i] { over[i] = events.now().count() * 1e3; });
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

/// Milliseconds of equal all-reduces of two hosts that are all ready at once: two rounds of 4 kB at
/// 1 MB/s each, so 8 ms of bytes and two latencies.
double milliseconds(const char* engine, int collectives, int at_a_time, Seconds latency) {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.gpus_per_node = 1;
  cluster.nic = {BytesPerSecond{1e6}, latency};
  cluster.intra = {BytesPerSecond{1e15}, 0s};
  Plan plan;
  plan.rank_speeds.assign(2, 1);
  plan.network_streams = at_a_time;
  for (int i = 0; i < collectives; ++i)
    plan.steps.push_back({StepKind::Collective,
                          "bucket",
                          {},
                          0s,
                          find_collective("ring-all-reduce"),
                          {.payload = Bytes{8000}}});
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
  CHECK(ends({{0s, 10ms, 1}, {0s, 10ms, 1}}) == "20 20");
}

// 10 ms each, 8 of them on the link. One after the other: 20 ms. Together: 16 ms of bytes.
TEST_CASE("the latency of one work hides behind the bytes of another", "[shared_link]") {
  CHECK(ends({{0s, 10ms, 0.8}, {0s, 10ms, 0.8}}) == "16 16");
}

// 10 ms each, 3 of them on the link: 6 ms of bytes fit into the 10.
TEST_CASE("works that leave the link idle half of their time do not slow each other",
          "[shared_link]") {
  CHECK(ends({{0s, 10ms, 0.3}, {0s, 10ms, 0.3}}) == "10 10");
}

// The first wants 0.2 of the link and gets it. 0.8 are left for the second: after 10 ms it has done
// 8 ms of 10, and goes on alone.
TEST_CASE("a work that wants less than its part gets it", "[shared_link]") {
  CHECK(ends({{0s, 10ms, 0.2}, {0s, 10ms, 1}}) == "10 12");
}

// Alone until 5: 5 ms are left. Half the link each: the first ends at 15. The second has 5 of its
// 10 ms left then: 20.
TEST_CASE("a work that comes later shares what is left", "[shared_link]") {
  CHECK(ends({{0s, 10ms, 1}, {5ms, 10ms, 1}}) == "15 20");
}

TEST_CASE("works that keep the link busy never end before their bytes", "[shared_link]") {
  CHECK(ends({{0s, 10ms, 1}, {0s, 10ms, 0.5}, {0s, 10ms, 0.5}}) == "20 15 15");
}

// Without latency: 4 x 8 ms, however many at a time.
TEST_CASE("buckets without latency take as long two at a time as one after another",
          "[shared_link]") {
  for (const char* engine : kEngines) {
    if (!find_engine(engine)->built()) continue;
    CAPTURE(engine);
    CHECK(milliseconds(engine, 4, 1, 0s) == Approx(32).epsilon(1e-6));
    CHECK(milliseconds(engine, 4, 2, 0s) == Approx(32).epsilon(1e-6));
  }
}

// With 1 ms a message a bucket takes 8 + 2 ms. One after another: 4 x 10. Two at a time by the max
// rule: twice max(10, 2 x 8). If a message takes 10 ms: twice max(28, 2 x 8), not 4 x 28.
TEST_CASE("two buckets at a time take their bytes, or the time of one alone", "[shared_link]") {
  CHECK(milliseconds("analytic", 4, 1, 1ms) == Approx(40).epsilon(1e-6));
  CHECK(milliseconds("analytic", 4, 2, 1ms) == Approx(32).epsilon(1e-6));
  CHECK(milliseconds("analytic", 4, 1, 10ms) == Approx(112).epsilon(1e-6));
  CHECK(milliseconds("analytic", 4, 2, 10ms) == Approx(56).epsilon(1e-6));
}

// The closed form takes latency and bytes to be spread evenly over a collective. Simulated messages
// of buckets that begin together also wait together, and then a pair takes 2 L + 2 x 8: with 1 ms
// 18 and not 16, with 10 ms 36 and not 28. The worst is where L = 4 ms: 24 and not 16, half as much
// again. A bucket between two others begins when one of them ends, and waits less.
TEST_CASE("simulated buckets lie between the closed form and half as much again",
          "[shared_link][contract]") {
  for (const char* engine : kEngines) {
    if (!find_engine(engine)->built()) continue;
    for (const Seconds latency : {0ms, 1ms, 2ms, 4ms, 10ms, 40ms})
      for (const int buckets : {1, 2, 3, 4, 7}) {
        CAPTURE(engine, latency.count(), buckets);
        const double closed = milliseconds("analytic", buckets, 2, latency);
        const double simulated = milliseconds(engine, buckets, 2, latency);
        CHECK(simulated >= closed * (1 - 1e-6));
        CHECK(simulated <= closed * (1.5 + 1e-6));
        CHECK(simulated <= milliseconds(engine, buckets, 1, latency) * (1 + 1e-6));
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
