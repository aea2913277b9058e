#include "sim/import/kineto/optimizer.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace gradcast::kineto {
namespace {

constexpr std::string_view kStep = "Optimizer.step#";

/// The calls inside the optimizer's steps.
std::vector<const InPlace*> calls_of_steps(const Recording& recording) {
  std::vector<const InPlace*> calls;
  for (const Operator& step : recording.operators) {
    if (step.kind != OperatorKind::OptimizerStep) continue;
    for (const InPlace& call : recording.in_place)
      if (call.thread == step.thread && call.start >= step.start && call.start < step.end)
        calls.push_back(&call);
  }
  return calls;
}

}  // namespace

std::string optimizer_class(const Recording& recording) {
  std::set<std::string> classes;
  for (const Operator& one : recording.operators) {
    if (one.kind != OperatorKind::OptimizerStep) continue;
    const std::string_view name = recording.names.text(one.name);
    if (!name.starts_with(kStep)) continue;
    const std::string_view call = name.substr(kStep.size());  // "AdamW.step"
    const std::string_view its = call.substr(0, call.find('.'));
    if (its != "ZeroRedundancyOptimizer") classes.insert(std::string(its));  // it calls another
  }
  return classes.size() == 1 ? *classes.begin() : "";
}

std::optional<Optimizer> optimizer_of(const Recording& recording, const std::string& its_class) {
  for (const char* adam : {"Adam", "AdamW", "FusedAdam"})
    if (its_class == adam) return Optimizer::Adam;
  if (its_class != "SGD") return std::nullopt;
  const std::vector<const InPlace*> calls = calls_of_steps(recording);
  if (calls.empty()) return std::nullopt;
  const bool momentum =
      std::any_of(calls.begin(), calls.end(), [](const InPlace* call) { return call->multiplies; });
  return momentum ? Optimizer::Momentum : Optimizer::Sgd;
}

bool fused(const Recording& recording, const std::string& its_class) {
  const std::vector<const InPlace*> calls = calls_of_steps(recording);
  return its_class == "FusedAdam" ||
         (!calls.empty() && std::none_of(calls.begin(), calls.end(),
                                         [](const InPlace* call) { return call->multiplies; }));
}

}  // namespace gradcast::kineto
