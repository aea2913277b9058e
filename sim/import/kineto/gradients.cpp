#include "sim/import/kineto/gradients.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <unordered_map>

#include "sim/base/clean_text.hpp"

namespace gradcast::kineto {
namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";

/// "conv2d" of "aten::conv2d", "Convolution" of "...: ConvolutionBackward0", in small letters.
std::string short_name(std::string name) {
  if (name.starts_with(kEvaluate)) name.erase(0, kEvaluate.size());
  if (const std::size_t at = name.rfind("::"); at != std::string::npos) name.erase(0, at + 2);
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0 &&
         name.find("Backward") != std::string::npos)
    name.pop_back();
  if (name.ends_with("Backward")) name.erase(name.size() - 8);
  std::string word;
  for (const char letter : shortened(clean_text(name), 40)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
    word += plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(letter))) : '_';
  }
  return word.empty() ? "operator" : word;
}

/// Whether the operator's first dimension is that of samples; FSDP1 begins with views of
/// parameters.
bool reads_samples(std::string_view name) {
  for (const char* part : {"embedding", "conv", "linear", "matmul"})
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

/// Work of one step: operators and GPU operations by the date of their launch.
struct StepWork {
  std::vector<const Operator*> operators;
  std::vector<const GpuOperation*> gpu;
};

/// The work of every used step.
std::vector<StepWork> work_of(const Recording& recording, const Steps& steps) {
  std::vector<const Step*> used;
  for (const Step& step : steps.steps)
    if (step.used) used.push_back(&step);
  std::vector<StepWork> works(used.size());
  const auto at = [&](Nanoseconds date) -> StepWork* {
    const auto after =
        std::upper_bound(used.begin(), used.end(), date,
                         [](Nanoseconds d, const Step* step) { return d < step->host.start; });
    if (after == used.begin() || date >= (*(after - 1))->host.end) return nullptr;
    return &works[static_cast<std::size_t>(after - 1 - used.begin())];
  };
  for (const Operator& one : recording.operators)
    if (StepWork* work = at(one.start)) work->operators.push_back(&one);
  for (const GpuOperation& one : recording.gpu)
    if (one.linked)
      if (StepWork* work = at(one.launched)) work->gpu.push_back(&one);
  for (StepWork& work : works)
    std::stable_sort(
        work.gpu.begin(), work.gpu.end(),
        [](const GpuOperation* a, const GpuOperation* b) { return a->launched < b->launched; });
  return works;
}

class StepReader {
 public:
  StepReader(const Recording& recording, const StepWork& work, std::uint32_t step_thread)
      : recording_(recording), work_(work), step_thread_(step_thread) {}

  StepGradients read() {
    find_outermost();
    find_gradients();
    spread_forward();
    spread_backward();
    return std::move(its_);
  }

 private:
  /// Operators lie inside each other; the outermost stands for a layer. A sequence number is the
  /// next node's, so that operators without a gradient bear it too: the last one made the node.
  void find_outermost() {
    Nanoseconds until = 0;
    bool any = false;
    for (const Operator* one : work_.operators) {
      if (one->kind != OperatorKind::Forward || one->thread != step_thread_) continue;
      if (!any || one->start >= until) {
        outermost_.push_back(one);
        if (its_.batch < 0 && reads_samples(recording_.names.text(one->name)))
          its_.batch = one->elements;
        until = one->end;
        any = true;
      }
      outermost_of_[one->sequence] = outermost_.size() - 1;
    }
  }

  void find_gradients() {
    const Operator* node = nullptr;  // of the backward pass, the last that has begun
    bool group_open = false;
    int buckets = 0;
    for (const Operator* one : work_.operators) {
      if (one->kind == OperatorKind::AllReduce) ++buckets;
      if (one->kind == OperatorKind::Backward) {
        if (group_open) its_.groups.back().over = one->start;
        group_open = false;
        node = one;
      }
      if (one->kind != OperatorKind::AccumulateGrad) continue;
      if (!group_open) {
        GradientGroup group;
        group.node = node == nullptr ? "gradient" : short_name(recording_.names.text(node->name));
        its_.groups.push_back(group);
        forward_of_.push_back(node == nullptr ? -1 : node->sequence);
        group_open = true;
      }
      its_.gradients.push_back({one->elements, -1, its_.groups.size() - 1, buckets, one->start});
      done_.push_back(one->start);
    }
  }

  /// Sets the layers: the outermost operators that have gradients, in forward order.
  void spread_forward() {
    std::vector<std::size_t> with_gradients;
    for (const std::int64_t sequence : forward_of_) {
      const auto its = outermost_of_.find(sequence);
      if (sequence >= 0 && its != outermost_of_.end()) with_gradients.push_back(its->second);
    }
    std::sort(with_gradients.begin(), with_gradients.end());
    with_gradients.erase(std::unique(with_gradients.begin(), with_gradients.end()),
                         with_gradients.end());
    for (const std::size_t one : with_gradients)
      its_.layers.push_back({outermost_[one]->start,
                             0,
                             {},
                             outermost_[one]->elements,
                             short_name(recording_.names.text(outermost_[one]->name))});
    for (std::size_t i = 0; i < forward_of_.size(); ++i) {
      const auto its = outermost_of_.find(forward_of_[i]);
      if (forward_of_[i] < 0 || its == outermost_of_.end()) continue;
      const auto layer =
          std::lower_bound(with_gradients.begin(), with_gradients.end(), its->second);
      its_.groups[i].layer = static_cast<int>(layer - with_gradients.begin());
    }
    std::size_t layer = 0;
    for (const GpuOperation* one : work_.gpu) {
      if (one->collective >= 0 || one->phase != Phase::Forward) continue;
      while (layer + 1 < its_.layers.size() && its_.layers[layer + 1].start <= one->launched)
        ++layer;
      if (!its_.layers.empty()) {
        its_.layers[layer].forward += one->end - one->start;
        its_.layers[layer].launch.take(*one);
      }
      its_.forward += one->end - one->start;
    }
  }

  void spread_backward() {
    std::size_t group = 0;
    std::size_t gradient = 0;
    std::size_t copies = 0;
    const std::vector<Span> mul_out = spans_of(OperatorKind::MulOut);
    for (const GpuOperation* one : work_.gpu) {
      if (one->collective >= 0) continue;
      if (one->phase == Phase::CopyBack || one->phase == Phase::Update)
        its_.update_launch.take(*one);
      if (one->phase == Phase::CopyBack && one->is_copy) its_.copied_back.push_back(one->size);
      if (one->phase == Phase::Update && one->size > 0 && !one->is_copy)
        its_.optimizer_rooms.push_back(one->size);
      if (one->phase != Phase::Backward || its_.groups.empty()) continue;
      while (group + 1 < its_.groups.size() && its_.groups[group].over <= one->launched) ++group;
      its_.groups[group].backward += one->end - one->start;
      its_.groups[group].launch.take(*one);
      while (copies < mul_out.size() && mul_out[copies].end < one->launched) ++copies;
      if (copies == mul_out.size() || one->launched < mul_out[copies].start || one->size <= 0 ||
          one->is_copy)
        continue;
      // The copy of the gradient that was done last.
      while (gradient + 1 < done_.size() && done_[gradient + 1] <= one->launched) ++gradient;
      its_.gradients[gradient].room = one->size;
    }
  }

  std::vector<Span> spans_of(OperatorKind kind) const {
    std::vector<Span> spans;
    for (const Operator* one : work_.operators)
      if (one->kind == kind) spans.push_back({one->start, one->end});
    return united(std::move(spans));
  }

  const Recording& recording_;
  const StepWork& work_;
  std::uint32_t step_thread_;
  StepGradients its_;
  std::vector<const Operator*> outermost_;
  std::unordered_map<std::int64_t, std::size_t> outermost_of_;  // by sequence number
  std::vector<std::int64_t> forward_of_;                        // of each group
  std::vector<Nanoseconds> done_;                               // of each gradient
};

}  // namespace

