#include "sim/plan/merging.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/inputs/data_files.hpp"
#include "tests/sim/plan/toy.hpp"

using namespace gradcast;

namespace {

using Tensors = std::vector<std::vector<std::size_t>>;

constexpr std::size_t a = 0, b = 1, c = 2;  // the toy's tensors
constexpr Seconds s{1};
constexpr Seconds ms{1e-3};

Tensors tensors_of(const std::vector<Bucket>& buckets) {
  Tensors all;
  for (const Bucket& bucket : buckets) all.push_back(bucket.tensors);
  return all;
}

struct Network {  // a model and its trace, made up or committed
  Model model;
  IterationTrace trace;
};

Network toy_network() {
  const Scenario scenario = toy::scenario();
  return {scenario.model, scenario.trace};
}

Network committed(const std::string& name) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return {load_model(files.read(kModels, name)),
          load_iteration_trace(files.read(kIterationTraces, "iteration-" + name + "-v100"))};
}

const char* const kCommitted[] = {"alexnet", "vgg-16", "resnet-50", "inception-v4"};

// All-reduce of 16 V100 over 10 Gbit/s Ethernet, as MG-WFBP's authors fitted it.
constexpr PlannerNetwork kEthernet{Seconds{9.08e-4}, Seconds{7.40e-10}};

Network random_network(std::mt19937& random, std::size_t tensors) {
  Network network;
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::string name = "t" + std::to_string(i);
    network.model.tensors.push_back({name, name, 1 + static_cast<std::int64_t>(random() % 9), 0});
    // Of a layer's tensors only one carries a time.
    const auto backward = static_cast<double>(random() % 3 == 0 ? 0 : random() % 8);
    network.trace.tensors.push_back({name, Seconds{1}, Seconds{backward}});
  }
  return network;
}

/// Every tensor once and in backward order, and as many elements as its bucket says.
void check_partition(const Model& model, const std::vector<Bucket>& buckets) {
  std::size_t next = model.tensors.size();
  for (const Bucket& bucket : buckets) {
    REQUIRE(!bucket.tensors.empty());
    std::int64_t elements = 0;
    for (const std::size_t tensor : bucket.tensors) {
      REQUIRE(next-- == tensor + 1);
      elements += model.tensors[tensor].elements;
    }
    REQUIRE(bucket.elements == elements);
  }
  REQUIRE(next == 0);
}

Tensors mg_wfbp(const Network& network, Seconds startup, Seconds per_byte) {
  const auto buckets = merge_mg_wfbp(network.model, network.trace, {startup, per_byte});
  check_partition(network.model, buckets);
  return tensors_of(buckets);
}

using CostOf = std::function<BucketCost(const Bucket&)>;

CostOf dense(const PlannerNetwork& network) {
  return [=](const Bucket& bucket) {
    const auto bytes = static_cast<double>(4 * bucket.elements);
    return BucketCost{Seconds{0}, network.startup + bytes * network.per_byte, Seconds{0}};
  };
}

/// When the last decode ends, stream by stream.
Seconds end_of(const IterationTrace& trace, const std::vector<Bucket>& buckets,
               const CostOf& cost) {
  Seconds compute{0};
  std::vector<Seconds> encoded;
  for (const Bucket& bucket : buckets) {
    for (const std::size_t tensor : bucket.tensors) compute += trace.tensors[tensor].backward;
    compute += cost(bucket).encode;
    encoded.push_back(compute);
  }
  Seconds network{0};
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    network = std::max(network, encoded[i]) + cost(buckets[i]).communicate;
    // All decodes come after the last encode, so that `compute` is free for them from here on.
    compute = std::max(compute, network) + cost(buckets[i]).decode;
  }
  return compute;
}

