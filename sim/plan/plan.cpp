#include "sim/plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/base/text.hpp"
#include "sim/network/collective_choice.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/plan/merging.hpp"

namespace gradcast {
namespace {

Bytes dense_bytes(std::int64_t elements) { return Bytes{elements * std::int64_t{sizeof(float)}}; }

class Planner {
 public:
  explicit Planner(const Scenario& scenario)
      : scenario_(scenario), cluster_(scenario.cluster), network_(scenario.cluster) {
    for (int rank = 0; rank < cluster_.ranks(); ++rank) {
      const double its = scenario.rank_speeds.empty()
                             ? 1
                             : scenario.rank_speeds.at(static_cast<std::size_t>(rank));
      plan_.rank_speeds.push_back(its * cluster_.speed_of(rank));
    }
    plan_.network_streams = scenario.network_streams;
    plan_.coordinated = scenario.queue == Queue::Priority;
    plan_.encode_slowdown = scenario.encode_slowdown;
    plan_.communication_slowdown = cluster_.communication_slowdown;
    if (scenario.sparse() && plan_.ranks() > 1)
      costs_.emplace(scenario.costs,
                     CostChoice{.compressor = std::string(scenario.compressor->name),
                                .mode = scenario.mode,
                                .implementation = scenario.implementation});
  }

  Plan make() {
    if (cluster_.per_iteration_overhead > Seconds{0})
      compute(StepKind::Overhead, "overhead", cluster_.per_iteration_overhead);
    if (scenario_.payload.count > 0) {
      if (plan_.ranks() > 1) send_payload();
      return std::move(plan_);
    }
    const bool forward_first = scenario_.queue == Queue::Fifo;
    if (forward_first) {
      for (micro_step_ = 1; micro_step_ < scenario_.accumulation; ++micro_step_) {
        forward_all();
        backward_all();
      }
      forward_all();
    }
    micro_step_ = scenario_.accumulation;
    const std::vector<Bucket> buckets = bucketed();
    for (const Bucket& bucket : buckets) {
      for (const std::size_t tensor : bucket.tensors) backward(tensor);
      if (scenario_.overlap) begin_sending(bucket);
    }
    if (!scenario_.overlap)
      for (const Bucket& bucket : buckets) begin_sending(bucket);
    // Where something is sent before the encoding, a stream that runs in order would wait for it.
    for (std::size_t i = 0; i < plan_.buckets.size(); ++i)
      if (plan_.buckets[i].collective->before != nullptr) send(i);
    if (forward_first)
      end_with_update();
    else
      end_with_forward(buckets);
    return std::move(plan_);
  }

 private:
  using Steps = std::vector<std::size_t>;

  // ---- steps ----

  std::size_t add(PlanStep step) {
    plan_.steps.push_back(std::move(step));
    return plan_.steps.size() - 1;
  }

  std::size_t compute(StepKind kind, std::string name, Seconds duration, Steps after = {}) {
    return last_computed_ = add({kind, std::move(name), std::move(after), duration});
  }

  /// "forward a", or "forward a of micro-step 3".
  std::string pass_name(const char* pass, const TensorTime& time) const {
    const std::string of_step =
        scenario_.accumulation > 1 ? " of micro-step " + std::to_string(micro_step_) : "";
    return pass + time.tensor + of_step;
  }

  void forward(std::size_t tensor) {
    const TensorTime& time = scenario_.trace.tensors[tensor];
    compute(StepKind::Forward, pass_name("forward ", time), time.forward);
  }

  void backward(std::size_t tensor) {
    const TensorTime& time = scenario_.trace.tensors[tensor];
    compute(StepKind::Backward, pass_name("backward ", time), time.backward);
  }

  void forward_all() {
    for (std::size_t i = 0; i < scenario_.trace.tensors.size(); ++i) forward(i);
  }

  /// Of a micro-step that sends nothing, so that no bucket matters.
  void backward_all() {
    for (std::size_t i = scenario_.trace.tensors.size(); i-- > 0;) backward(i);
  }

  /// Encodes or decodes, on the stream where that is done.
  std::size_t codec(StepKind kind, std::string name, Seconds duration, Steps after) {
    if (scenario_.encode_stream == EncodeStream::Compute)
      return compute(kind, std::move(name), duration, std::move(after));
    PlanStep step{kind, std::move(name), std::move(after), duration};
    step.stream = Stream::Side;
    return add(std::move(step));
  }

