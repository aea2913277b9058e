#include "sim/plan/fsdp.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/plan_steps.hpp"
#include "sim/plan/shard_units.hpp"

namespace gradcast {
namespace {

using Steps = PlanSteps::Steps;

class FsdpPlanner {
 public:
  FsdpPlanner(const Scenario& scenario, const PlanShortcuts& shortcuts)
      : scenario_(scenario),
        steps_(scenario, shortcuts),
        units_(shard_units(scenario.model, scenario.sharding.unit_elements)),
        shards_(scenario.shards()),
        codecs_wait_(scenario.overlap && scenario.encode_stream == EncodeStream::Compute),
        gathered_(units_.size()),
        whole_(units_.size(), false) {}

  Plan make() {
    const bool every = scenario_.synchronises_every();
    for (steps_.micro_step = 1; steps_.micro_step <= scenario_.accumulation; ++steps_.micro_step) {
      const bool last = steps_.micro_step == scenario_.accumulation;
      pass(Pass::Forward, false);
      pass(Pass::Backward, every || last);
    }
    steps_.micro_step = scenario_.accumulation;
    encode_waiting();
    Steps received;
    for (std::size_t i = 0; i < plan_.buckets.size(); ++i) {
      if (decoded_[i].empty()) decoded_[i] = decode(i);
      received.insert(received.end(), decoded_[i].begin(), decoded_[i].end());
    }
    steps_.update(1.0 / shards_, std::move(received));
    steps_.next_launch();
    return std::move(plan_);
  }

 private:
  enum class Pass { Forward, Backward };

  /// The unit that a pass computes as its n-th.
  std::size_t unit_at(Pass pass, std::size_t n) const {
    return pass == Pass::Forward ? n : units_.size() - 1 - n;
  }

  void pass(Pass pass, bool sends) {
    std::size_t issued = 0;
    for (std::size_t n = 0; n < units_.size(); ++n) {
      const std::size_t ahead = n + scenario_.prefetch();
      for (; issued <= ahead && issued < units_.size(); ++issued) gather(unit_at(pass, issued));
      const std::size_t unit = unit_at(pass, n);
      compute(pass, unit, sends ? Gradient::Exchanged : Gradient::Kept);
      // A unit that is dropped now is gathered again when it is next needed.
      if (pass == Pass::Backward || scenario_.sharding.reshard_after_forward) {
        gathered_[unit].reset();
        whole_[unit] = false;
      }
      if (sends) send(unit);
    }
  }

  void gather(std::size_t unit) {
    if (shards_ == 1 || gathered_[unit]) return;
    gathered_[unit] = steps_.collective(steps_.costs.parameter_gather(units_[unit].tensors), unit,
                                        scenario_.overlap ? steps_.computed() : all_so_far());
  }

  /// Steps that a gather waits for without overlap.
  Steps all_so_far() const {
    Steps all = steps_.computed();
    all.insert(all.end(), serial_.begin(), serial_.end());
    return all;
  }

  void compute(Pass pass, std::size_t unit, Gradient gradient) {
    Steps after;
    if (gathered_[unit]) after.push_back(*gathered_[unit]);
    if (!scenario_.overlap) after.insert(after.end(), serial_.begin(), serial_.end());
    const ShardUnit& its = units_[unit];
    if (gathered_[unit] && !whole_[unit]) {
      whole_[unit] = true;
      copy(pass, "copy out of unit ", unit, static_cast<double>(its.parameters.count), after);
    }
    if (pass == Pass::Forward) {
      for (std::size_t i = its.first; i < its.end; ++i) steps_.forward(i, std::exchange(after, {}));
    } else {
      for (std::size_t i = its.end; i-- > its.first;)
        steps_.backward(i, gradient, std::exchange(after, {}));
    }
  }

  /// Copies some bytes within the GPU's memory; what they wait for is then done.
  void copy(Pass pass, const char* what, std::size_t unit, double bytes, Steps& after) {
    const double passes = scenario_.cluster.shard_copy_passes;
    if (passes == 0 || scenario_.gpu_memory.value == 0 || scenario_.framework_in_compute) return;
    steps_.compute(pass == Pass::Forward ? StepKind::Forward : StepKind::Backward,
                   what + std::to_string(unit),
                   Seconds{passes * bytes / scenario_.gpu_memory.value}, std::exchange(after, {}));
  }

