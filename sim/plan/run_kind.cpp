#include "sim/plan/run_kind.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/text.hpp"
#include "sim/plan/joint_terms.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {
namespace {

/// Correlation length in the logarithm of compute: a third longer, and 0.4 of what is known holds.
constexpr double kComputeLength = 0.3;
/// Correlation length in the logarithm of ranks. Twice the ranks change a kind's error by half a
/// deviation, which is some 2 % (docs/accuracy.md).
constexpr double kRanksLength = 5;

bool comparable(const RunKind& one, const RunKind& other) {
  return one.compute > Seconds{0} && other.compute > Seconds{0} &&
         one.compressor == other.compressor;
}

}  // namespace

RunKind kind_of(const Scenario& scenario) {
  if (scenario.payload.count > 0) return {};
  return {scenario.compresses() ? std::string(scenario.compressor->name) : "", scenario.compute(),
          scenario.cluster.ranks()};
}

double scatter_share(double computed) {
  constexpr double kOfCompute = 1.0 / 2;
  const double part = std::clamp(computed, 0.0, 1.0);
  return std::hypot(1 - part, kOfCompute * part);
}

double kind_correlation(const RunKind& one, const RunKind& other) {
  if (!comparable(one, other)) return 0;
  const double compute = std::log(one.compute / other.compute);
  const double ranks = std::log(static_cast<double>(one.ranks) / other.ranks);
  return std::exp(-std::abs(compute) / kComputeLength - std::abs(ranks) / kRanksLength);
}

std::string KindFactor::name() const {
  return kKindFactor + (kind.compressor.empty() ? "" : " of " + kind.compressor) + " at " +
         number_to_text(rounded_to(4, kind.compute.count())) + " on " + std::to_string(kind.ranks);
}

std::string KindFactor::seen() const {
  return "compute=" + number_to_text(rounded_to(4, kind.compute.count())) +
         " ranks=" + std::to_string(kind.ranks);
}

double KindEstimate::factor() const {
  double log = 0;
  for (const Part& part : parts) log += part.weight * std::log(part.known->factor);
  return std::exp(log);
}

KindEstimate kind_estimate(const std::vector<KindFactor>& known, const RunKind& kind) {
  KindEstimate estimate;
  std::vector<double> with_kind;
  for (const KindFactor& each : known)
    if (const double its = kind_correlation(each.kind, kind); its > 0) {
      estimate.parts.push_back({&each, 0});
      with_kind.push_back(its);
    }
  std::vector<std::vector<double>> correlations;
  for (const KindEstimate::Part& one : estimate.parts) {
    correlations.emplace_back();
    for (const KindEstimate::Part& other : estimate.parts)
      correlations.back().push_back(kind_correlation(one.known->kind, other.known->kind));
  }
  const std::vector<double> weights = solved(correlations, with_kind);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    estimate.parts[i].weight = weights[i];
    estimate.unknown -= weights[i] * with_kind[i];
  }
  estimate.unknown = std::max(0.0, estimate.unknown);
  return estimate;
}

}  // namespace gradcast
