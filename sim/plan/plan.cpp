#include "sim/plan/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/fsdp.hpp"
#include "sim/plan/merging.hpp"
#include "sim/plan/plan_check.hpp"
#include "sim/plan/plan_steps.hpp"

namespace gradcast {
namespace {

using Steps = PlanSteps::Steps;

/// Every rank has all parameters: nothing is sharded, or what the update needs (ZeRO-1, ZeRO-2).
class ReplicatedPlanner {
 public:
  ReplicatedPlanner(const Scenario& scenario, const PlanShortcuts& shortcuts)
      : scenario_(scenario),
        steps_(scenario, shortcuts),
        in_series_(!scenario.overlap && !scenario.pipeline) {}

  Plan make() {
    const bool forward_first = scenario_.queue == Queue::Fifo;
    const bool every = scenario_.synchronises_every();
    Steps synchronised;
    if (forward_first) {
      for (steps_.micro_step = 1; steps_.micro_step < scenario_.accumulation; ++steps_.micro_step) {
        forward_all(std::exchange(synchronised, {}), every);
        if (every) {
          send_all(bucketed());
          synchronised = receive_all();
        } else {
          steps_.backward_all();
        }
      }
      forward_all(std::move(synchronised), every);
    }
    steps_.micro_step = scenario_.accumulation;
    plan_.clock = plan_.steps.size();  // the backward that comes next
    const std::vector<Bucket> buckets = bucketed();
    send_all(buckets);
    if (forward_first)
      end_with_update(buckets);
    else
      end_with_forward(buckets);
    return std::move(plan_);
  }

 private:
  // ---- computing ----

  /// DDP broadcasts buffers before a forward that follows a backward which exchanged gradients.
  void forward_all(Steps after, bool every) {
    if (!after.empty())
      steps_.compute(StepKind::Overhead, "gradients synchronised", Seconds{0}, std::move(after));
    if (every || steps_.micro_step == 1) steps_.broadcast_buffers();
    steps_.forward_all();
  }

  /// All tensors that backward reaches up to this one; the frozen ones among them are in no bucket.
  void backward_to(std::size_t tensor) {
    if (!steps_.coarse()) {
      while (backward_at_ > tensor) steps_.backward(--backward_at_, Gradient::Exchanged);
      return;
    }
    Seconds sum{0};
    while (backward_at_ > tensor) sum += steps_.backward_time(--backward_at_, Gradient::Exchanged);
    steps_.compute(StepKind::Backward, {}, sum);
  }

  void forward_past(std::size_t tensor) {
    if (!steps_.coarse()) {
      while (forward_at_ <= tensor) steps_.forward(forward_at_++);
      return;
    }
    Seconds sum{0};
    while (forward_at_ <= tensor) sum += scenario_.trace->tensors[forward_at_++].forward;
    steps_.compute(StepKind::Forward, {}, sum);
  }

  // ---- buckets ----

  std::vector<Bucket> bucketed() const {
    if (scenario_.fusion.kind == Fusion::Kind::MgWfbp)
      return merge_mg_wfbp(scenario_.model, scenario_.trace, steps_.costs.planner_network());
    if (scenario_.fusion.kind == Fusion::Kind::Omgs)
      return merge_omgs(scenario_.model, scenario_.trace,
                        [&](const Bucket& bucket) { return steps_.costs.whole_cost(bucket); });
    if (scenario_.fusion.kind == Fusion::Kind::Cycle)
      return merge_in_cycles(scenario_.model, gradients_ready(), scenario_.fusion.cycle,
                             scenario_.fusion.size);
    return make_buckets(scenario_.model, scenario_.fusion);
  }

  /// Time from the begin of backward until each tensor is handed over, on the slowest rank. Without
  /// overlap that is after the whole of backward.
  std::vector<Seconds> gradients_ready() const {
    const double slowest = *std::min_element(plan_.rank_speeds.begin(), plan_.rank_speeds.end());
    const IterationTrace& trace = scenario_.trace;
    std::vector<Seconds> ready(trace.tensors.size());
    const Seconds begun = steps_.launches() ? backward_begun(slowest) : Seconds{0};
    const Seconds from = trace.launch_of_micro_step(scenario_.accumulation) - begun;
    Seconds now{0};
    for (std::size_t i = ready.size(); i-- > 0;) {
      if (steps_.launches()) now = std::max(now, from + trace.tensors[i].backward_launch);
      ready[i] = now += steps_.backward_time(i, Gradient::Exchanged) / slowest;
    }
    if (!scenario_.overlap) std::fill(ready.begin(), ready.end(), now);
    if (const std::size_t first = first_sent_after(); first < ready.size())
      std::fill(ready.begin() + static_cast<std::ptrdiff_t>(first), ready.end(), ready[first]);
    return ready;
  }