  std::size_t collective(const Collective& which, std::size_t bucket, CollectiveLoad load,
                         Steps after) {
    PlanStep step{StepKind::Collective,
                  std::string(which.name) + " bucket " + std::to_string(bucket),
                  std::move(after),
                  cluster_.per_tensor_negotiation,
                  &which,
                  std::move(load)};
    step.priority = static_cast<int>(bucket);  // later buckets are nearer to the input
    return add(std::move(step));
  }

  // ---- buckets ----

  std::vector<Bucket> bucketed() const {
    if (scenario_.fusion.kind == Fusion::Kind::MgWfbp)
      return merge_mg_wfbp(scenario_.model, scenario_.trace, planner_network());
    if (scenario_.fusion.kind == Fusion::Kind::Omgs)
      return merge_omgs(scenario_.model, scenario_.trace,
                        [&](const Bucket& bucket) { return bucket_cost(bucket); });
    return make_buckets(scenario_.model, scenario_.fusion);
  }

  /// What the cluster's planner believes, else what the network costs: a collective of no bytes and
  /// one of all of them.
  PlannerNetwork planner_network() const {
    if (cluster_.planner_bandwidth.value > 0)
      return {cluster_.planner_startup, Bytes{1} / cluster_.planner_bandwidth};
    if (plan_.ranks() == 1) return {};
    const Bytes all = dense_bytes(scenario_.model.elements());
    const auto time = [&](Bytes payload) {
      const CollectiveLoad load{.payload = payload};
      return network_.time(collective_for(load, Aggregation::AllReduce), load);
    };
    const Seconds startup = time(Bytes{0}) + cluster_.per_tensor_negotiation;
    return {startup, (time(all) + cluster_.per_tensor_negotiation - startup) /
                         static_cast<double>(all.count)};
  }

  BucketCost bucket_cost(const Bucket& bucket) const {
    if (plan_.ranks() == 1) return {};
    const PlannedBucket planned = plan_bucket(bucket);
    const Collective& main = *planned.collective;
    Seconds communicate = network_.time(main, load_of(planned)) +
                          scenario_.wire_messages * cluster_.per_tensor_negotiation;
    for (const Collective* around : {main.before, main.after})
      if (around != nullptr)
        communicate += network_.time(*around, {.payload = dense_bytes(bucket.elements)}) +
                       cluster_.per_tensor_negotiation;
    return {planned.cost.encode, communicate, planned.cost.decode};
  }

  const Collective& collective_for(const CollectiveLoad& load, Aggregation aggregation) const {
    if (scenario_.collective != nullptr && scenario_.collective->serves == aggregation)
      return *scenario_.collective;
    return network_.choose(aggregation, load);
  }

  /// Ranks of a node share the encoding where the collective adds up inside the node first.
  static std::int64_t share(std::int64_t elements, const Collective& collective,
                            const RankLayout& layout) {
    return collective.before == nullptr ? elements
                                        : std::max<std::int64_t>(1, elements / layout.gpus_of(0));
  }

  CostEstimate cost_of(const Bucket& bucket, const Collective& collective) const {
    // Whose sets are added up: nobody's but the result's, or one of each rank or node.
    const int sets = collective.before != nullptr ? network_.layout().nodes()
                     : collective.sparse          ? 1
                                                  : plan_.ranks();
    if (scenario_.selection == SelectionScope::Merged)
      return costs_->of(share(bucket.elements, collective, network_.layout()), scenario_.density,
                        sets);
    std::vector<std::int64_t> tensors;
    for (const std::size_t tensor : bucket.tensors)
      tensors.push_back(
          share(scenario_.model.tensors[tensor].elements, collective, network_.layout()));
    return costs_->of_each(tensors, scenario_.density, sets);
  }

  CollectiveLoad load_of(const PlannedBucket& planned) const {
    CollectiveLoad load{.payload = planned.payload};
    load.elements = planned.elements;
    load.bytes_per_element = scenario_.wire_bytes_per_element;
    return load;
  }