bool StepGradients::layers_known() const {
  return !groups.empty() && std::all_of(groups.begin(), groups.end(),
                                        [](const GradientGroup& g) { return g.layer >= 0; });
}

bool separate_compiled_sends(Recording& recording, const Steps& steps) {
  struct Sends {
    Span host;
    Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
    Nanoseconds handed_over = std::numeric_limits<Nanoseconds>::max();
    std::size_t sends = 0, gradients = 0;
  };
  std::vector<Sends> all;
  for (const Step& step : steps.steps) {
    all.emplace_back();
    all.back().host = step.host;
  }
  const auto at = [&](Nanoseconds date) -> Sends* {
    const auto after =
        std::upper_bound(all.begin(), all.end(), date,
                         [](Nanoseconds d, const Sends& s) { return d < s.host.start; });
    return after == all.begin() || date >= (after - 1)->host.end ? nullptr : &*(after - 1);
  };
  for (const Operator& one : recording.operators)
    if (Sends* its = one.kind == OperatorKind::AccumulateGrad ? at(one.start) : nullptr) {
      ++its->gradients;
      its->handed_over = std::min(its->handed_over, one.start);
    }
  const auto is_send = [&](const GpuOperation& one) {
    return one.linked && one.collective >= 0 && one.phase == Phase::Backward &&
           recording.collectives[static_cast<std::size_t>(one.collective)].kind ==
               CollectiveKind::AllReduce;
  };
  for (const GpuOperation& one : recording.gpu)
    if (Sends* its = is_send(one) ? at(one.launched) : nullptr) {
      ++its->sends;
      its->first = std::min(its->first, one.launched);
      its->last = std::max(its->last, one.launched);
    }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (steps.steps[i].used &&
        (all[i].sends < 2 || all[i].sends != all[i].gradients || all[i].last >= all[i].handed_over))
      return false;
  for (GpuOperation& one : recording.gpu)
    if (one.linked && one.collective < 0 && one.phase == Phase::Backward)
      if (const Sends* its = at(one.launched); its != nullptr && one.launched > its->first)
        one.phase = Phase::ZeroGradients;
  return true;
}

std::vector<StepGradients> gradients_of_steps(const Recording& recording, const Steps& steps) {
  std::vector<StepGradients> all;
  for (const StepWork& work : work_of(recording, steps))
    all.push_back(StepReader(recording, work, steps.thread).read());
  std::size_t number = 0;
  for (const Step& step : steps.steps)
    if (step.used) {
      all[number].window = step.window;
      all[number++].next_launch = step.next_launch;
    }
  return all;
}

}  // namespace gradcast::kineto