  /// Date at which the last micro-step's backward begins, if it waits for the host as its forward
  /// does.
  Seconds backward_begun(double speed) const {
    const IterationTrace& trace = scenario_.trace;
    const Seconds from = trace.launch_of_micro_step(scenario_.accumulation);
    Seconds now = scenario_.cluster.per_iteration_overhead;
    for (const TensorTime& time : trace.tensors)
      now = std::max(now, from + time.forward_launch) + time.forward / speed;
    return std::max(now, from + trace.tensors.back().backward_launch);
  }

  /// Backward, with all that is sent of it; what a micro-step before sent is over.
  void send_all(const std::vector<Bucket>& buckets) {
    first_ = plan_.buckets.size();
    backward_at_ = scenario_.trace->tensors.size();
    std::size_t number = first_;
    const std::size_t from = scenario_.overlap ? first_sent_after() : 0;
    auto next = buckets.begin();
    const auto begin_until = [&](auto end) {
      while (next != end) begin_sending(*next++);
    };
    for (auto bucket = buckets.begin(); bucket != buckets.end(); ++bucket) {
      if (next != bucket && backward_at_ > from && from > bucket->tensors.back()) {
        backward_to(from);
        begin_until(bucket);
      }
      backward_to(bucket->tensors.back());
      steps_.copy_bucket(number++, *bucket);
      if (scenario_.overlap && backward_at_ <= from) begin_until(bucket + 1);
    }
    if (backward_at_ > 0) backward_to(0);
    begin_until(buckets.end());
    send_the_rest();
    exchange_used_parameters();
  }

  /// Steps that wait for the last bucket then wait for this too.
  void exchange_used_parameters() {
    if (plan_.buckets.empty()) return;
    const std::size_t last = plan_.buckets.size() - 1;
    const Steps told = steps_.exchange_used_parameters(
        last, in_series_ ? after_all(last, collectives_of_) : steps_.computed());
    collectives_of_[last].insert(collectives_of_[last].end(), told.begin(), told.end());
  }

  /// The tensor whose backward is over when the first bucket may be sent.
  std::size_t first_sent_after() const {
    const std::size_t count = scenario_.trace->tensors.size();
    if (scenario_.cluster.late_start <= 0) return count;
    Seconds all{0};
    for (std::size_t i = 0; i < count; ++i) all += steps_.backward_time(i, Gradient::Exchanged);
    Seconds done{0};
    std::size_t at = count;
    while (at > 0 && done < scenario_.cluster.late_start * all)
      done += steps_.backward_time(--at, Gradient::Exchanged);
    return at;
  }

  /// The steps that the first collective of a bucket waits for: with cycles, the end of the cycle
  /// that takes it. In series one cycle takes all buckets.
  Steps taken(std::size_t number, Steps ready) {
    if (scenario_.fusion.kind != Fusion::Kind::Cycle) return ready;
    if (!in_series_ || number == 0) {
      PlanStep step{StepKind::Wait, "cycle of bucket " + std::to_string(number), std::move(ready),
                    scenario_.fusion.cycle};
      step.stream = Stream::Clock;
      wait_ = steps_.add(std::move(step));
    }
    return {wait_};
  }

  /// Adds, after all that was computed so far, what comes before the encoding, else encoding and
  /// the bucket's collectives.
  void begin_sending(const Bucket& bucket) {
    if (plan_.ranks() == 1) return;
    const std::size_t number = plan_.buckets.size();
    plan_.buckets.push_back(steps_.costs.plan_bucket(bucket));
    ready_.push_back({steps_.last_computed});
    encoded_.emplace_back();
    decoded_.emplace_back();
    collectives_of_.emplace_back();
    const DenseCollective& before = plan_.buckets.back().before;
    if (before.collective != nullptr)
      ready_.back() = {steps_.collective(before, number, taken(number, {steps_.last_computed}))};
    if (!in_series_) {
      encode_first(number);
      send_first(number, ready_[number]);
    }
    if (sent_at_once(number)) {
      encode(number);
      send(number);
    }
  }

  /// True if the bucket is encoded and sent as soon as it is ready. If something must be sent
  /// before the encoding, a stream that runs in order would wait for it.
  bool sent_at_once(std::size_t number) const {
    return !in_series_ && (!sends_before_encoding(number) || !scenario_.compresses());
  }

