// Files of events around a job.
#include "sim/inputs/world.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "sim/base/error.hpp"
#include "sim/inputs/cluster.hpp"

using namespace gradcast;

namespace {

/// 2 nodes of 2: ranks 0 to 3.
Cluster four_ranks() {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.gpus_per_node = 2;
  cluster.nic = {BytesPerSecond{1e6}, Seconds{0}};
  cluster.intra = {BytesPerSecond{1e9}, Seconds{0}};
  return cluster;
}

World read(const std::string& rows) {
  return load_events({"events.csv", "event,target,at,lasting,value\n" + rows}, four_ranks());
}

}  // namespace

TEST_CASE("every kind of event is read", "[world]") {
  const World world = read(
      "speed,rank 1,2s,500ms,50%\n"
      "pause,rank 2,10ms,,\n"
      "bandwidth,node1.nic0,0,1s,25%\n"
      "down,node0.nic0.up,3s,10us,\n"
      "flow,rank 0 > rank 3,1s,2s,4Gbps\n"
      "flow,rank 3 > rank 1,0,,\n");
  REQUIRE(world.ranks.size() == 2);
  CHECK(world.ranks[0].rank == 1);
  CHECK(world.ranks[0].period.at == Seconds{2});
  CHECK(world.ranks[0].period.lasting == Seconds{0.5});
  CHECK(world.ranks[0].speed == 0.5);
  CHECK(world.ranks[1].rank == 2);
  CHECK(world.ranks[1].period.at == Seconds{0.01});
  CHECK_FALSE(world.ranks[1].period.lasting.has_value());  // for ever
  CHECK(world.ranks[1].speed == 0);
  REQUIRE(world.links.size() == 2);
  CHECK(world.links[0].link == "node1.nic0");
  CHECK(world.links[0].share == 0.25);
  CHECK(world.links[1].link == "node0.nic0.up");
  CHECK(world.links[1].share == 0);
  CHECK(world.links[1].period.lasting->count() == Approx(10e-6));
  REQUIRE(world.flows.size() == 2);
  CHECK(world.flows[0].from == 0);
  CHECK(world.flows[0].to == 3);
  CHECK(world.flows[0].most.value == 0.5e9);
  CHECK(world.flows[1].most.value == 0);
  CHECK_FALSE(world.flows[1].period.lasting.has_value());
  CHECK(world.network_disturbed());
}

TEST_CASE("a file of events may lack the columns that nobody needs, and have no row", "[world]") {
  const World world = load_events(
      {"events.csv", "# who was on call\nevent,target,at\npause,rank 0,1s\n"}, four_ranks());
  REQUIRE(world.ranks.size() == 1);
  CHECK_FALSE(world.ranks[0].period.lasting.has_value());
  CHECK_FALSE(read("").network_disturbed());
  CHECK(read("").ranks.empty());
}

