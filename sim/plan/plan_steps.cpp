#include "sim/plan/plan_steps.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/base/statistics.hpp"
#include "sim/plan/parameter_owners.hpp"

namespace gradcast {
namespace {

/// DDP's copies of a gradient: one into its bucket and one out of it, each a kernel that reads and
/// writes it. A view needs the first alone; together, a bucket takes two kernels for all tensors.
/// (reducer.cpp of PyTorch 2.13: mark_variable_ready_dense, copy_bucket_to_grad)
struct Copies {
  double kernels;  // of a tensor, over both
  int passes;      // of its bytes through the GPU's memory
};

Copies copies_of(GradientCopies copies) {
  switch (copies) {
    case GradientCopies::Each:
      return {1, 4};
    case GradientCopies::View:
      return {0.5, 2};
    case GradientCopies::Batched:
      return {0, 4};
  }
  throw std::logic_error("unknown copies of gradients");
}

}  // namespace

PlanSteps::PlanSteps(const Scenario& scenario, const PlanShortcuts& shortcuts)
    : costs(scenario, shortcuts.costs),
      scenario_(scenario),
      launches_(scenario.trace->has_launches()),
      coarse_(shortcuts.coarse && scenario.fusion.kind != Fusion::Kind::Cycle && !launches_) {
  const Cluster& cluster = scenario.cluster;
  const double slowest = 1 + cluster.rank_spread * expected_maximum(cluster.ranks());
  for (int rank = 0; rank < cluster.ranks(); ++rank) {
    const double its =
        scenario.rank_speeds.empty() ? 1 : scenario.rank_speeds.at(static_cast<std::size_t>(rank));
    plan.rank_speeds.push_back(its * cluster.speed_of(rank) / slowest);
  }
  // Without overlap collectives follow one another, but in a pipeline.
  if (scenario.overlap || scenario.pipeline) plan.network_streams = scenario.network_streams;
  plan.coordinated = scenario.queue == Queue::Priority;
  plan.encode_slowdown = scenario.encode_slowdown;
  plan.communication_slowdown = cluster.communication_slowdown;
  plan.computing_slowdown = cluster.computing_slowdown;
  if (cluster.per_iteration_overhead > Seconds{0})
    compute(StepKind::Overhead, "overhead", cluster.per_iteration_overhead);
}

std::size_t PlanSteps::add(PlanStep step) {
  plan.steps.push_back(std::move(step));
  return plan.steps.size() - 1;
}

std::size_t PlanSteps::compute(StepKind kind, std::string name, Seconds duration, Steps after) {
  return last_computed = add({kind, std::move(name), std::move(after), duration});
}

void PlanSteps::launch(std::size_t step, Seconds date, bool before_backward) {
  if (!launches_) return;
  const IterationTrace& trace = scenario_.trace;
  date += trace.launch_of_micro_step(micro_step);
  if (scenario_.queue == Queue::Priority) {
    date -= trace.launch_of_micro_step(scenario_.accumulation);
    date -= trace.tensors.back().backward_launch;
    if (before_backward) date += trace.host;
  }
  plan.steps[step].launch = std::max(Seconds{0}, date);
}

/// "forward a", or "forward a of micro-step 3".
std::string PlanSteps::pass_name(const char* pass, const TensorTime& time) const {
  const std::string of_step =
      scenario_.accumulation > 1 ? " of micro-step " + std::to_string(micro_step) : "";
  return pass + time.tensor + of_step;
}

std::string PlanSteps::bucket_name(std::string_view what, std::size_t bucket) const {
  if (coarse_) return {};
  return std::string(what) + " bucket " + std::to_string(bucket);
}

void PlanSteps::forward(std::size_t tensor, Steps after) {
  const TensorTime& time = scenario_.trace->tensors[tensor];
  launch(compute(StepKind::Forward, pass_name("forward ", time), time.forward, std::move(after)),
         time.forward_launch, true);
}

Seconds PlanSteps::backward_time(std::size_t tensor, Gradient gradient) const {
  const Seconds alone = scenario_.trace->tensors[tensor].backward;
  const bool handled = gradient == Gradient::Exchanged && !scenario_.framework_in_compute &&
                       !scenario_.model->tensors[tensor].frozen;
  if (!handled) return alone;
  if (scenario_.gradient_copies == GradientCopies::Batched) return alone;  // copy_bucket
  const Seconds kernels = launching() * copies_of(scenario_.gradient_copies).kernels;
  return alone + std::max(kernels, copying(scenario_.model->tensors[tensor].sum_bytes()));
}

/// The host's time for a gradient tensor. Engines divide a rank's steps by its GPU's speed, and a
/// faster GPU has no faster host.
Seconds PlanSteps::launching() const {
  return scenario_.cluster.per_tensor_overhead * scenario_.cluster.compute_speed;
}

/// The bytes' time of copies into DDP's buckets and out of them. With any other fusion, gradients
/// may lie in the buffers that are sent.
Seconds PlanSteps::copying(Bytes gradients) const {
  if (scenario_.cluster.per_tensor_overhead <= Seconds{0} || scenario_.gpu_memory.value <= 0 ||
      scenario_.fusion.kind != Fusion::Kind::Ddp)
    return Seconds{0};
  return copies_of(scenario_.gradient_copies).passes * (gradients / scenario_.gpu_memory);
}

void PlanSteps::copy_bucket(std::size_t number, const Bucket& bucket) {
  const Seconds kernels = launching();
  if (scenario_.gradient_copies != GradientCopies::Batched || scenario_.framework_in_compute ||
      kernels <= Seconds{0})
    return;
  compute(StepKind::Backward, bucket_name("backward copies of", number),
          std::max(kernels, copying(bucket.bytes)));
}

void PlanSteps::broadcast_buffers() {
  if (!scenario_.broadcast_buffers || plan.ranks() == 1) return;
  const Steps begin = plan.steps.empty() ? Steps{} : computed();
  Steps sent;
  for (const Bytes buffers : scenario_.model->buffers()) {
    const DenseCollective its = costs.buffer_broadcast(buffers);
    sent.push_back(collective(its, 0, begin));
    if (!coarse_) plan.steps[sent.back()].name = std::string(its.collective->name) + " buffers";
  }
  if (!sent.empty()) compute(StepKind::Overhead, "buffers broadcast", Seconds{0}, std::move(sent));
}

PlanSteps::Steps PlanSteps::exchange_used_parameters(std::size_t last_bucket, Steps after) {
  if (!scenario_.fusion.finds_unused || plan.ranks() == 1) return {};
  const DenseCollective its = costs.used_parameters();
  const std::size_t step = collective(its, last_bucket, std::move(after));
  if (!coarse_) plan.steps[step].name = std::string(its.collective->name) + " used parameters";
  return {step};
}

void PlanSteps::backward(std::size_t tensor, Gradient gradient, Steps after) {
  const TensorTime& time = scenario_.trace->tensors[tensor];
  launch(compute(StepKind::Backward, pass_name("backward ", time), backward_time(tensor, gradient),
                 std::move(after)),
         time.backward_launch, false);
}

void PlanSteps::forward_all() {
  if (coarse_) {
    compute(StepKind::Forward, {}, scenario_.trace->forward());
    return;
  }
  for (std::size_t i = 0; i < scenario_.trace->tensors.size(); ++i) forward(i);
}

void PlanSteps::backward_all() {
  if (coarse_) {
    compute(StepKind::Backward, {}, scenario_.trace->backward());
    return;
  }
  for (std::size_t i = scenario_.trace->tensors.size(); i-- > 0;) backward(i, Gradient::Kept);
}

void PlanSteps::update(double share, Steps after) {
  launch(compute(StepKind::Update, "update", scenario_.trace->update * share, std::move(after)),
         scenario_.trace->update_launch, true);
}

void PlanSteps::update_and_broadcast(Steps after) {
  const Model& model = scenario_.model;
  const ParameterOwners owners = parameter_owners(model, scenario_.shards());
  update(largest_update(model, owners), std::move(after));
  const Steps updated = computed();
  for (std::size_t owner = 0; owner < owners.size(); ++owner)
    for (const std::size_t tensor : owners[owner]) {
      const DenseCollective its = costs.parameter_broadcast(tensor, static_cast<int>(owner));
      const std::size_t step = collective(its, tensor, updated);
      if (!coarse_)
        plan.steps[step].name =
            std::string(its.collective->name) + " " + model.tensors[tensor].tensor;
    }
}

void PlanSteps::next_launch() {
  if (launches_)
    launch(compute(StepKind::Overhead, "next launch", Seconds{0}), scenario_.trace->host, true);
}

std::size_t PlanSteps::codec(StepKind kind, std::string name, Seconds duration, Steps after) {
  if (scenario_.encode_stream == EncodeStream::Compute)
    return compute(kind, std::move(name), duration, std::move(after));
  PlanStep step{kind, std::move(name), std::move(after), duration};
  step.stream = Stream::Side;
  return add(std::move(step));
}

std::size_t PlanSteps::collective(const Collective& which, std::size_t bucket, CollectiveLoad load,
                                  const RankGroups& groups, Steps after) {
  PlanStep step{StepKind::Collective,
                bucket_name(which.name, bucket),
                std::move(after),
                costs.software_time(which, load, groups),
                &which,
                std::move(load)};
  step.groups = groups;
  // Neighbours share a copy; replicas of a shard are further apart.
  step.communicator = groups.stride > 1 ? kReplicas : kShards;
  if (which.outcome == Outcome::Broadcast && plan.network_streams > 1)
    step.communicator = Plan::kOneAtATime;
  step.priority = static_cast<int>(bucket);  // later buckets are nearer to the input
  return add(std::move(step));
}

std::size_t PlanSteps::collective(const DenseCollective& which, std::size_t bucket, Steps after) {
  return collective(*which.collective, bucket, which.load, which.groups, std::move(after));
}

PlanSteps::Steps PlanSteps::exchange(std::size_t bucket, const Steps& after) {
  const PlannedBucket& planned = plan.buckets[bucket];
  const bool has_parts = scenario_.sparse() || planned.scales.count > 0;
  const int messages = has_parts ? scenario_.wire_messages : 1;
  Steps collectives;
  for (int i = 0; i < messages; ++i)
    collectives.push_back(collective(*planned.collective, bucket,
                                     costs.part_of(planned, bucket, i, messages), planned.groups,
                                     after));
  return collectives;
}

}  // namespace gradcast