  bool sends_before_encoding(std::size_t number) const {
    const PlannedBucket& bucket = plan_.buckets[number];
    return bucket.before.collective != nullptr ||
           (!bucket.first.empty() && scenario_.encode_stream == EncodeStream::Compute);
  }

  /// Encodes the part that ranks must agree on first. The rest of the bucket's encoding then waits
  /// for the agreement.
  void encode_first(std::size_t number) {
    if (plan_.buckets[number].first.empty()) return;
    ready_[number] = {steps_.codec(StepKind::Encode, steps_.bucket_name("encode first", number),
                                   plan_.buckets[number].first_encode, after_all(number, ready_))};
  }

  void send_first(std::size_t number, Steps encoded) {
    const std::vector<DenseCollective>& first = plan_.buckets[number].first;
    if (first.empty()) return;
    ready_[number] = taken(number, std::move(encoded));
    for (const DenseCollective& each : first)
      ready_[number] = {steps_.collective(each, number, ready_[number])};
  }

  /// Some buckets may have nothing to agree on, so that no one bucket ends last: each waits for
  /// all.
  void send_firsts_in_series() {
    const auto has_first = [](const PlannedBucket& bucket) { return !bucket.first.empty(); };
    const auto begin = plan_.buckets.begin() + static_cast<std::ptrdiff_t>(first_);
    if (std::none_of(begin, plan_.buckets.end(), has_first)) return;
    const auto all_ready = [this] {
      Steps all;
      for (std::size_t i = first_; i < ready_.size(); ++i)
        all.insert(all.end(), ready_[i].begin(), ready_[i].end());
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      return all;
    };
    for (std::size_t i = first_; i < plan_.buckets.size(); ++i) encode_first(i);
    const Steps encoded = all_ready();
    for (std::size_t i = first_; i < plan_.buckets.size(); ++i) send_first(i, encoded);
    const Steps agreed = all_ready();
    for (std::size_t i = first_; i < plan_.buckets.size(); ++i) ready_[i] = agreed;
  }

  /// The buckets that begin_sending only began.
  void send_the_rest() {
    if (in_series_) {
      send_firsts_in_series();
      for (std::size_t i = first_; i < plan_.buckets.size(); ++i) encode(i);
      for (std::size_t i = first_; i < plan_.buckets.size(); ++i) send(i);
      return;
    }
    for (std::size_t i = first_; i < plan_.buckets.size(); ++i)
      if (!sent_at_once(i)) {
        encode(i);
        send(i);
      }
  }

  /// A bucket's own steps and, in series, those of the first and the last bucket, which stand for
  /// all because one of them ends last. A queue by priority comes to the first bucket last; any
  /// other stream takes steps that became ready together in their order.
  Steps after_all(std::size_t number, const std::vector<Steps>& of_buckets) const {
    Steps steps = of_buckets[number];
    if (!in_series_) return steps;
    for (const Steps* others : {&of_buckets[first_], &of_buckets.back()})
      steps.insert(steps.end(), others->begin(), others->end());
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
  }

  void encode(std::size_t number) {
    if (!scenario_.compresses()) {
      encoded_[number] = ready_[number];
      return;
    }
    encoded_[number] = {steps_.codec(StepKind::Encode, steps_.bucket_name("encode", number),
                                     plan_.buckets[number].cost.encode, after_all(number, ready_))};
  }

  void send(std::size_t number) {
    Steps begin = after_all(number, encoded_);
    const PlannedBucket& bucket = plan_.buckets[number];
    if (bucket.before.collective == nullptr && bucket.first.empty())
      begin = taken(number, std::move(begin));
    collectives_of_[number] = steps_.exchange(number, begin);
  }

  void decode(std::size_t number, Steps sent) {
    if (!scenario_.compresses()) {
      decoded_[number] = collectives_of_[number];
      return;
    }
    decoded_[number] = {steps_.codec(StepKind::Decode, steps_.bucket_name("decode", number),
                                     plan_.buckets[number].cost.decode, std::move(sent))};
  }

  /// The steps that the update of a bucket waits for, after it was decoded.
  Steps receive(std::size_t number, Steps decoded) {
    const DenseCollective& after = plan_.buckets[number].after;
    if (after.collective == nullptr) return decoded_[number];
    return {steps_.collective(after, number, std::move(decoded))};
  }

