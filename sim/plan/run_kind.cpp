#include "sim/plan/run_kind.hpp"

#include <cmath>

#include "sim/base/text.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {
namespace {

/// The length of an Ornstein-Uhlenbeck process over the logarithm of compute. In such a process a
/// kind between two known ones depends on these two alone.
constexpr double kLength = 0.3;

bool comparable(const RunKind& one, const RunKind& other) {
  return one.compute > Seconds{0} && other.compute > Seconds{0} &&
         one.compressor == other.compressor;
}

double log_ratio(const RunKind& one, const RunKind& other) {
  return std::log(one.compute / other.compute);
}

}  // namespace

RunKind kind_of(const Scenario& scenario) {
  if (scenario.payload.count > 0) return {};
  return {scenario.compresses() ? std::string(scenario.compressor->name) : "", scenario.compute()};
}

double kind_correlation(const RunKind& one, const RunKind& other) {
  return comparable(one, other) ? std::exp(-std::abs(log_ratio(one, other)) / kLength) : 0;
}

std::string KindFactor::name() const {
  return kKindFactor + (kind.compressor.empty() ? "" : " of " + kind.compressor) + " at " +
         number_to_text(rounded_to(4, kind.compute.count()));
}

double KindEstimate::factor() const {
  double log = 0;
  for (const Part& part : parts) log += part.weight * std::log(part.known->factor);
  return std::exp(log);
}

KindEstimate kind_estimate(const std::vector<KindFactor>& known, const RunKind& kind) {
  const KindFactor* below = nullptr;
  const KindFactor* above = nullptr;
  for (const KindFactor& each : known) {
    if (!comparable(each.kind, kind)) continue;
    if (each.kind.compute <= kind.compute) {
      if (below == nullptr || each.kind.compute > below->kind.compute) below = &each;
    } else if (above == nullptr || each.kind.compute < above->kind.compute) {
      above = &each;
    }
  }
  // Correlations a and b with the two; the two have a x b with each other.
  const double a = below != nullptr ? kind_correlation(below->kind, kind) : 0;
  const double b = above != nullptr ? kind_correlation(above->kind, kind) : 0;
  const double apart = 1 - a * a * b * b;
  KindEstimate estimate;
  const auto add = [&](const KindFactor* its, double own, double others) {
    if (its == nullptr) return;
    const double weight = own * (1 - others * others) / apart;
    estimate.parts.push_back({its, weight});
    estimate.unknown -= weight * own;
  };
  add(below, a, b);
  add(above, b, a);
  estimate.unknown = estimate.unknown > 0 ? estimate.unknown : 0;
  return estimate;
}

}  // namespace gradcast