// Each change looks at all events that hold its rank or link, and SimGrid at all flows.
TEST_CASE("a crowd of events at once is a slip, thousands after one another are not", "[world]") {
  const auto refused = [](const std::string& rows, const std::string& says) {
    CHECK_THROWS_WITH(read(rows), Catch::Contains(says));
  };
  const auto repeated = [](const std::string& row, int times) {
    std::string rows;
    for (int i = 0; i < times; ++i) rows += row;
    return rows;
  };
  const std::string pause = "pause,rank 1,5ms,1ms,\n";
  CHECK(read(repeated(pause, 100)).ranks.size() == 100);
  refused("speed,rank 1,1s,,50%\n" + repeated(pause, 101),
          "events.csv:103: more than 100 events of 'rank 1' go on at 5ms, which is a slip");
  refused(repeated("down,node0.nic0,5ms,,\n", 101),
          "events.csv:102: more than 100 events of 'node0.nic0' go on at 5ms");
  std::string flows;
  for (int i = 0; i < 1001; ++i)
    flows += "flow,rank " + std::to_string(i % 2) + " > rank 3,0,1s,\n";
  refused(flows, "events.csv:1002: more than 1000 events of 'flow' go on at 0s");
  std::string rows;
  for (int i = 0; i < 20'000; ++i) rows += "down,node0.nic0," + std::to_string(2 * i) + "us,1us,\n";
  CHECK(read(rows).links.size() == 20'000);
  refused(repeated(rows, 5) + pause, "events.csv:100002: the file has more than 100000 events");
}

TEST_CASE("a bad line of events is told by its place, what it says and what would be right",
          "[world]") {
  struct Bad {
    const char* row;
    const char* complaint;  // after "events.csv:2: "
  };
  const Bad bad[] = {
      {"pauze,rank 0,1s,,",
       "column 'event': unknown event 'pauze'; did you mean 'pause'? (events: speed, pause, "
       "bandwidth, down, flow)"},
      {",rank 0,1s,,",
       "column 'event': unknown event '' (events: speed, pause, bandwidth, down, flow)"},
      {"pause,0,1s,,", "column 'target': '0' is not a rank, like 'rank 3'"},
      {"pause,,1s,,", "column 'target': '' is not a rank, like 'rank 3'"},
      {"pause,rank x,1s,,", "column 'target': 'x' is not a whole number, like '16'"},
      {"pause,rank -1,1s,,", "column 'target': 'rank -1' is not a rank, like 'rank 3'"},
      {"pause,rank 4,1s,,", "column 'target': there is no rank 4: ranks are 0 to 3"},
      {"pause,rank 0,,,", "column 'at': '' is not a number with a unit; write a time like '25us'"},
      {"pause,rank 0,1,,", "column 'at': '1' has no unit; write a time like '25us'"},
      {"pause,rank 0,-1s,,", "column 'at': '-1s' is negative; write a time like '25us'"},
      {"pause,rank 0,nan,,",
       "column 'at': 'nan' is not a number with a unit; write a time like '25us'"},
      {"pause,rank 0,1s,soon,",
       "column 'lasting': 'soon' is not a number with a unit; write a time like '25us'"},
      {"pause,rank 0,1s,,50%", "column 'value': this event has none"},
      {"speed,rank 0,1s,,",
       "column 'value': '' is not a number with a unit; write a share like "
       "'5%'"},
      {"speed,rank 0,1s,,0.5", "column 'value': '0.5' has no unit; write a share like '5%'"},
      {"speed,rank 0,1s,,0%",
       "column 'value': '0%' stops it: that is the event 'pause' of a rank or 'down' of a link"},
      {"bandwidth,,1s,,50%", "column 'target': is empty"},
      {"bandwidth,node0.nic0,1s,,0",
       "column 'value': '0' stops it: that is the event 'pause' of a rank or 'down' of a link"},
      {"bandwidth,node0.nik0,1s,,50%",
       "column 'target': the cluster has no link 'node0.nik0'; did you mean 'node0.nic0'? (its "
       "first is 'node0.nic0.up')"},
      {"down,rank 0,1s,,",
       "column 'target': the cluster has no link 'rank 0' (its first is 'node0.nic0.up')"},
      {"down,node0.nic0,1s,,0%", "column 'value': this event has none"},
      {"flow,rank 0,1s,,", "column 'target': 'rank 0' is not two ranks, like 'rank 0 > rank 5'"},
      {"flow,rank 0 > rank 0,1s,,", "column 'target': a flow goes from one rank to another"},
      {"flow,rank 0 > rank 7,1s,,", "column 'target': there is no rank 7: ranks are 0 to 3"},
      {"flow,rank 0 > rank 1,1s,,50%",
       "column 'value': '50%': '%' is not a unit of bandwidth; write it like '9.43Gbps'"},
      {"pause,rank 0", "fewer fields than the header has columns; is the line cut off?"},
      {"pause,rank 0,1s,,,",
       "more fields than the header has columns; a text with a comma needs "
       "quotes"},
  };
  for (const Bad& each : bad) {
    CAPTURE(each.row);
    try {
      read(std::string(each.row) + "\n");
      FAIL_CHECK("was read");
    } catch (const DataError& error) {
      CHECK(error.what() == std::string("events.csv:2: ") + each.complaint);
    }
  }
  CHECK_THROWS_WITH(load_events({"events.csv", "event,target,when\n"}, four_ranks()),
                    Catch::StartsWith("events.csv:1: unknown column 'when'"));
  CHECK_THROWS_WITH(load_events({"events.csv", "event,target\n"}, four_ranks()),
                    "events.csv:1: the header lacks the column 'at'");
}
