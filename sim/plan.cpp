#include "sim/plan.hpp"

#include <optional>
#include <set>
#include <stdexcept>

#include "sim/text.hpp"

namespace gradcast {
namespace {

class Planner {
 public:
  explicit Planner(const Scenario& scenario) : scenario_(scenario) {
    plan_.rank_speeds.assign(static_cast<std::size_t>(scenario.cluster.ranks()), 1.0);
    if (scenario.sparse() && plan_.ranks() > 1)
      costs_.emplace(scenario.costs,
                     CostChoice{.compressor = std::string(scenario.compressor->name),
                                .mode = scenario.mode,
                                .implementation = scenario.implementation});
  }

  Plan make() {
    if (scenario_.cluster.per_iteration_overhead > Seconds{0})
      compute(StepKind::Overhead, "overhead", scenario_.cluster.per_iteration_overhead);
    const std::vector<TensorTime>& times = scenario_.trace.tensors;
    for (const TensorTime& time : times)
      compute(StepKind::Forward, "forward " + time.tensor, time.forward);
    const bool alone = plan_.ranks() == 1;
    const auto buckets = make_buckets(scenario_.model, scenario_.fusion);
    for (const Bucket& bucket : buckets) {
      for (const std::size_t tensor : bucket.tensors)
        compute(StepKind::Backward, "backward " + times[tensor].tensor, times[tensor].backward);
      if (scenario_.overlap && !alone) send(bucket);
    }
    if (!scenario_.overlap && !alone)
      for (const Bucket& bucket : buckets) send(bucket);
    for (std::size_t i = 0; i < plan_.buckets.size(); ++i) receive(i);
    // Where nothing was decoded, the update waits for the collectives themselves.
    const std::size_t update = compute(StepKind::Update, "update", scenario_.trace.update);
    for (const std::vector<std::size_t>& collectives : collectives_of_)
      plan_.steps[update].after.insert(plan_.steps[update].after.end(), collectives.begin(),
                                       collectives.end());
    return std::move(plan_);
  }

 private:
  std::size_t compute(StepKind kind, std::string name, Seconds duration,
                      std::vector<std::size_t> after = {}) {
    plan_.steps.push_back({kind, std::move(name), std::move(after), duration, nullptr, {}});
    last_computed_ = plan_.steps.size() - 1;
    return last_computed_;
  }

  CostEstimate cost_of(const Bucket& bucket) const {
    if (scenario_.selection == SelectionScope::Merged)
      return costs_->of(bucket.elements, scenario_.density, plan_.ranks());
    std::vector<std::int64_t> tensors;
    for (const std::size_t tensor : bucket.tensors)
      tensors.push_back(scenario_.model.tensors[tensor].elements);
    return costs_->of_each(tensors, scenario_.density, plan_.ranks());
  }

  /// Encodes a bucket and puts its collectives in the queue, after all that was computed so far.
  void send(const Bucket& bucket) {
    const std::string number = std::to_string(plan_.buckets.size());
    PlannedBucket planned{bucket.tensors.size(),
                          bucket.elements,
                          bucket.elements,
                          Bytes{bucket.elements * std::int64_t{sizeof(float)}},
                          {}};
    int messages = 1;
    if (scenario_.sparse()) {
      planned.cost = cost_of(bucket);
      planned.selected = planned.cost.selected;
      planned.payload = Bytes{planned.selected * scenario_.wire_bytes_per_element};
      messages = scenario_.wire_messages;
      compute(StepKind::Encode, "encode bucket " + number, planned.cost.encode);
    }
    std::vector<std::size_t> collectives;
    for (int i = 0; i < messages; ++i) {
      plan_.steps.push_back(
          {StepKind::Collective,
           std::string(scenario_.collective->name) + " bucket " + number,
           {last_computed_},  // its stream runs in order: all before it is done too
           Seconds{0},
           scenario_.collective,
           chunk(planned.payload, i, messages)});
      collectives.push_back(plan_.steps.size() - 1);
    }
    collectives_of_.push_back(std::move(collectives));
    plan_.buckets.push_back(std::move(planned));
  }

  void receive(std::size_t bucket) {
    if (scenario_.sparse())
      compute(StepKind::Decode, "decode bucket " + std::to_string(bucket),
              plan_.buckets[bucket].cost.decode, collectives_of_[bucket]);
  }

  const Scenario& scenario_;
  std::optional<CompressorCosts> costs_;  // where anything is compressed
  Plan plan_;
  std::size_t last_computed_ = 0;                         // step
  std::vector<std::vector<std::size_t>> collectives_of_;  // steps, by bucket
};

}  // namespace

Scenario dense_twin(Scenario scenario) {
  scenario.compressor = find_compressor("dense");
  scenario.collective = &default_collective(Aggregation::AllReduce);
  scenario.mode.clear();
  scenario.implementation.clear();
  return scenario;
}

Plan make_plan(const Scenario& scenario) {
  require_same_tensors(scenario.model, scenario.trace);
  if (scenario.collective->serves != scenario.compressor->aggregation)
    throw std::logic_error("the collective does not serve the compressor");
  Plan plan = Planner(scenario).make();
  require_ordered(plan);
  return plan;
}

int encode_calls(const Plan& plan) {
  int calls = 0;
  for (const PlannedBucket& bucket : plan.buckets) calls += bucket.cost.calls;
  return calls;
}

std::string evidence_of(const Plan& plan) {
  std::set<std::string> all;
  for (const PlannedBucket& bucket : plan.buckets)
    for (const std::string& each : split_words(bucket.cost.evidence, '+'))
      if (!each.empty()) all.insert(each);
  return join({all.begin(), all.end()}, "+");
}

std::string outside_of(const Plan& plan) {
  for (const PlannedBucket& bucket : plan.buckets)
    if (!bucket.cost.outside.empty()) return bucket.cost.outside;
  return {};
}

std::int64_t messages_of(const Plan& plan) {
  std::int64_t messages = 0;
  for (const PlanStep& step : plan.steps)
    if (step.kind == StepKind::Collective)
      messages += std::int64_t{step.collective->rounds(plan.ranks())} * plan.ranks();
  return messages;
}

void require_ordered(const Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (const std::size_t before : plan.steps[i].after)
      if (before >= i)
        throw std::logic_error("step " + std::to_string(i) + " ('" + plan.steps[i].name +
                               "') depends on step " + std::to_string(before) +
                               ", which does not come before it");
}

}  // namespace gradcast
