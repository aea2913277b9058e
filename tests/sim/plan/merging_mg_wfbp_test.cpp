// MG-WFBP: on the toy by hand, and against the published algorithm as it is printed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/sim/plan/partitions.hpp"

using namespace gradcast;
using namespace gradcast::merging;

namespace {

Tensors mg_wfbp(const Network& network, Seconds startup, Seconds per_byte) {
  const auto buckets = merge_mg_wfbp(network.model, network.trace, {startup, per_byte});
  check_partition(network.model, buckets);
  return tensors_of(buckets);
}

/// Algorithm 1 as it is printed: every tensor keeps its place and its collective; one that is
/// merged takes no time any more, and all starts are computed anew after each merge.
Tensors mg_wfbp_as_printed(const Network& network, const PlannerNetwork& collective) {
  const std::size_t count = network.model.tensors.size();
  std::vector<double> ready(count);
  std::vector<double> bytes(count);
  std::vector<double> takes(count);
  double backward = 0;
  for (std::size_t l = count; l-- > 0;)
    ready[l] = backward += network.trace.tensors[l].backward.count();
  const auto price = [&](std::size_t l) {
    takes[l] =
        bytes[l] > 0 ? collective.startup.count() + collective.per_byte.count() * bytes[l] : 0;
  };
  for (std::size_t l = 0; l < count; ++l) {
    bytes[l] = 4.0 * static_cast<double>(network.model.tensors[l].elements);
    price(l);
  }
  const auto starts = [&] {
    std::vector<double> start = ready;
    for (std::size_t l = count - 1; l-- > 0;)
      start[l] = std::max(ready[l], start[l + 1] + takes[l + 1]);
    return start;
  };
  Tensors buckets{{count - 1}};
  for (std::size_t l = count - 1; l > 0; --l) {
    const double start = starts()[l];
    if (ready[l - 1] < start + collective.startup.count()) {
      bytes[l - 1] += std::exchange(bytes[l], 0);
      price(l);
      price(l - 1);
      buckets.back().push_back(l - 1);
    } else {
      buckets.push_back({l - 1});
    }
  }
  return buckets;
}

}  // namespace

// Backward is done with c at 6 ms, b at 10 ms, a at 12 ms; they have 12, 8 and 4 kB. At 10 MB/s c
// travels from 6 to 7.2 ms and b from 10 to 10.8 ms: nothing waits.
TEST_CASE("without a startup and with a network that keeps up, nothing is merged", "[merging]") {
  CHECK(mg_wfbp(toy_network(), Seconds{0}, 1e-4 * ms) == Tensors{{c}, {b}, {a}});
}

// At 1 MB/s c travels from 6 to 18 ms. b, ready at 10, waits until 18, and a is ready by then.
TEST_CASE("what waits for the network anyway takes in what is ready by then", "[merging]") {
  CHECK(mg_wfbp(toy_network(), Seconds{0}, 1e-3 * ms) == Tensors{{c}, {b, a}});
}

// At 10 MB/s. A startup of 1 ms: c from 6 to 8.2 ms, b from 10; c would wait 4 ms for b and b 2 ms
// for a, to save 1. Of 3 ms: c from 6 to 10.2 ms, when b starts and would wait 1.8 ms for a, to
// save
// 3. b and a start at 12 and end at 16.2 ms; alone, b ends at 14, a at 17.4 ms.
TEST_CASE("a tensor waits for the next for less than a startup", "[merging]") {
  const Network network = toy_network();
  CHECK(mg_wfbp(network, 1 * ms, 1e-4 * ms) == Tensors{{c}, {b}, {a}});
  CHECK(mg_wfbp(network, 3 * ms, 1e-4 * ms) == Tensors{{c}, {b, a}});
  const PlannerNetwork collective{3 * ms, 1e-4 * ms};
  CHECK(end_of(network.trace, merge_mg_wfbp(network.model, network.trace, collective),
               dense(collective))
            .count() == Approx(16.2e-3));
  CHECK(end_of(network.trace, make_buckets(network.model, {Fusion::Kind::Layer, {}}),
               dense(collective))
            .count() == Approx(17.4e-3));
}

// In seconds, whose sums are exact: c waits 4 s for b, no less than a startup of 4 s.
TEST_CASE("a wait of a whole startup saves nothing", "[merging]") {
  Network network = toy_network();
  network.trace.tensors[a].backward = Seconds{2};
  network.trace.tensors[b].backward = Seconds{4};
  network.trace.tensors[c].backward = Seconds{6};
  CHECK(mg_wfbp(network, Seconds{4}, Seconds{0}) == Tensors{{c}, {b, a}});
  CHECK(mg_wfbp(network, Seconds{4.001}, Seconds{0}) == Tensors{{c, b, a}});
}

// c waits 4 ms for b, then both, from 10, 2 ms for a.
TEST_CASE("with a huge startup all travel together", "[merging]") {
  CHECK(mg_wfbp(toy_network(), 5 * ms, 1e-4 * ms) == Tensors{{c, b, a}});
  CHECK(mg_wfbp(toy_network(), 1000 * ms, 1e-3 * ms) == Tensors{{c, b, a}});
  for (const char* name : kCommitted) {
    CAPTURE(name);
    CHECK(mg_wfbp(committed(name), Seconds{1}, kEthernet.per_byte).size() == 1);
  }
}

TEST_CASE("MG-WFBP is the published algorithm on the committed models", "[merging]") {
  for (const char* name : kCommitted) {
    CAPTURE(name);
    const Network network = committed(name);
    const Tensors buckets = mg_wfbp(network, kEthernet.startup, kEthernet.per_byte);
    CHECK(buckets == mg_wfbp_as_printed(network, kEthernet));
    CHECK(buckets.size() > 1);
    CHECK(buckets.size() < network.model.tensors.size());
  }
}

TEST_CASE("MG-WFBP is the published algorithm and never ends after layer by layer", "[merging]") {
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    const Network network = random_network(random, 1 + random() % 40);
    const PlannerNetwork collective{Seconds{static_cast<double>(random() % 6)},
                                    Seconds{static_cast<double>(random() % 9) / 32}};
    const auto buckets = merge_mg_wfbp(network.model, network.trace, collective);
    check_partition(network.model, buckets);
    CHECK(tensors_of(buckets) == mg_wfbp_as_printed(network, collective));
    const auto layers = make_buckets(network.model, {Fusion::Kind::Layer, {}});
    const Seconds end = end_of(network.trace, buckets, dense(collective));
    const Seconds layer_wise = end_of(network.trace, layers, dense(collective));
    CHECK(end <= layer_wise);
    if (collective.startup == Seconds{0}) CHECK(end == layer_wise);
  }
}

TEST_CASE("MG-WFBP refuses a trace of another model", "[merging]") {
  Network network = toy_network();
  network.trace.tensors.pop_back();
  CHECK_THROWS_AS(merge_mg_wfbp(network.model, network.trace, kEthernet), DataError);
}