  /// Everything that the last send_all sent.
  Steps receive_all() {
    Steps received;
    if (in_series_)
      for (std::size_t i = first_; i < plan_.buckets.size(); ++i)
        decode(i, after_all(i, collectives_of_));
    for (std::size_t i = first_; i < plan_.buckets.size(); ++i) {
      if (!in_series_) decode(i, collectives_of_[i]);
      const Steps of_bucket = receive(i, after_all(i, decoded_));
      received.insert(received.end(), of_bucket.begin(), of_bucket.end());
    }
    return received;
  }

  // ---- ends ----

  /// With ZeRO a rank updates its shard, and every bucket's parameters are gathered from all, or
  /// broadcast by their owners.
  void end_with_update(const std::vector<Bucket>& buckets) {
    const int shards = scenario_.shards();
    if (shards > 1 && scenario_.broadcasts_parameters()) {
      steps_.update_and_broadcast(receive_all());
    } else {
      steps_.update(1.0 / shards, receive_all());
      if (shards > 1)
        for (std::size_t i = 0; i < buckets.size(); ++i)
          steps_.collective(steps_.costs.parameter_gather(buckets[i].tensors), first_ + i,
                            steps_.computed());
    }
    steps_.next_launch();
  }

  /// Buckets from the input on: each is updated when it is there, and its layers go on at once with
  /// the forward of the next iteration's first micro-step. The other micro-steps follow, up to the
  /// last one's forward, whose backward this plan began with. The queue is for this purpose, so a
  /// bucket's decode waits for no other bucket, with overlap or without.
  void end_with_forward(const std::vector<Bucket>& buckets) {
    steps_.micro_step = 1;
    steps_.broadcast_buffers();
    for (std::size_t i = buckets.size(); i-- > 0;) {
      Steps received;
      if (!plan_.buckets.empty()) {
        decode(i, collectives_of_[i]);
        received = receive(i, decoded_[i]);
      }
      steps_.compute(StepKind::Update, steps_.bucket_name("update", i),
                     steps_.costs.update_of(buckets[i]), std::move(received));
      forward_past(buckets[i].tensors.front());
    }
    if (forward_at_ < scenario_.trace->tensors.size())
      forward_past(scenario_.trace->tensors.size() - 1);
    while (steps_.micro_step < scenario_.accumulation) {
      steps_.backward_all();
      ++steps_.micro_step;
      steps_.forward_all();
    }
  }

  const Scenario& scenario_;
  PlanSteps steps_;
  Plan& plan_ = steps_.plan;
  bool in_series_ = false;       // encodes, collectives and decodes hide nothing
  std::size_t first_ = 0;        // bucket of the micro-step
  std::size_t backward_at_ = 0;  // tensors that backward has not reached
  std::size_t forward_at_ = 0;   // tensors that the next forward is past
  std::size_t wait_ = 0;         // step
  // By bucket:
  std::vector<Steps> ready_;    // after these it can be encoded
  std::vector<Steps> encoded_;  // after these its collectives begin
  std::vector<Steps> collectives_of_;
  std::vector<Steps> decoded_;
};

/// A microbenchmark: every rank comes with a buffer of its own.
Plan plan_of_payload(const Scenario& scenario, const PlanShortcuts& shortcuts) {
  PlanSteps steps(scenario, shortcuts);
  if (steps.plan.ranks() > 1) {
    const PlannedBucket& planned = steps.plan.buckets.emplace_back(steps.costs.plan_payload());
    steps.collective(*planned.collective, 0,
                     {.payload = scenario.payload, .protocol = planned.protocol}, {}, {});
  }
  return std::move(steps.plan);
}

Plan planned(const Scenario& scenario, const PlanShortcuts& shortcuts) {
  if (scenario.payload.count > 0) return plan_of_payload(scenario, shortcuts);
  if (scenario.sharding.kind == Sharding::Fsdp) return plan_of_fsdp(scenario, shortcuts);
  return ReplicatedPlanner(scenario, shortcuts).make();
}

}  // namespace

Plan make_plan(const Scenario& scenario, const PlanShortcuts& shortcuts) {
  require_same_tensors(scenario.model, scenario.trace);
  const bool training = scenario.payload.count == 0;
  if (training && scenario.collective != nullptr &&
      !carries(*scenario.collective, *scenario.compressor))
    throw std::logic_error("the collective does not serve the compressor");
  Plan plan = planned(scenario, shortcuts);
  plan.model_factor = scenario.model_factor;
  plan.kind_factor = scenario.kind_factor;
  if (training && plan.model_factor != 1) plan.compute = alone(scenario);
  require_ordered(plan);
  return plan;
}

}  // namespace gradcast