  PlannedBucket plan_bucket(const Bucket& bucket) const {
    PlannedBucket planned{bucket.tensors.size(),
                          bucket.elements,
                          bucket.elements,
                          dense_bytes(bucket.elements),
                          {},
                          nullptr};
    if (!scenario_.sparse()) {
      planned.collective = &collective_for(load_of(planned), Aggregation::AllReduce);
      return planned;
    }
    planned.collective = &collective_for(load_of(planned), Aggregation::AllGather);
    planned.cost = cost_of(bucket, *planned.collective);
    planned.cost.encode =
        corrected_encode(planned.cost.encode, bucket.elements, planned.cost.calls, scenario_.codec);
    planned.cost.decode = corrected_decode(planned.cost.decode, scenario_.codec);
    planned.selected = planned.cost.selected;
    planned.payload = Bytes{planned.selected * scenario_.wire_bytes_per_element};
    return planned;
  }

  /// What one of several collectives of a bucket carries.
  CollectiveLoad part_of(std::size_t number, int part, int parts) const {
    const PlannedBucket& planned = plan_.buckets[number];
    CollectiveLoad load = load_of(planned);
    load.payload = chunk(planned.payload, part, parts);
    if (scenario_.count_spread == 0 || !scenario_.sparse() || scenario_.compressor->exact_count)
      return load;
    for (std::size_t rank = 0; rank < plan_.rank_speeds.size(); ++rank) {
      // The same draw for a bucket's values and its indices.
      const double factor = lognormal_factor(scenario_.count_spread,
                                             {scenario_.count_seed, number, Draw::Count, rank});
      const auto count = std::min(
          share(planned.elements, *planned.collective, network_.layout()),
          static_cast<std::int64_t>(std::llround(static_cast<double>(planned.selected) * factor)));
      load.contributions.push_back(
          chunk(Bytes{count * scenario_.wire_bytes_per_element}, part, parts));
    }
    load.payload = *std::max_element(load.contributions.begin(), load.contributions.end());
    return load;
  }

  /// After all that was computed so far: what comes before the encoding, else encoding and the
  /// bucket's collectives.
  void begin_sending(const Bucket& bucket) {
    if (plan_.ranks() == 1) return;
    const std::size_t number = plan_.buckets.size();
    plan_.buckets.push_back(plan_bucket(bucket));
    ready_.push_back(last_computed_);
    collectives_of_.emplace_back();
    const Collective& main = *plan_.buckets.back().collective;
    if (main.before == nullptr)
      send(number);
    else
      ready_.back() = collective(*main.before, number, {.payload = dense_bytes(bucket.elements)},
                                 {last_computed_});
  }

  void send(std::size_t number) {
    const PlannedBucket& planned = plan_.buckets[number];
    std::size_t encoded = ready_[number];
    int messages = 1;
    if (scenario_.sparse()) {
      messages = scenario_.wire_messages;
      encoded = codec(StepKind::Encode, "encode bucket " + std::to_string(number),
                      planned.cost.encode, {encoded});
    }
    for (int i = 0; i < messages; ++i)
      collectives_of_[number].push_back(
          collective(*planned.collective, number, part_of(number, i, messages), {encoded}));
  }

  /// What the update of a bucket waits for.
  Steps receive(std::size_t number) {
    const PlannedBucket& planned = plan_.buckets[number];
    if (!scenario_.sparse()) return collectives_of_[number];
    const std::size_t decoded = codec(StepKind::Decode, "decode bucket " + std::to_string(number),
                                      planned.cost.decode, collectives_of_[number]);
    if (planned.collective->after == nullptr) return {decoded};
    return {collective(*planned.collective->after, number,
                       {.payload = dense_bytes(planned.elements)}, {decoded})};
  }

  // ---- ends ----

  void end_with_update() {
    Steps received;
    for (std::size_t i = 0; i < plan_.buckets.size(); ++i) {
      const Steps of_bucket = receive(i);
      received.insert(received.end(), of_bucket.begin(), of_bucket.end());
    }
    compute(StepKind::Update, "update", scenario_.trace.update, std::move(received));
  }

  /// Buckets from the input on: each is updated when it is there, and its layers go on at once.
  /// That forward is of the next iteration's first micro-step. The others follow, up to the last
  /// one's forward, whose backward this plan began with.
  void end_with_forward(const std::vector<Bucket>& buckets) {
    const auto all = static_cast<double>(scenario_.model.elements());
    micro_step_ = 1;
    for (std::size_t i = buckets.size(); i-- > 0;) {
      Steps received = plan_.buckets.empty() ? Steps{} : receive(i);
      compute(StepKind::Update, "update bucket " + std::to_string(i),
              scenario_.trace.update * (static_cast<double>(buckets[i].elements) / all),
              std::move(received));
      for (std::size_t t = buckets[i].tensors.size(); t-- > 0;) forward(buckets[i].tensors[t]);
    }
    while (micro_step_ < scenario_.accumulation) {
      backward_all();
      ++micro_step_;
      forward_all();
    }
  }

