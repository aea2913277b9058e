// Collectives whose times were measured on the cluster.
#include "sim/network/measured_time.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "sim/network/collective_choice.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

constexpr NcclVersion kVersion{2, 22, 3};

CurvePoint point(int nodes, std::int64_t bytes, double seconds,
                 const char* library = "nccl-2.22.3") {
  return {"all-reduce", nodes, 1, Bytes{bytes}, library, Seconds{seconds}};
}

/// Nodes of one GPU, 1 GB/s.
Cluster described(int nodes) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.nic = {BytesPerSecond{1e9}, Seconds{5e-6}};
  cluster.intra = {BytesPerSecond{12e9}, Seconds{5.7e-6}};
  return cluster;
}

Cluster measured(int nodes, std::vector<CurvePoint> points) {
  Cluster cluster = described(nodes);
  cluster.measured = std::make_shared<const MeasuredCollectives>(
      MeasuredCollectives{"collectives-m.csv", curve_of(std::move(points)), described(nodes)});
  return cluster;
}

double time_on(const Cluster& cluster, std::int64_t bytes, NcclVersion version = kVersion) {
  return modelled(cluster, version, nullptr, Outcome::AllReduced, Bytes{bytes}).time.count();
}

}  // namespace

// 1 MB in 2 ms and 3 MB in 4 ms: 2 MB take 3 ms.
TEST_CASE("between measured sizes a collective's time is a straight line over bytes",
          "[measured_time]") {
  const Cluster cluster = measured(4, {point(4, 1'000'000, 2e-3), point(4, 3'000'000, 4e-3)});
  CHECK(time_on(cluster, 1'000'000) == Approx(2e-3));
  CHECK(time_on(cluster, 2'000'000) == Approx(3e-3));
  CHECK(time_on(cluster, 3'000'000) == Approx(4e-3));
}

TEST_CASE("beyond the measured sizes the ratio to the model holds", "[measured_time]") {
  const Cluster cluster = measured(4, {point(4, 1'000'000, 2e-3), point(4, 3'000'000, 4e-3)});
  const Cluster model = described(4);
  CHECK(time_on(cluster, 30'000'000) ==
        Approx(4e-3 * time_on(model, 30'000'000) / time_on(model, 3'000'000)).epsilon(1e-3));
  CHECK(time_on(cluster, 1000) ==
        Approx(2e-3 * time_on(model, 1000) / time_on(model, 1'000'000)).epsilon(1e-3));
}

// 4 nodes lie half way between 2 and 8 in logarithms, and half way from 2 ms to 8 ms lie 4 ms.
TEST_CASE("between numbers of nodes the time is interpolated, beyond them the ratio holds",
          "[measured_time]") {
  const std::int64_t bytes = 1'000'000;
  const auto time = [&](int nodes) {
    return time_on(measured(nodes, {point(2, bytes, 2e-3), point(8, bytes, 8e-3)}), bytes);
  };
  CHECK(time(2) == Approx(2e-3).epsilon(1e-3));
  CHECK(time(4) == Approx(4e-3).epsilon(1e-3));
  CHECK(time(8) == Approx(8e-3).epsilon(1e-3));
  CHECK(time(64) ==
        Approx(8e-3 * time_on(described(64), bytes) / time_on(described(8), bytes)).epsilon(1e-3));
}

// Eight nodes take what the model says, but for four times as long at 1 MiB, where their library
// chose badly. Of the seven sizes from 128 KiB to 8 MiB one is four times as long: 4^(1/7) in the
// mean. The smallest size has no others on its other side, and its own ratio holds.
TEST_CASE("a size that stands out on some nodes does not on others", "[measured_time]") {
  std::vector<CurvePoint> points;
  for (std::int64_t bytes = 128 << 10; bytes <= 8 << 20; bytes *= 2)
    points.push_back(point(8, bytes, (bytes == 1 << 20 ? 4 : 1) * time_on(described(8), bytes)));
  const auto ratio = [&](int nodes, std::int64_t bytes) {
    return time_on(measured(nodes, points), bytes) / time_on(described(nodes), bytes);
  };
  CHECK(ratio(8, 1 << 20) == Approx(4).epsilon(1e-3));
  CHECK(ratio(64, 1 << 20) == Approx(std::pow(4, 1. / 7)).epsilon(1e-3));
  CHECK(ratio(64, 128 << 10) == Approx(1).epsilon(1e-3));
}

