// The load of links over time, kept small.
#include "sim/network/link_load.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace gradcast;

namespace {

double bytes_of(const LinkLoad& link) {
  double bytes = 0;
  for (std::size_t i = 0; i + 1 < link.changes.size(); ++i)
    bytes += link.changes[i].rate.value * (link.changes[i + 1].at - link.changes[i].at).count();
  return bytes;
}

/// 100 bytes a second in every second millisecond of the first `seconds`.
LinkLoad blinking(const std::string& name, int seconds) {
  LinkLoad link{name};
  for (int i = 0; i < seconds * 1000; ++i)
    link.changes.push_back({Seconds{i * 1e-3}, {i % 2 == 0 ? 100.0 : 0.0}});
  return link;
}

}  // namespace

TEST_CASE("loads that are few stay as they are, up to the end of the run") {
  LinkLoad late{"a", {{Seconds{1}, {5}}, {Seconds{2}, {7}}, {Seconds{9}, {0}}}};
  const BoundedLoads kept = bounded({late, {"idle"}, {"off", {{Seconds{1}, {0}}}}}, Seconds{4});
  REQUIRE(kept.links.size() == 1);  // the others carry nothing
  CHECK(kept.note.empty());
  REQUIRE(kept.links[0].changes.size() == 3);
  CHECK(kept.links[0].changes[2].at == Seconds{4});
  CHECK(kept.links[0].changes[2].rate.value == 0);
  CHECK(bytes_of(kept.links[0]) == Approx(5 + 2 * 7));
}

// 4,000 changes where there is room for 40: forty windows of 0.1 s.
TEST_CASE("many changes become windows of time that carry as many bytes") {
  const BoundedLoads kept = bounded({blinking("a", 4)}, Seconds{4}, 40);
  REQUIRE(kept.links.size() == 1);
  CHECK(kept.links[0].changes.size() == 2);  // the mean is 50 all along, and then nothing
  CHECK(kept.links[0].changes[0].rate.value == 50);
  CHECK(bytes_of(kept.links[0]) == Approx(200));
  CHECK(kept.note ==
        "links changed their load 4000 times: the timeline has its mean in 40 windows of time");
}

TEST_CASE("many links are added up by their kinds") {
  std::vector<LinkLoad> links;
  for (int node = 0; node < 300; ++node) {
    links.push_back(blinking("node" + std::to_string(node) + ".nic0.up", 1));
    links.push_back({"node" + std::to_string(node) + ".nic0.down", {{Seconds{0.5}, {3}}}});
  }
  const BoundedLoads kept = bounded(links, Seconds{1}, 400);
  REQUIRE(kept.links.size() == 2);
  CHECK(kept.links[0].name == "all node.nic.down");
  CHECK(bytes_of(kept.links[0]) == Approx(300 * 1.5));
  CHECK(kept.links[1].name == "all node.nic.up");
  CHECK(bytes_of(kept.links[1]) == Approx(300 * 50));
}

TEST_CASE("a recorder that runs out of room keeps the bytes") {
  LoadRecorder recorder({"a", "b"}, 100);
  for (int i = 0; i < 10'000; ++i) {
    recorder.note(0, Seconds{i * 1e-3}, {i % 2 == 0 ? 100.0 : 0.0});
    recorder.note(1, Seconds{i * 1e-3}, {8});  // says nothing new
  }
  recorder.note(0, Seconds{10}, {0});
  recorder.note(1, Seconds{10}, {0});
  const BoundedLoads kept = recorder.take(Seconds{10});
  REQUIRE(kept.links.size() == 2);
  CHECK(kept.links[0].changes.size() < 120);
  CHECK(bytes_of(kept.links[0]) == Approx(500).epsilon(1e-5));
  CHECK(bytes_of(kept.links[1]) == Approx(80).epsilon(1e-5));
}
