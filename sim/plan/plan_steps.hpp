// The steps of a plan under way: what planners of every kind append.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/bucket_costs.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {

/// Use of a gradient after its backward: a micro-step may add it up and exchange nothing.
enum class Gradient { Kept, Exchanged };

class PlanSteps {
 public:
  using Steps = std::vector<std::size_t>;

  /// The communicators: shards gather and scatter in the first, replicas exchange in the second.
  /// Without sharding there is one, beside Plan::kOneAtATime.
  static constexpr int kShards = 0;
  static constexpr int kReplicas = 1;

  /// The scenario must outlive it.
  PlanSteps(const Scenario& scenario, const PlanShortcuts& shortcuts);

  Plan plan;
  BucketCosts costs;
  int micro_step = 1;             // from 1 on
  std::size_t last_computed = 0;  // step

  bool launches() const { return launches_; }
  bool coarse() const { return coarse_; }
  /// The step after which all is computed so far; nothing before the first step.
  Steps computed() const { return plan.steps.empty() ? Steps{} : Steps{last_computed}; }

  std::size_t add(PlanStep step);
  std::size_t compute(StepKind kind, std::string name, Seconds duration, Steps after = {});
  /// Sets the date of a step's launch by the host. Dates of the trace begin with forward; dates of
  /// a plan that begins with backward begin there.
  void launch(std::size_t step, Seconds date, bool before_backward);

  /// One tensor's.
  void forward(std::size_t tensor, Steps after = {});
  void backward(std::size_t tensor, Gradient gradient, Steps after = {});
  /// Time of the backward of one tensor, with the framework's work on a gradient that it exchanges.
  Seconds backward_time(std::size_t tensor, Gradient gradient) const;
  /// The framework's work on all gradients of a bucket together, where it has any.
  void copy_bucket(std::size_t number, const Bucket& bucket);
  /// Rank 0 gives all others the model's buffers, those of a type together, and what is computed
  /// next waits for them. Nothing where nobody does that.
  void broadcast_buffers();
  /// Ranks tell each other which parameters they used, where DDP looks for unused ones.
  Steps exchange_used_parameters(std::size_t last_bucket, Steps after);
  /// Forward or backward of all tensors, in an iteration or a micro-step in which nothing waits for
  /// any of them: backward exchanges nothing.
  void forward_all();
  void backward_all();
  /// The update of a share of the parameters.
  void update(double share, Steps after);
  /// A rank updates the parameters that it owns, and all of them are broadcast, rank after rank.
  void update_and_broadcast(Steps after);
  /// The next iteration's first kernel ends this one, where the trace has launches.
  void next_launch();

  /// Encodes or decodes, on the stream where that is done.
  std::size_t codec(StepKind kind, std::string name, Seconds duration, Steps after);
  /// "encode bucket 3"
  std::string bucket_name(std::string_view what, std::size_t bucket) const;
  std::size_t collective(const Collective& which, std::size_t bucket, CollectiveLoad load,
                         const RankGroups& groups, Steps after);
  std::size_t collective(const DenseCollective& which, std::size_t bucket, Steps after);
  /// The bucket's own collectives: one, or one of values and one of indices.
  Steps exchange(std::size_t bucket, const Steps& after);

 private:
  std::string pass_name(const char* pass, const TensorTime& time) const;
  Seconds launching() const;
  Seconds copying(Bytes gradients) const;

  const Scenario& scenario_;
  bool launches_ = false;  // the trace says when the host launches what
  bool coarse_ = false;
};

}  // namespace gradcast
