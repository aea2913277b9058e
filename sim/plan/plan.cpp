#include "sim/plan/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/plan/bucket_costs.hpp"
#include "sim/plan/merging.hpp"
#include "sim/plan/plan_check.hpp"

namespace gradcast {
namespace {

class Planner {
 public:
  Planner(const Scenario& scenario, const PlanShortcuts& shortcuts)
      : scenario_(scenario),
        cluster_(scenario.cluster),
        launches_(scenario.trace.has_launches()),
        coarse_(shortcuts.coarse && scenario.fusion.kind != Fusion::Kind::Cycle && !launches_),
        costs_(scenario, shortcuts.costs) {
    for (int rank = 0; rank < cluster_.ranks(); ++rank) {
      const double its = scenario.rank_speeds.empty()
                             ? 1
                             : scenario.rank_speeds.at(static_cast<std::size_t>(rank));
      plan_.rank_speeds.push_back(its * cluster_.speed_of(rank));
    }
    in_series_ = !scenario.overlap && !scenario.pipeline_without_overlap;
    plan_.network_streams = in_series_ ? 1 : scenario.network_streams;
    plan_.coordinated = scenario.queue == Queue::Priority;
    plan_.encode_slowdown = scenario.encode_slowdown;
    plan_.communication_slowdown = cluster_.communication_slowdown;
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
    plan_.clock = plan_.steps.size();  // the backward that comes next
    const std::vector<Bucket> buckets = bucketed();
    for (const Bucket& bucket : buckets) {
      backward(bucket);
      if (scenario_.overlap) begin_sending(bucket);
    }
    if (!scenario_.overlap)
      for (const Bucket& bucket : buckets) begin_sending(bucket);
    send_the_rest();
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

  /// When the host has launched it: dates of the trace begin with forward, those of a plan that
  /// begins with backward begin there.
  void launch(std::size_t step, Seconds date, bool before_backward) {
    if (!launches_) return;
    const IterationTrace& trace = scenario_.trace;
    date += trace.launch_of_micro_step(micro_step_);
    if (scenario_.queue == Queue::Priority) {
      date -= trace.launch_of_micro_step(scenario_.accumulation);
      date -= trace.tensors.back().backward_launch;
      if (before_backward) date += trace.host;
    }
    plan_.steps[step].launch = std::max(Seconds{0}, date);
  }

  /// "forward a", or "forward a of micro-step 3".
  std::string pass_name(const char* pass, const TensorTime& time) const {
    const std::string of_step =
        scenario_.accumulation > 1 ? " of micro-step " + std::to_string(micro_step_) : "";
    return pass + time.tensor + of_step;
  }

  /// "encode bucket 3"
  std::string bucket_name(std::string_view what, std::size_t bucket) const {
    if (coarse_) return {};
    return std::string(what) + " bucket " + std::to_string(bucket);
  }

  void forward(std::size_t tensor) {
    const TensorTime& time = scenario_.trace.tensors[tensor];
    launch(compute(StepKind::Forward, pass_name("forward ", time), time.forward),
           time.forward_launch, true);
  }

  void backward(std::size_t tensor) {
    const TensorTime& time = scenario_.trace.tensors[tensor];
    launch(compute(StepKind::Backward, pass_name("backward ", time), time.backward),
           time.backward_launch, false);
  }

  /// A bucket's tensors, in the order in which backward comes to them.
  void backward(const Bucket& bucket) {
    if (!coarse_) {
      for (const std::size_t tensor : bucket.tensors) backward(tensor);
      return;
    }
    Seconds sum{0};
    for (const std::size_t tensor : bucket.tensors) sum += scenario_.trace.tensors[tensor].backward;
    compute(StepKind::Backward, {}, sum);
  }

  void forward(const Bucket& bucket) {
    if (!coarse_) {
      for (std::size_t t = bucket.tensors.size(); t-- > 0;) forward(bucket.tensors[t]);
      return;
    }
    Seconds sum{0};
    for (const std::size_t tensor : bucket.tensors) sum += scenario_.trace.tensors[tensor].forward;
    compute(StepKind::Forward, {}, sum);
  }

  void forward_all() {
    if (coarse_) {
      compute(StepKind::Forward, {}, scenario_.trace.forward());
      return;
    }
    for (std::size_t i = 0; i < scenario_.trace.tensors.size(); ++i) forward(i);
  }

  /// Of a micro-step that sends nothing, so that no bucket matters.
  void backward_all() {
    if (coarse_) {
      compute(StepKind::Backward, {}, scenario_.trace.backward());
      return;
    }
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
                  bucket_name(which.name, bucket),
                  std::move(after),
                  costs_.software_time(which, load),
                  &which,
                  load};
    step.priority = static_cast<int>(bucket);  // later buckets are nearer to the input
    return add(std::move(step));
  }

