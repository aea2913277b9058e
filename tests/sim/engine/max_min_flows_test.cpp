// Max-min fair flows, on networks that one can share out by hand.
#include "sim/engine/flow/max_min_flows.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"

using namespace gradcast;
using namespace std::chrono_literals;

namespace {

/// Links by number; a "rank" pair (from, to) passes the links that it was given.
struct Net {
  Topology topology;
  std::map<std::pair<int, int>, std::vector<std::uint32_t>> passes;

  explicit Net(std::vector<double> bandwidths) {
    for (std::size_t i = 0; i < bandwidths.size(); ++i)
      topology.links.push_back({"link" + std::to_string(i), {bandwidths[i]}});
    topology.ranks = 100;
    topology.route = [this](int from, int to, std::vector<std::uint32_t>& links) {
      const auto& own = passes.at({from, to});
      links.insert(links.end(), own.begin(), own.end());
      return Seconds{0};
    };
  }
};

}  // namespace

TEST_CASE("a flow alone has its narrowest link", "[max-min]") {
  Net net({100, 20, 50});
  net.passes[{0, 1}] = {0, 1, 2};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, false);
  Seconds end{0};
  flows.send(flows.way(0, 1), Bytes{40}, [&] { end = events.now(); });
  flows.run();
  CHECK(end.count() == Approx(2));  // 40 bytes at 20 bytes/s
}

// Bertsekas and Gallager: who is held back elsewhere leaves the rest to others. Link 0 has 10
// bytes/s and flows A and B, link 1 has 4 and flows B and C. B and C get 2 each, A the other 8.
TEST_CASE("what one flow cannot use another gets", "[max-min]") {
  Net net({10, 4});
  net.passes[{0, 1}] = {0};
  net.passes[{0, 2}] = {0, 1};
  net.passes[{3, 2}] = {1};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, false);
  std::map<char, double> end;
  flows.send(flows.way(0, 1), Bytes{8}, [&] { end['A'] = events.now().count(); });
  flows.send(flows.way(0, 2), Bytes{6}, [&] { end['B'] = events.now().count(); });
  flows.send(flows.way(3, 2), Bytes{6}, [&] { end['C'] = events.now().count(); });
  flows.run();
  CHECK(end['A'] == Approx(1));  // 8 bytes at 8
  CHECK(end['B'] == Approx(3));  // 6 at 2: A's end gives B nothing, link 1 holds it back
  CHECK(end['C'] == Approx(3));
}

TEST_CASE("a flow that ends leaves its share to the rest, at once", "[max-min]") {
  Net net({12});
  net.passes[{0, 1}] = {0};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, false);
  std::vector<double> ends;
  for (const int bytes : {4, 8, 12})
    flows.send(flows.way(0, 1), Bytes{bytes}, [&] { ends.push_back(events.now().count()); });
  flows.run();
  // 4 each a second until 1 s (0, 4, 8 are left), then 6 each until 5/3 s (0, 4), then 12.
  REQUIRE(ends.size() == 3);
  CHECK(ends[0] == Approx(1));
  CHECK(ends[1] == Approx(1 + 4.0 / 6));
  CHECK(ends[2] == Approx(1 + 4.0 / 6 + 4.0 / 12));
}

TEST_CASE("a link that changes changes the flows on it from then on", "[max-min]") {
  Net net({10});
  net.passes[{0, 1}] = {0};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, false);
  Seconds end{0};
  flows.send(flows.way(0, 1), Bytes{20}, [&] { end = events.now(); });
  events.at(1s, [&] { flows.set_bandwidth(0, {5}, {10}); });
  flows.run();
  CHECK(end.count() == Approx(3));  // 10 bytes in the first second, 10 more at 5 bytes/s
}

TEST_CASE("traffic with a limit leaves the rest of a link to others", "[max-min]") {
  Net net({10});
  net.passes[{0, 1}] = {0};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, false);
  std::map<char, double> end;
  flows.send(flows.way_at_most({2}, 0, 1), Bytes{4}, [&] { end['l'] = events.now().count(); });
  flows.send(flows.way(0, 1), Bytes{16}, [&] { end['o'] = events.now().count(); });
  flows.run();
  CHECK(end['l'] == Approx(2));  // 4 at 2
  CHECK(end['o'] == Approx(2));  // 16 at 10 - 2
}

TEST_CASE("equal flows end at the same date, to the last bit", "[max-min]") {
  Net net({10, 10, 10, 7});
  for (int i = 0; i < 3; ++i) net.passes[{i, 9}] = {static_cast<std::uint32_t>(i), 3};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, false);
  std::vector<double> ends;
  for (int i = 0; i < 3; ++i)
    flows.send(flows.way(i, 9), Bytes{1'000'003}, [&] { ends.push_back(events.now().count()); });
  flows.run();
  REQUIRE(ends.size() == 3);
  CHECK(ends[0] == ends[1]);
  CHECK(ends[1] == ends[2]);
  CHECK(ends[0] == Approx(1'000'003 * 3 / 7.0));
}

TEST_CASE("a message that a message's end sends begins at that date", "[max-min]") {
  Net net({10});
  net.passes[{0, 1}] = {0};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, false);
  Seconds end{0};
  flows.send(flows.way(0, 1), Bytes{10},
             [&] { flows.send(flows.way(0, 1), Bytes{20}, [&] { end = events.now(); }); });
  flows.run();
  CHECK(end.count() == Approx(3));
}

TEST_CASE("the loads of links are recorded as they change", "[max-min]") {
  Net net({10, 4});
  net.passes[{0, 1}] = {0};
  net.passes[{0, 2}] = {0, 1};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, true);
  flows.send(flows.way(0, 1), Bytes{6}, [] {});   // at 6, as the other gets no more than 4
  flows.send(flows.way(0, 2), Bytes{12}, [] {});  // at 4
  flows.run();
  const BoundedLoads loads = flows.take_loads(events.now());
  REQUIRE(loads.links.size() == 2);
  CHECK(loads.links[0].name == "link0");
  REQUIRE(loads.links[0].changes.size() == 3);
  CHECK(loads.links[0].changes[0].rate.value == Approx(10));
  CHECK(loads.links[0].changes[1].at.count() == Approx(1));  // the first has ended
  CHECK(loads.links[0].changes[1].rate.value == Approx(4));
  CHECK(loads.links[0].changes[2].at.count() == Approx(3));
  CHECK(loads.links[0].changes[2].rate.value == 0);
}

TEST_CASE("a run that is stopped leaves what is on its way", "[max-min]") {
  Net net({10});
  net.passes[{0, 1}] = {0};
  EventQueue events;
  MaxMinFlows flows(net.topology, events, false);
  bool sent = false;
  flows.send(flows.way(0, 1), Bytes{1000}, [&] { sent = true; });
  events.at(1s, [&] { flows.stop(); });
  flows.run();
  CHECK_FALSE(sent);
  CHECK(events.now() == 1s);
}
