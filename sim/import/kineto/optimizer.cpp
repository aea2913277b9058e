#include "sim/import/kineto/optimizer.hpp"

#include <set>
#include <string_view>

namespace gradcast::kineto {
namespace {

constexpr std::string_view kStep = "Optimizer.step#";

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
  std::optional<Optimizer> found;
  for (const Operator& step : recording.operators) {
    if (step.kind != OperatorKind::OptimizerStep) continue;
    for (const InPlace& call : recording.in_place) {
      if (call.thread != step.thread || call.start < step.start || call.start >= step.end) continue;
      if (call.multiplies) return Optimizer::Momentum;
      found = Optimizer::Sgd;
    }
  }
  return found;
}

}  // namespace gradcast::kineto