// Whatever goes by a ring on 128 nodes takes three times as long as the model says, and trees take
// as long. 256 KiB go by a ring there and by a tree on 256 nodes: the trees from 32 to 128 KiB say
// what they take, and no ring: no less than the model's ring on 128. 4 MiB go by a ring on both.
TEST_CASE("a ring's measured time says nothing of a tree on more nodes", "[measured_time]") {
  const auto is_ring = [&](int nodes, std::int64_t bytes) {
    const Modelled model =
        modelled(described(nodes), kVersion, nullptr, Outcome::AllReduced, Bytes{bytes});
    return model.way.collective->name.starts_with("ring");
  };
  std::vector<CurvePoint> points;
  for (std::int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 2)
    points.push_back(
        point(128, bytes, (is_ring(128, bytes) ? 3 : 1) * time_on(described(128), bytes)));
  const auto ratio = [&](std::int64_t bytes) {
    return time_on(measured(256, points), bytes) / time_on(described(256), bytes);
  };
  REQUIRE(is_ring(128, 256 << 10));
  REQUIRE_FALSE(is_ring(256, 256 << 10));
  const double no_less = time_on(described(128), 256 << 10) / time_on(described(256), 256 << 10);
  CHECK(ratio(256 << 10) == Approx(std::max(1., no_less)).epsilon(1e-3));
  CHECK(ratio(4 << 20) == Approx(3).epsilon(1e-3));
}

// Nine and seven nodes take what this size took on eight, log2(9/8) = 0.17 and log2(8/7) = 0.19 of
// the way to what the sizes around say: 4^(1/7), or 4^(-1/7) where the size was four times as fast.
TEST_CASE("a node more or less than a log has is no cliff", "[measured_time]") {
  const std::int64_t mebibyte = 1 << 20;
  for (const double factor : {4., .25}) {
    CAPTURE(factor);
    std::vector<CurvePoint> points;
    for (std::int64_t bytes = 128 << 10; bytes <= 8 << 20; bytes *= 2)
      points.push_back(
          point(8, bytes, (bytes == mebibyte ? factor : 1) * time_on(described(8), bytes)));
    const auto expected = [&](int nodes) {
      const double there = time_on(described(nodes), mebibyte);
      const double on_eight = time_on(described(8), mebibyte);
      const double way = std::abs(std::log2(nodes / 8.));
      return std::pow(factor, 1 - 6. / 7 * way) *
             (nodes > 8 ? std::max(there, on_eight) : std::min(there, on_eight));
    };
    for (const int nodes : {7, 9, 12})
      CHECK(time_on(measured(nodes, points), mebibyte) == Approx(expected(nodes)).epsilon(1e-3));
  }
}

// 1 ms on 2 nodes and 1.2 on 16: in between the model goes from algorithm to algorithm, and its
// ratio with it. The time rises all the same, and nowhere jumps.
TEST_CASE("a time between numbers of nodes rises from one to the other", "[measured_time]") {
  for (const std::int64_t bytes : {4'000, 64'000, 1'000'000, 16'000'000}) {
    double before = 0.9999e-3;
    for (int nodes = 3; nodes < 16; ++nodes) {
      const Cluster cluster = measured(nodes, {point(2, bytes, 1e-3), point(16, bytes, 1.2e-3)});
      CAPTURE(bytes, nodes);
      const double time = time_on(cluster, bytes);
      CHECK(time > before);
      CHECK(time <= 1.2001e-3);
      before = time;
    }
  }
}

TEST_CASE("a changed network changes a measured time by as much as the model says",
          "[measured_time]") {
  const std::int64_t bytes = 100'000'000;
  Cluster twice = measured(4, {point(4, bytes, 0.3)});
  twice.nic.bandwidth.value *= 2;
  Cluster model = described(4);
  const double before = time_on(model, bytes);
  model.nic.bandwidth.value *= 2;
  CHECK(time_on(twice, bytes) == Approx(0.3 * time_on(model, bytes) / before).epsilon(1e-3));
}

TEST_CASE("software that acts on collectives is in measured times already", "[measured_time]") {
  Cluster cluster = measured(4, {point(4, 1'000'000, 2e-3)});
  cluster.nic_share = 0.5;
  cluster.per_collective_latency = Seconds{1e-3};
  CHECK(time_on(cluster, 1'000'000) == Approx(2e-3).epsilon(1e-3));
}