  /// A microbenchmark: every rank comes with a buffer of its own.
  void send_payload() {
    const CollectiveLoad load{.payload = scenario_.payload};
    PlannedBucket planned{1, 0, 0, scenario_.payload, {}, nullptr};
    planned.collective = scenario_.collective != nullptr
                             ? scenario_.collective
                             : &network_.choose(scenario_.compressor->aggregation, load);
    collective(*planned.collective, 0, load, {});
    plan_.buckets.push_back(std::move(planned));
  }

  const Scenario& scenario_;
  const Cluster& cluster_;
  CollectiveChoice network_;
  std::optional<CompressorCosts> costs_;  // where anything is compressed
  Plan plan_;
  std::size_t last_computed_ = 0;      // step
  int micro_step_ = 1;                 // from 1 on
  Steps ready_;                        // by bucket: the step after which it can be encoded
  std::vector<Steps> collectives_of_;  // by bucket
};

}  // namespace

Queue parse_queue(std::string_view text) {
  if (text == "fifo") return Queue::Fifo;
  if (text == "priority") return Queue::Priority;
  throw ValueError("'" + std::string(text) + "' is not 'fifo' or 'priority'");
}

std::string to_text(Queue queue) { return queue == Queue::Fifo ? "fifo" : "priority"; }

EncodeStream parse_encode_stream(std::string_view text) {
  if (text == "compute") return EncodeStream::Compute;
  if (text == "side") return EncodeStream::Side;
  throw ValueError("'" + std::string(text) + "' is not 'compute' or 'side'");
}

std::string to_text(EncodeStream stream) {
  return stream == EncodeStream::Compute ? "compute" : "side";
}

Scenario dense_twin(Scenario scenario) {
  scenario.compressor = find_compressor("dense");
  if (scenario.collective != nullptr)  // else it is chosen by size
    scenario.collective = &default_collective(Aggregation::AllReduce);
  scenario.mode.clear();
  scenario.implementation.clear();
  return scenario;
}

Plan make_plan(const Scenario& scenario) {
  require_same_tensors(scenario.model, scenario.trace);
  const bool training = scenario.payload.count == 0;
  if (training && scenario.collective != nullptr &&
      scenario.collective->serves != scenario.compressor->aggregation)
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

std::string collectives_of(const Plan& plan) {
  std::set<std::string> all;
  for (const PlannedBucket& bucket : plan.buckets) all.emplace(bucket.collective->name);
  return join({all.begin(), all.end()}, "+");
}

std::int64_t messages_of(const Plan& plan, const Cluster& cluster) {
  const RankLayout layout = layout_of(cluster);
  std::int64_t messages = 0;
  for (const PlanStep& step : plan.steps)
    if (step.kind == StepKind::Collective)
      messages += messages_in(step.collective->phases(layout, step.load));
  return messages;
}

void require_ordered(const Plan& plan) {
  const auto refuse = [&](std::size_t step, const std::string& why) {
    throw std::logic_error("step " + std::to_string(step) + " ('" + plan.steps[step].name + "') " +
                           why);
  };
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const std::size_t before : plan.steps[i].after)
      if (before >= i)
        refuse(i, "depends on step " + std::to_string(before) + ", which does not come before it");
    const double duration = plan.steps[i].duration.count();
    if (!(duration >= 0 && duration <= kLongestSeconds))
      refuse(i, "takes " + number_to_text(duration) + " s, which is no time");
  }
  for (std::size_t rank = 0; rank < plan.rank_speeds.size(); ++rank)
    if (const double speed = plan.rank_speeds[rank]; !(speed > 0 && std::isfinite(speed)))
      throw std::logic_error("rank " + std::to_string(rank) + " computes at " +
                             number_to_text(speed) + " times its speed, which is none");
  for (const double slowdown : {plan.encode_slowdown, plan.communication_slowdown})
    if (!(slowdown >= 0 && std::isfinite(slowdown)))
      throw std::logic_error("backward is lengthened by " + number_to_text(slowdown) +
                             ", which is no share");
  if (plan.network_streams < 1)
    throw std::logic_error(std::to_string(plan.network_streams) + " network streams carry nothing");
}

}  // namespace gradcast