  /// Half of the bytes that are read and written where gradients go into the buffer of a scatter,
  /// which adds up in another type.
  double scattered_bytes(std::size_t unit) const {
    double bytes = 0;
    for (const std::size_t i : units_[unit].gradients.tensors) {
      const GradientTensor& tensor = scenario_.model->tensors[i];
      bytes += 0.5 * static_cast<double>(tensor.elements) *
               (bytes_of(tensor.gradient_type) + bytes_of(tensor.sum_type));
    }
    return bytes;
  }

  /// Sends a unit's gradients, so far as it has any, after its backward.
  void send(std::size_t unit) {
    if (plan_.ranks() == 1 || units_[unit].gradients.tensors.empty()) return;
    if (shards_ > 1) {
      Steps none;
      copy(Pass::Backward, "copy into scatter of unit ", unit, scattered_bytes(unit), none);
    }
    const std::size_t number = plan_.buckets.size();
    plan_.buckets.push_back(steps_.costs.plan_bucket(units_[unit].gradients));
    decoded_.emplace_back();
    const DenseCollective& before = plan_.buckets.back().before;
    const Steps computed = steps_.computed();
    const Steps ready = before.collective == nullptr
                            ? computed
                            : Steps{steps_.collective(before, number, computed)};
    if (!scenario_.compresses()) {
      settle(number, steps_.exchange(number, ready));
      return;
    }
    if (codecs_wait_) encode_waiting();  // the unit before this one
    waiting_ = {number, ready};
    if (!codecs_wait_) encode_waiting();
  }

  struct Waiting {
    std::size_t number;
    Steps ready;
  };

  void encode_waiting() {
    if (!waiting_) return;
    const auto [number, ready] = *std::exchange(waiting_, std::nullopt);
    Steps agreed = ready;
    if (const PlannedBucket& bucket = plan_.buckets[number]; !bucket.first.empty()) {
      agreed = {steps_.codec(StepKind::Encode, steps_.bucket_name("encode first", number),
                             bucket.first_encode, ready)};
      for (const DenseCollective& each : bucket.first)
        agreed = {steps_.collective(each, number, agreed)};
    }
    const std::size_t encoded = steps_.codec(StepKind::Encode, steps_.bucket_name("encode", number),
                                             plan_.buckets[number].cost.encode, agreed);
    sent_.resize(plan_.buckets.size());
    sent_[number] = steps_.exchange(number, {encoded});
    if (!codecs_wait_) settle(number, decode(number));
  }

  Steps decode(std::size_t number) {
    return {steps_.codec(StepKind::Decode, steps_.bucket_name("decode", number),
                         plan_.buckets[number].cost.decode, sent_[number])};
  }

  /// Records the steps that the update waits for. Without overlap, whatever comes next waits for
  /// them too.
  void settle(std::size_t number, Steps steps) {
    decoded_[number] = steps;
    serial_ = std::move(steps);
  }

  const Scenario& scenario_;
  PlanSteps steps_;
  Plan& plan_ = steps_.plan;
  std::vector<ShardUnit> units_;
  int shards_ = 1;
  bool codecs_wait_ = false;  // so that the compute stream does not wait for a scatter or exchange
  std::vector<std::optional<std::size_t>> gathered_;  // by unit: the step that did it
  std::vector<bool> whole_;                           // by unit: copied out of the gather's buffer
  std::optional<Waiting> waiting_;  // the bucket whose encoding comes after the next backward
  std::vector<Steps> sent_;         // by bucket
  std::vector<Steps> decoded_;      // by bucket; empty: not yet
  Steps serial_;                    // the last that was sent
};

}  // namespace

Plan plan_of_fsdp(const Scenario& scenario, const PlanShortcuts& shortcuts) {
  return FsdpPlanner(scenario, shortcuts).make();
}

}  // namespace gradcast