TEST_CASE("times of the same version of NCCL count first, then an unknown one's, then the nearest",
          "[measured_time]") {
  const Cluster cluster =
      measured(4, {point(4, 1'000'000, 2e-3), point(4, 1'000'000, 3e-3, "nccl-2.27.5"),
                   point(4, 1'000'000, 9e-3, "mpi")});
  CHECK(time_on(cluster, 1'000'000) == Approx(2e-3));
  CHECK(time_on(cluster, 1'000'000, {2, 27, 5}) == Approx(3e-3));
  CHECK(time_on(cluster, 1'000'000, {2, 25, 1}) == Approx(2e-3));  // the nearest older one
  const Cluster unknown =
      measured(4, {point(4, 1'000'000, 2e-3), point(4, 1'000'000, 4e-3, "nccl")});
  CHECK(time_on(unknown, 1'000'000, {2, 27, 5}) == Approx(4e-3));
  // MPI's times say nothing of NCCL's.
  const Cluster mpi = measured(4, {point(4, 1'000'000, 9e-3, "mpi")});
  CHECK(time_on(mpi, 1'000'000) == Approx(time_on(described(4), 1'000'000)));
}

TEST_CASE("what was not measured stays with the model, and words say so", "[measured_time]") {
  const Cluster cluster = measured(4, {point(2, 1'000'000, 2e-3), point(8, 1'000'000, 3e-3)});
  const MeasuredTimes times(cluster, kVersion, nullptr);
  const auto words = [&](int nodes, int gpus, Outcome outcome = Outcome::AllReduced,
                         std::int64_t payload = 0) {
    return times.words(even_layout(nodes, gpus), outcome, Bytes{payload});
  };
  CHECK(words(2, 1) == "all-reduce as measured");
  CHECK(words(4, 1) == "all-reduce between those measured on 2 and 8 nodes");
  CHECK(words(64, 1) == "all-reduce by the model, scaled by times measured on 8 nodes");
  CHECK_THAT(words(2, 1, Outcome::AllReduced, 4'000'000), Contains("outside of that"));
  for (const std::string& none : {words(2, 4), words(2, 1, Outcome::AllGathered)})
    CHECK_THAT(none, Contains("measured on such nodes, so by the model"));
  CHECK(times.stretch(even_layout(2, 4), Outcome::AllReduced, Bytes{1'000'000}) == 1);
  CHECK(times.stretch(even_layout(2, 1), Outcome::AllGathered, Bytes{1'000'000}) == 1);
  // Another library's times are named, and those of another version.
  const Cluster mpi = measured(2, {point(2, 1'000'000, 2e-3, "mpi")});
  CHECK(MeasuredTimes(mpi, kVersion, nullptr)
            .words(even_layout(2, 1), Outcome::AllReduced, Bytes{1'000'000}) ==
        "no all-reduce by NCCL measured on such nodes (by mpi there is), so by the model");
  const MeasuredTimes newer(cluster, NcclVersion{2, 27, 5}, nullptr);
  CHECK(newer.words(even_layout(2, 1), Outcome::AllReduced, Bytes{1'000'000}) ==
        "all-reduce as measured by NCCL 2.22.3");
  CHECK(newer.words(even_layout(4, 1), Outcome::AllReduced, Bytes{1'000'000}) ==
        "all-reduce between those measured by NCCL 2.22.3 on 2 and 8 nodes");
  // A measurement inside one node says nothing of several.
  const Cluster inside = measured(4, {{"all-reduce", 1, 1, Bytes{8}, "nccl", Seconds{1e-3}}});
  CHECK(time_on(inside, 1'000'000) == Approx(time_on(described(4), 1'000'000)));
}

// Two nodes send half of the buffer at a time: from 32 KiB on, messages of 16 KiB and more ask the
// receiver first. Stretched to half of the model's time they are still such messages.
TEST_CASE("a measured point answers itself, whether its messages ask first or not",
          "[measured_time]") {
  for (const double share : {.4, .5, 2.}) {
    std::vector<CurvePoint> points;
    Cluster asks = described(2);
    asks.eager_limit = Bytes{16 << 10};
    for (std::int64_t bytes = 8 << 10; bytes <= 1 << 20; bytes *= 2)
      points.push_back(point(2, bytes, share * time_on(asks, bytes)));
    Cluster cluster = asks;
    cluster.measured = std::make_shared<const MeasuredCollectives>(
        MeasuredCollectives{"collectives-m.csv", curve_of(points), asks});
    for (const CurvePoint& each : points)
      CHECK(time_on(cluster, each.bytes.count) == Approx(each.seconds.count()).epsilon(1e-3));
  }
}