  // ---- buckets ----

  std::vector<Bucket> bucketed() const {
    if (scenario_.fusion.kind == Fusion::Kind::MgWfbp)
      return merge_mg_wfbp(scenario_.model, scenario_.trace, costs_.planner_network());
    if (scenario_.fusion.kind == Fusion::Kind::Omgs)
      return merge_omgs(scenario_.model, scenario_.trace,
                        [&](const Bucket& bucket) { return costs_.whole_cost(bucket); });
    if (scenario_.fusion.kind == Fusion::Kind::Cycle)
      return merge_in_cycles(scenario_.model, gradients_ready(), scenario_.fusion.cycle,
                             scenario_.fusion.size);
    return make_buckets(scenario_.model, scenario_.fusion);
  }

  /// By tensor, on the slowest rank, since backward began. Without overlap all gradients are handed
  /// over after the whole of backward.
  std::vector<Seconds> gradients_ready() const {
    const double slowest = *std::min_element(plan_.rank_speeds.begin(), plan_.rank_speeds.end());
    const IterationTrace& trace = scenario_.trace;
    std::vector<Seconds> ready(trace.tensors.size());
    const Seconds begun = launches_ ? backward_begun(slowest) : Seconds{0};
    const Seconds from = trace.launch_of_micro_step(scenario_.accumulation) - begun;
    Seconds now{0};
    for (std::size_t i = ready.size(); i-- > 0;) {
      if (launches_) now = std::max(now, from + trace.tensors[i].backward_launch);
      ready[i] = now += trace.tensors[i].backward / slowest;
    }
    if (!scenario_.overlap) std::fill(ready.begin(), ready.end(), now);
    return ready;
  }

  /// When the last micro-step's backward begins, where it waits for the host as its forward does.
  Seconds backward_begun(double speed) const {
    const IterationTrace& trace = scenario_.trace;
    const Seconds from = trace.launch_of_micro_step(scenario_.accumulation);
    Seconds now = cluster_.per_iteration_overhead / speed;
    for (const TensorTime& time : trace.tensors)
      now = std::max(now, from + time.forward_launch) + time.forward / speed;
    return std::max(now, from + trace.tensors.back().backward_launch);
  }

  /// What the first collective of a bucket waits for: with cycles, the end of the one that takes
  /// it. In series the same one takes all buckets.
  Steps taken(std::size_t number, Steps ready) {
    if (scenario_.fusion.kind != Fusion::Kind::Cycle) return ready;
    if (!in_series_ || number == 0) {
      PlanStep step{StepKind::Wait, "cycle of bucket " + std::to_string(number), std::move(ready),
                    scenario_.fusion.cycle};
      step.stream = Stream::Clock;
      wait_ = add(std::move(step));
    }
    return {wait_};
  }

  /// After all that was computed so far: what comes before the encoding, else encoding and the
  /// bucket's collectives.
  void begin_sending(const Bucket& bucket) {
    if (plan_.ranks() == 1) return;
    const std::size_t number = plan_.buckets.size();
    plan_.buckets.push_back(costs_.plan_bucket(bucket));
    ready_.push_back({last_computed_});
    encoded_.emplace_back();
    decoded_.emplace_back();
    collectives_of_.emplace_back();
    const Collective& main = *plan_.buckets.back().collective;
    if (main.before != nullptr) {
      ready_.back() = {collective(*main.before, number, dense_load(bucket.elements),
                                  taken(number, {last_computed_}))};
    } else if (!in_series_) {
      encode(number);
      send(number);
    }
  }

  /// The buckets that begin_sending only began.
  void send_the_rest() {
    if (in_series_) {
      for (std::size_t i = 0; i < plan_.buckets.size(); ++i) encode(i);
      for (std::size_t i = 0; i < plan_.buckets.size(); ++i) send(i);
      return;
    }
    // Where something is sent before the encoding, a stream that runs in order would wait for it.
    for (std::size_t i = 0; i < plan_.buckets.size(); ++i)
      if (plan_.buckets[i].collective->before != nullptr) {
        encode(i);
        send(i);
      }
  }

  /// A bucket's own steps and, in series, those of all buckets. Of all, the first or the last
  /// bucket's end last: a queue by priority comes to the first bucket last, any other stream takes
  /// steps that became ready together in their order.
  Steps after_all(std::size_t number, const std::vector<Steps>& of_buckets) const {
    Steps steps = of_buckets[number];
    if (!in_series_) return steps;
    for (const Steps* others : {&of_buckets.front(), &of_buckets.back()})
      steps.insert(steps.end(), others->begin(), others->end());
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
  }

