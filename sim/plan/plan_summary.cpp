#include "sim/plan/plan_summary.hpp"

#include <map>
#include <set>

#include "sim/base/text.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/network/nccl.hpp"

namespace gradcast {

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

CostFactors cost_factors_of(const Plan& plan) {
  TogetherFactors all;
  for (const PlannedBucket& bucket : plan.buckets)
    all.add(bucket.cost.factors, bucket.cost.encode + bucket.cost.decode);
  return all.factors();
}

std::string outside_of(const Plan& plan) {
  for (const PlannedBucket& bucket : plan.buckets)
    if (!bucket.cost.outside.empty()) return bucket.cost.outside;
  return {};
}

std::string collectives_of(const Plan& plan) {
  std::set<std::string> all;
  for (const PlannedBucket& bucket : plan.buckets) all.emplace(bucket.collective->name);
  for (const PlanStep& step : plan.steps)  // gathers and scatters of shards
    if (step.collective != nullptr && !step.groups.all()) all.emplace(step.collective->name);
  return join({all.begin(), all.end()}, "+");
}

double sent_bytes_per_rank(const Plan& plan, const Cluster& cluster) {
  const RankLayout layout = layout_of(cluster);
  // Blocks of a network are alike, and so is what is sent of them.
  std::map<decltype(phases_key(PlanStep{})), double> known;
  double sum = 0;
  for (const PlanStep& step : plan.steps) {
    if (step.kind != StepKind::Collective) continue;
    const auto [at, added] = known.try_emplace(phases_key(step), 0);
    if (added) {
      CollectiveLoad load = step.load;
      load.protocol.link_time = load.protocol.link_time_inside = load.protocol.stretch = 1;
      load.protocol.piece = Bytes{};  // whose way ahead of the others is no other bytes
      const Collective& alone =
          step.collective == &streams::broadcast ? streams::broadcast_in_row : *step.collective;
      at->second = static_cast<double>(bytes_in(phases_in(step.groups, alone, layout, load)).count);
    }
    sum += at->second;
  }
  return sum / plan.ranks();
}

std::int64_t messages_of(const Plan& plan, const Cluster& cluster) {
  const RankLayout layout = layout_of(cluster);
  std::int64_t messages = 0;
  for (const PlanStep& step : plan.steps)
    if (step.kind == StepKind::Collective)
      messages += messages_in(phases_in(step.groups, *step.collective, layout, step.load));
  return messages;
}

}  // namespace gradcast
