// OMGS: on the toy by hand, and against all partitions there are, tried one by one.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/sim/plan/partitions.hpp"

using namespace gradcast;
using namespace gradcast::merging;

namespace {

/// OMGS's buckets for a network without backward; buckets that are not in the table take long.
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
    // The costs of each bucket are random, or a startup and a rate. Each of the three may be 0.
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
    // No compressor was measured so: a launch and a rate each, at density 0.001 on 16 ranks.
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

TEST_CASE("OMGS refuses a trace of another model and costs that are no times", "[merging]") {
  Network network = toy_network();
  for (const double time : {-1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(merge_omgs(network.model, network.trace,
                               [&](const Bucket&) {
                                 return BucketCost{Seconds{0}, Seconds{time}, Seconds{0}};
                               }),
                    std::logic_error);
  network.trace.tensors.pop_back();
  CHECK_THROWS_AS(merge_omgs(network.model, network.trace, dense(kEthernet)), DataError);
}