/// What OMGS makes of a network without backward; buckets that are not in the table take long.
Tensors omgs_of_table(const std::map<std::vector<std::size_t>, BucketCost>& table) {
  Network network;
  const std::size_t last = table.rbegin()->first.front();
  for (std::size_t i = 0; i <= last; ++i) {
    const std::string name = std::to_string(i);
    network.model.tensors.push_back({name, name, 1, 0});
    network.trace.tensors.push_back({name, Seconds{0}, Seconds{0}});
  }
  return tensors_of(merge_omgs(network.model, network.trace, [&](const Bucket& bucket) {
    const auto row = table.find(bucket.tensors);
    return row == table.end() ? BucketCost{0 * s, 1000 * s, 0 * s} : row->second;
  }));
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

/// All partitions there are, tried one by one: the first end, and the fewest buckets that reach it.
struct Best {
  Seconds end{1e300};
  std::size_t buckets = 0;
};

Best best_of_all(const Network& network, const CostOf& cost) {
  const std::size_t count = network.model.tensors.size();
  Best best;
  for (unsigned cuts = 0; cuts < 1u << (count - 1); ++cuts) {
    std::vector<Bucket> buckets(1);
    for (std::size_t l = count; l-- > 0;) {
      buckets.back().add(network.model, l);
      if (l > 0 && (cuts >> (l - 1) & 1) != 0) buckets.emplace_back();
    }
    const Seconds end = end_of(network.trace, buckets, cost);
    if (end < best.end || (end == best.end && buckets.size() < best.buckets))
      best = {end, buckets.size()};
  }
  return best;
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

// Every bucket: 1 ms to encode, 3 ms and 1 ms per 1000 elements to communicate, 1 ms to decode.
//   c | b | a  encoded at 7, 12, 15; communicated at 13, 18, 22; decoded at 16, 19, 23 ms
//   c b | a    encoded at 11, 14; communicated at 19, 23; decoded at 20, 24 ms
//   c | b a    encoded at 7, 14; communicated at 13, 20; decoded at 15, 21 ms
//   c b a      encoded at 13; communicated at 22; decoded at 23 ms
TEST_CASE("OMGS takes the partition that ends first", "[merging]") {
  const Network network = toy_network();
  const auto cost = [](const Bucket& bucket) {
    return BucketCost{1 * ms, 3 * ms + 1e-3 * static_cast<double>(bucket.elements) * ms, 1 * ms};
  };
  const auto buckets = merge_omgs(network.model, network.trace, cost);
  check_partition(network.model, buckets);
  CHECK(tensors_of(buckets) == Tensors{{c}, {b, a}});
  CHECK(end_of(network.trace, buckets, cost).count() == Approx(21e-3));
}

// The same, but 5 ms to encode and 1 ms to communicate whatever the size: each bucket more delays
// the last by 5 ms. And with 0 and 0, but 5 ms to decode: each bucket more decodes once more.
TEST_CASE("OMGS merges all where each call costs what no overlap hides", "[merging]") {
  const Network network = toy_network();
  CHECK(merge_omgs(network.model, network.trace, [](const Bucket&) {
          return BucketCost{5 * ms, 1 * ms, 0 * ms};
        }).size() == 1);
  CHECK(merge_omgs(network.model, network.trace, [](const Bucket&) {
          return BucketCost{0 * ms, 0 * ms, 5 * ms};
        }).size() == 1);
}

TEST_CASE("OMGS makes the fewest buckets where none costs anything", "[merging]") {
  const Network network = toy_network();
  const auto nothing = [](const Bucket&) { return BucketCost{}; };
  CHECK(tensors_of(merge_omgs(network.model, network.trace, nothing)) == Tensors{{c, b, a}});
}

// Without backward, in seconds to encode, communicate, decode; all other buckets take 1000.
//   2 1 | 0    communicated at 1, 21; decoded at 11, 21
//   2 | 1 | 0  communicated at 4, 8, 28; decoded at 28
// After tensors 2 and 1 the first has 10 s to decode and the other nothing, but 7 s more to send.
TEST_CASE("OMGS keeps the way that leaves the network first, though it has more to decode",
          "[merging]") {
  CHECK(omgs_of_table({{{2}, {0 * s, 4 * s, 0 * s}},
                       {{1}, {0 * s, 4 * s, 0 * s}},
                       {{2, 1}, {0 * s, 1 * s, 10 * s}},
                       {{0}, {0 * s, 20 * s, 0 * s}}}) == Tensors{{2, 1}, {0}});
}

//   3 2 | 1 0    encoded at 0, 10; communicated at 5, 30; decoded at 14, 30
//   3 | 2 | 1 0  encoded at 1, 3, 13; communicated at 2, 4, 33; decoded at 33
// After tensors 3 and 2 the second leaves the network first, but the compute stream last.
TEST_CASE("OMGS keeps the way that leaves the compute stream first, though the network is busy",
          "[merging]") {
  CHECK(omgs_of_table({{{3}, {1 * s, 1 * s, 0 * s}},
                       {{2}, {2 * s, 1 * s, 0 * s}},
                       {{3, 2}, {0 * s, 5 * s, 4 * s}},
                       {{1, 0}, {10 * s, 20 * s, 0 * s}},
                       {{1}, {0 * s, 1000 * s, 0 * s}}}) == Tensors{{3, 2}, {1, 0}});
}

// Small whole seconds, so that sums are exact and many partitions end together.
TEST_CASE("OMGS is the best of all partitions, in the fewest buckets", "[merging]") {
  std::mt19937 random(7);
  for (int i = 0; i < 600; ++i) {
    CAPTURE(i);
    const Network network = random_network(random, 1 + random() % 10);
    // Of each bucket at random, or a startup and a rate; each of the three may be nothing at all.
    const bool erratic = random() % 2 == 0;
    std::array<unsigned, 3> most{};
    for (unsigned& each : most) each = static_cast<unsigned>(random() % 3 * 4);
    const bool startup = random() % 3 != 0;
    std::map<std::vector<std::size_t>, BucketCost> table;
    const CostOf cost = [&](const Bucket& bucket) {
      const auto [found, is_new] = table.try_emplace(bucket.tensors);
      if (is_new) {
        const auto some = [&](unsigned limit) {
          if (erratic) return Seconds{static_cast<double>(random() % (limit + 1))};
          return Seconds{static_cast<double>(limit) / 4 *
                         (startup + static_cast<double>(bucket.elements) / 4)};
        };
        found->second = {some(most[0]), some(most[1]), some(most[2])};
      }
      return found->second;
    };
    const auto buckets = merge_omgs(network.model, network.trace, cost);
    check_partition(network.model, buckets);
    const Best best = best_of_all(network, cost);
    CHECK(end_of(network.trace, buckets, cost) == best.end);
    CHECK(buckets.size() == best.buckets);
  }
}

TEST_CASE("OMGS is the best of all partitions at any times", "[merging]") {
  std::mt19937 random(11);
  std::lognormal_distribution<double> time(-6, 2);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    Network network = random_network(random, 1 + random() % 10);
    for (TensorTime& each : network.trace.tensors) each.backward = Seconds{time(random)};
    std::map<std::vector<std::size_t>, BucketCost> table;
    const CostOf cost = [&](const Bucket& bucket) {
      const auto [found, is_new] = table.try_emplace(bucket.tensors);
      if (is_new)
        found->second = {Seconds{time(random)}, Seconds{time(random)}, Seconds{time(random)}};
      return found->second;
    };
    const auto buckets = merge_omgs(network.model, network.trace, cost);
    check_partition(network.model, buckets);
    const double best = best_of_all(network, cost).end.count();
    CHECK(end_of(network.trace, buckets, cost).count() <= best * (1 + 1e-9));
  }
}

TEST_CASE("on the committed models OMGS ends no later than any other fusion", "[merging]") {
  for (const char* name : kCommitted) {
    CAPTURE(name);
    const Network network = committed(name);
    // Of no measured compressor: a launch and a rate each, at density 0.001 on 16 ranks.
    const CostOf sparse = [](const Bucket& bucket) {
      const auto elements = static_cast<double>(bucket.elements);
      return BucketCost{Seconds{2e-4 + 1e-9 * elements}, Seconds{1e-3 + 1.2e-10 * elements},
                        Seconds{1e-4 + 5e-11 * elements}};
    };
    for (const CostOf& cost : {sparse, dense(kEthernet)}) {
      const auto omgs = merge_omgs(network.model, network.trace, cost);
      check_partition(network.model, omgs);
      const double end = end_of(network.trace, omgs, cost).count();
      std::vector<std::vector<Bucket>> others{
          merge_mg_wfbp(network.model, network.trace, kEthernet)};
      for (const char* fusion : {"layer", "merged", "1MiB", "25MiB"})
        others.push_back(make_buckets(network.model, parse_fusion(fusion)));
      for (const auto& other : others)
        CHECK(end <= end_of(network.trace, other, cost).count() * (1 + 1e-9));
    }
  }
}

TEST_CASE("OMGS asks once for each bucket there can be", "[merging]") {
  const Network network = committed("resnet-50");
  const std::size_t count = network.model.tensors.size();
  std::size_t calls = 0;
  merge_omgs(network.model, network.trace, [&](const Bucket& bucket) {
    ++calls;
    return dense(kEthernet)(bucket);
  });
  CHECK(calls == count * (count + 1) / 2);
}

TEST_CASE("planners refuse a trace of another model and costs that are no times", "[merging]") {
  Network network = toy_network();
  for (const double time : {-1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(merge_omgs(network.model, network.trace,
                               [&](const Bucket&) {
                                 return BucketCost{Seconds{0}, Seconds{time}, Seconds{0}};
                               }),
                    std::logic_error);
  network.trace.tensors.pop_back();
  CHECK_THROWS_AS(merge_mg_wfbp(network.model, network.trace, kEthernet), DataError);
  CHECK_THROWS_AS(merge_omgs(network.model, network.trace, dense(kEthernet)), DataError);
}
