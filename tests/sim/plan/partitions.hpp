// Models to merge, and the partitions of their tensors with their ends.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sim/inputs/data_files.hpp"
#include "sim/plan/merging.hpp"
#include "tests/sim/plan/toy.hpp"

namespace gradcast::merging {

using Tensors = std::vector<std::vector<std::size_t>>;

inline constexpr std::size_t a = 0, b = 1, c = 2;  // the toy's tensors
inline constexpr Seconds s{1};
inline constexpr Seconds ms{1e-3};

inline Tensors tensors_of(const std::vector<Bucket>& buckets) {
  Tensors all;
  for (const Bucket& bucket : buckets) all.push_back(bucket.tensors);
  return all;
}

struct Network {  // a model and its trace, made up or committed
  Model model;
  IterationTrace trace;
};

inline Network toy_network() {
  const Scenario scenario = toy::scenario();
  return {scenario.model, scenario.trace};
}

inline Network committed(const std::string& name) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return {load_model(files.read(kModels, name)),
          load_iteration_trace(files.read(kIterationTraces, "iteration-" + name + "-v100"))};
}

inline const char* const kCommitted[] = {"alexnet", "vgg-16", "resnet-50", "inception-v4"};

// All-reduce of 16 V100 over 10 Gbit/s Ethernet, as MG-WFBP's authors fitted it.
inline constexpr PlannerNetwork kEthernet{Seconds{9.08e-4}, Seconds{7.40e-10}};

inline Network random_network(std::mt19937& random, std::size_t tensors) {
  Network network;
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::string name = "t" + std::to_string(i);
    network.model.tensors.push_back({name, name, 1 + static_cast<std::int64_t>(random() % 9), 0});
    // Only one of a layer's tensors carries its time.
    const auto backward = static_cast<double>(random() % 3 == 0 ? 0 : random() % 8);
    network.trace.tensors.push_back({name, Seconds{1}, Seconds{backward}});
  }
  return network;
}

/// Every tensor once and in backward order, and as many elements as its bucket says.
inline void check_partition(const Model& model, const std::vector<Bucket>& buckets) {
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

using CostOf = std::function<BucketCost(const Bucket&)>;

inline CostOf dense(const PlannerNetwork& network) {
  return [=](const Bucket& bucket) {
    const auto bytes = static_cast<double>(4 * bucket.elements);
    return BucketCost{Seconds{0}, network.startup + bytes * network.per_byte, Seconds{0}};
  };
}

/// The end of the last decode, stream by stream.
inline Seconds end_of(const IterationTrace& trace, const std::vector<Bucket>& buckets,
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

}  // namespace gradcast::merging