// The model takes 8 nodes to be faster than 4 where it sees another algorithm there.
TEST_CASE("more nodes than were measured take no less time", "[measured_time]") {
  for (const std::int64_t bytes : {4'000, 64'000, 1'000'000, 16'000'000}) {
    const double there = time_on(measured(4, {point(4, bytes, 1e-3)}), bytes);
    for (const int nodes : {5, 6, 8, 16, 64})
      CHECK(time_on(measured(nodes, {point(4, bytes, 1e-3)}), bytes) >= .999 * there);
    for (const int nodes : {2, 3})
      CHECK(time_on(measured(nodes, {point(4, bytes, 1e-3)}), bytes) <= 1.001 * there);
  }
}

// 1 ms and 1 GB/s: 2, 3, 5, 9 and 17 ms for 1, 2, 4, 8 and 16 MB.
TEST_CASE("a smooth line is sure to 2 %, and each doubling away from what was measured adds 8 %",
          "[measured_time]") {
  const auto deviation_on = [](Cluster cluster, double megabytes) {
    return CollectiveChoice(cluster, kVersion, nullptr)
        .measured_deviation(Outcome::AllReduced, Bytes{std::llround(1e6 * megabytes)});
  };
  const auto line = [](double fourth) {
    return std::vector{point(4, 1'000'000, 2e-3), point(4, 2'000'000, 3e-3),
                       point(4, 4'000'000, 5e-3), point(4, 8'000'000, fourth),
                       point(4, 16'000'000, 17e-3)};
  };
  const Cluster cluster = measured(4, line(9e-3));
  CHECK(deviation_on(cluster, 3).value() == Approx(0.02));
  CHECK(deviation_on(measured(16, line(9e-3)), 3).value() ==
        Approx(std::hypot(0.02, 2 * 0.08)));  // 4 -> 8 -> 16 nodes
  // 8 MB in 18 ms. Its neighbours say 9 ms, and beside it 4 MB look like 8 ms where they took 5.
  CHECK(deviation_on(measured(4, line(18e-3)), 3).value() ==
        Approx(std::sqrt((std::pow(std::log(2), 2) + std::pow(std::log(5.0 / 8), 2)) / 3)));
  // A node more is log2(5/4) = 0.32 of the way to the mean of three sizes.
  const double rough = deviation_on(measured(4, line(18e-3)), 3).value();
  CHECK(deviation_on(measured(5, line(18e-3)), 3).value() ==
        Approx(std::hypot(rough * std::pow(3, -.5 * std::log2(1.25)), .08 * std::log2(1.25))));
  CHECK(deviation_on(measured(8, line(18e-3)), 3).value() ==
        Approx(std::hypot(rough / std::sqrt(3), .08)));
  // Several times of 2 MB that differ by 30 % say more than the smooth line.
  std::vector<CurvePoint> repeated = line(9e-3);
  repeated[1].deviation = 0.3;
  CHECK(deviation_on(measured(4, repeated), 3).value() == Approx(0.3));
  CHECK(deviation_on(measured(4, repeated), 12).value() == Approx(0.02));
  CHECK(deviation_on(cluster, 1).value() == Approx(0.02));  // its ends are of the line
  CHECK(deviation_on(cluster, 16).value() == Approx(0.02));
  // A doubling beyond the largest size, and two below the smallest, add as much as one of the
  // nodes.
  CHECK(deviation_on(cluster, 32).value() == Approx(std::hypot(0.02, 0.08)));
  CHECK(deviation_on(cluster, .25).value() == Approx(std::hypot(0.02, 0.16)));
  CHECK_FALSE(deviation_on(measured(4, {point(4, 1'000'000, 2e-3), point(4, 4'000'000, 5e-3)}), 2));
  Cluster faster = cluster;
  faster.nic.bandwidth.value *= 2;
  CHECK_FALSE(deviation_on(faster, 3));
}