  void encode(std::size_t number) {
    if (!scenario_.sparse()) {
      encoded_[number] = ready_[number];
      return;
    }
    encoded_[number] = {codec(StepKind::Encode, bucket_name("encode", number),
                              plan_.buckets[number].cost.encode, after_all(number, ready_))};
  }

  void send(std::size_t number) {
    const PlannedBucket& planned = plan_.buckets[number];
    Steps begin = after_all(number, encoded_);
    if (planned.collective->before == nullptr) begin = taken(number, std::move(begin));
    const int messages = scenario_.sparse() ? scenario_.wire_messages : 1;
    for (int i = 0; i < messages; ++i)
      collectives_of_[number].push_back(collective(
          *planned.collective, number, costs_.part_of(planned, number, i, messages), begin));
  }

  void decode(std::size_t number, Steps sent) {
    if (!scenario_.sparse()) {
      decoded_[number] = collectives_of_[number];
      return;
    }
    decoded_[number] = {codec(StepKind::Decode, bucket_name("decode", number),
                              plan_.buckets[number].cost.decode, std::move(sent))};
  }

  /// What the update of a bucket waits for, after it was decoded.
  Steps receive(std::size_t number, Steps decoded) {
    const PlannedBucket& planned = plan_.buckets[number];
    if (!scenario_.sparse() || planned.collective->after == nullptr) return decoded_[number];
    return {collective(*planned.collective->after, number, dense_load(planned.elements),
                       std::move(decoded))};
  }

  // ---- ends ----

  void end_with_update() {
    Steps received;
    if (in_series_)
      for (std::size_t i = 0; i < plan_.buckets.size(); ++i)
        decode(i, after_all(i, collectives_of_));
    for (std::size_t i = 0; i < plan_.buckets.size(); ++i) {
      if (!in_series_) decode(i, collectives_of_[i]);
      const Steps of_bucket = receive(i, after_all(i, decoded_));
      received.insert(received.end(), of_bucket.begin(), of_bucket.end());
    }
    launch(compute(StepKind::Update, "update", scenario_.trace.update, std::move(received)),
           scenario_.trace.update_launch, true);
    // The next iteration's first kernel ends this one.
    if (launches_)
      launch(compute(StepKind::Overhead, "next launch", Seconds{0}), scenario_.trace.host, true);
  }

  /// Buckets from the input on: each is updated when it is there, and its layers go on at once.
  /// That forward is of the next iteration's first micro-step. The others follow, up to the last
  /// one's forward, whose backward this plan began with. This is what the queue is for, so that a
  /// bucket's decode waits for no other bucket, with overlap or without.
  void end_with_forward(const std::vector<Bucket>& buckets) {
    micro_step_ = 1;
    for (std::size_t i = buckets.size(); i-- > 0;) {
      Steps received;
      if (!plan_.buckets.empty()) {
        decode(i, collectives_of_[i]);
        received = receive(i, decoded_[i]);
      }
      compute(StepKind::Update, bucket_name("update", i), costs_.update_of(buckets[i]),
              std::move(received));
      forward(buckets[i]);
    }
    while (micro_step_ < scenario_.accumulation) {
      backward_all();
      ++micro_step_;
      forward_all();
    }
  }

  /// A microbenchmark: every rank comes with a buffer of its own.
  void send_payload() {
    plan_.buckets.push_back(costs_.plan_payload());
    collective(*plan_.buckets.back().collective, 0, {.payload = scenario_.payload}, {});
  }

  const Scenario& scenario_;
  const Cluster& cluster_;
  bool launches_ = false;  // the trace says when the host launches what
  bool coarse_ = false;
  BucketCosts costs_;
  Plan plan_;
  std::size_t last_computed_ = 0;  // step
  int micro_step_ = 1;             // from 1 on
  std::size_t wait_ = 0;           // step
  bool in_series_ = false;         // encodes, collectives and decodes hide nothing
  // By bucket:
  std::vector<Steps> ready_;    // after these it can be encoded
  std::vector<Steps> encoded_;  // after these it can be sent
  std::vector<Steps> collectives_of_;
  std::vector<Steps> decoded_;
};

}  // namespace

Plan make_plan(const Scenario& scenario, const PlanShortcuts& shortcuts) {
  require_same_tensors(scenario.model, scenario.trace);
  const bool training = scenario.payload.count == 0;
  if (training && scenario.collective != nullptr &&
      !carries(*scenario.collective, *scenario.compressor))
    throw std::logic_error("the collective does not serve the compressor");
  Plan plan = Planner(scenario, shortcuts).make();
  require_ordered(plan);
  return plan;
}

}  // namespace gradcast
