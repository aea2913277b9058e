// The cost of a bucket: the collective that carries it, its payload, and the times of encode,
// decode, update and negotiation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_choice.hpp"
#include "sim/plan/merging.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

/// The cost table's answers for the compressor of one run, by bucket. Plans of the same run may
/// share them while neither its model nor its compressor, density, sent share, layout or cost table
/// changes. Rates, software times and corrections may change.
class KnownCosts {
 public:
  /// Throws as CompressorCosts does.
  explicit KnownCosts(const Scenario& scenario);

 private:
  friend class BucketCosts;
  CompressorCosts table_;
  std::map<std::pair<std::vector<std::size_t>, const Collective*>, CostEstimate> of_buckets_;
};

class BucketCosts {
 public:
  /// The scenario must outlive it, and so must `known`.
  explicit BucketCosts(const Scenario& scenario, KnownCosts* known = nullptr);

  PlannedBucket plan_bucket(const Bucket& bucket) const;
  /// The one bucket of a microbenchmark: every rank comes with a buffer of its own.
  PlannedBucket plan_payload() const;

  /// The load of one of several collectives of a bucket.
  CollectiveLoad part_of(const PlannedBucket& planned, std::size_t number, int part,
                         int parts) const;
  /// Software time of a collective in series with the wire: agreeing on its tensor, and the way of
  /// gathered bytes through the host's memory.
  Seconds software_time(const Collective& collective, const CollectiveLoad& load,
                        const RankGroups& groups) const;
  /// The bucket's share of the whole update.
  Seconds update_of(const Bucket& bucket) const;

  /// The all-gather that gives every rank of a group the parameters of these tensors, of which each
  /// has a shard.
  DenseCollective parameter_gather(const std::vector<std::size_t>& tensors) const;
  /// The broadcast that gives every rank of a group the parameters that one of them has updated.
  DenseCollective parameter_broadcast(std::size_t tensor, int owner) const;
  /// The broadcast from rank 0 to all ranks of the model's buffers of a type.
  DenseCollective buffer_broadcast(Bytes buffers) const;
  /// The all-reduce that tells which parameters any rank used: an int32 each.
  DenseCollective used_parameters() const;

  // Costs that merging planners ask for.
  PlannerNetwork planner_network() const;
  BucketCost whole_cost(const Bucket& bucket) const;

 private:
  CollectiveUse collective_for(const CollectiveLoad& load, Aggregation aggregation) const;
  DenseCollective dense(const CollectiveUse& use, CollectiveLoad load,
                        const RankGroups& groups) const;
  void carry(PlannedBucket& planned, Aggregation aggregation) const;
  PlannedBucket plan_scatter(PlannedBucket planned, const Bucket& bucket) const;
  CodecCorrection beside_kernels() const;
  int sharers(const Collective& collective) const;
  std::int64_t share(std::int64_t elements, const Collective& collective) const;
  int sets_of(const Collective& collective) const;
  CostEstimate codec_cost(const Bucket& bucket, const Collective& collective) const;
  CostEstimate table_cost(const Bucket& bucket, const Collective& collective) const;
  CollectiveLoad load_of(const PlannedBucket& planned) const;
  std::vector<std::int64_t> encoded_tensors(const Bucket& bucket,
                                            const Collective& collective) const;
  void send_described(PlannedBucket& planned, const Bucket& bucket) const;
  void send_pairs(PlannedBucket& planned) const;
  void send_codes(PlannedBucket& planned, const Bucket& bucket) const;
  void all_reduce_first(PlannedBucket& planned, Bytes bytes) const;
  void send_factors(PlannedBucket& planned, const Bucket& bucket) const;

  const Scenario& scenario_;
  const Cluster& cluster_;
  CollectiveChoice network_;
  int shards_ = 1;       // ranks that share a copy
  RankGroups groups_{};  // that run a bucket's own collective
  std::unique_ptr<KnownCosts> own_;
  KnownCosts* known_ = nullptr;  // where anything is compressed
};

}  // namespace gradcast
