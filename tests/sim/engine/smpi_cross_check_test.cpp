// Our collectives on our engines against SimGrid's own MPI, replayed on the same cluster: two
// programs that share no line of code but SimGrid's model of a link.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "tests/smpi_replay.hpp"

using namespace gradcast;

namespace {

constexpr int kRanks = 16;
constexpr double kBitsPerSecond = 10e9;
constexpr double kLatency = 50e-6;

Cluster cluster() {
  Cluster cluster;
  cluster.nodes = kRanks;
  cluster.nic = {BytesPerSecond{kBitsPerSecond / 8}, Seconds{kLatency}};
  cluster.intra = {BytesPerSecond{1e15}, Seconds{0}};  // SMPI's hosts have nothing inside
  return cluster;
}

double ours(const Engine& engine, const Collective& collective, Bytes payload) {
  Plan plan;
  plan.rank_speeds.assign(kRanks, 1.0);
  plan.steps.push_back({StepKind::Collective, "it", {}, Seconds{0}, &collective, payload});
  return summarize(plan, engine.run(plan, cluster())).iteration.count();
}

double theirs(const std::string& algorithm, const std::string& call) {
  // smpirun prints microseconds, and the shortest of these takes 200 of them: ten in a row give the
  // tenth of one. All ranks end together, so times in a row add up.
  constexpr int kInARow = 10;
  return smpi::Replay({kRanks, kBitsPerSecond, kLatency}, std::vector(kInARow, call))
             .seconds(algorithm) /
         kInARow;
}

/// Cases in which both agree, with a closed form that shows a reader that both are right. L:
/// latency, B: bandwidth of 1.25 GB/s, m: bytes of each rank.
struct Case {
  std::string collective;
  std::string algorithm;  // SMPI's
  std::string closed_form;
};

const Case kAllReduces[] = {
    {"ring-all-reduce", "allreduce:lr", "30 (L + m / 16 / B)"},
    {"recursive-doubling-all-reduce", "allreduce:rdb", "4 (L + m / B)"},
};
const Case kAllGathers[] = {
    {"ring-all-gather", "allgather:ring", "15 (L + m / B)"},
    {"bruck-all-gather", "allgather:bruck", "4 L + 15 m / B"},
};

// Beyond 64 KiB SMPI's senders wait for their receivers (smpi/send-is-detached-thresh); below they
// go on at once, where ours go on when the message has left. Neither shows: all ranks come to a
// round together, receivers are there, and no rank sends on before it has received. Software costs
// of a message (smpi/os, or, ois) are 0 by default. So nothing is configured away, down to one
// float from each.
void agree(const Case& it, std::int64_t floats, const std::string& call) {
  const double replayed = theirs(it.algorithm, call);
  for (const char* name : {"simgrid-exact", "simgrid-fluid", "analytic"}) {
    CAPTURE(it.collective, it.closed_form, floats, name);
    CHECK(ours(*find_engine(name), *find_collective(it.collective), Bytes{4 * floats}) ==
          Approx(replayed).epsilon(0.005));
  }
}

bool can_compare() {
  std::string missing;
  if (!find_engine("simgrid")->built()) missing = "this build lacks the SimGrid engine";
  if (!smpi::is_here()) missing = "there is no smpirun (Debian: libsimgrid-dev)";
  if (!missing.empty()) WARN("skipped: " + missing);  // ctest knows the word
  return missing.empty();
}

}  // namespace

// 100 MB, 1 MB, 64 kB, 6.4 kB, and a float for each rank: SMPI's lr leaves fewer to another
// algorithm.
TEST_CASE("all-reduces take as long as SimGrid's MPI says", "[smpi]") {
  if (!can_compare()) return;
  for (const Case& it : kAllReduces)
    for (const std::int64_t floats : {25'000'000, 250'000, 16'000, 1'600, 16})
      agree(it, floats, "allreduce " + std::to_string(floats) + " 0 5");
}

// 25 MB, 1 MB, 40 kB, 400 bytes and one float of each rank.
TEST_CASE("all-gathers take as long as SimGrid's MPI says", "[smpi]") {
  if (!can_compare()) return;
  for (const Case& it : kAllGathers)
    for (const std::int64_t floats : {6'250'000, 250'000, 10'000, 100, 1})
      agree(it, floats,
            "allgather " + std::to_string(floats) + " " + std::to_string(floats) + " 5 5");
}
