#include "sim/breakeven/stretches.hpp"

#include <cmath>
#include <set>

namespace gradcast {
namespace {

/// The side of 1 on which the speedup lies is the forecast's own: the interval holds the forecast.
Pays pays_at(const Finding& finding, double value, bool costs_known) {
  if (!finding.fitted || finding.unsure_between(value, value)) return Pays::CannotBeTold;
  return pays_by(finding.pays_at(value) ? RatioInterval{2, 2} : RatioInterval{0, 0}, costs_known);
}

void add(std::vector<VerdictStretch>& stretches, const VerdictStretch& next) {
  if (!stretches.empty() && stretches.back().pays == next.pays)
    stretches.back().to = next.to;
  else
    stretches.push_back(next);
}

/// Ends of stretches that belong together are as near as they are narrowed down.
constexpr double kSliver = 1 + 4 * kNarrow;

}  // namespace

std::vector<VerdictStretch> stretches_of(const Finding& finding, bool costs_known) {
  std::vector<VerdictStretch> stretches;
  if (!finding.pays_at_start) return stretches;
  const auto& [from, to, whole] = finding.range;
  if (whole) {
    for (double count = from; count <= to; ++count)
      add(stretches, {count, count, pays_at(finding, count, costs_known)});
    return stretches;
  }
  std::set<double> ends;
  const auto add_end = [&](double end) {
    if (end > finding.range.from && end < finding.range.to) ends.insert(end);
  };
  for (const BreakEven& root : finding.roots) add_end(root.at);
  for (const Stretch& unsure : finding.unsure) {
    add_end(unsure.low);
    add_end(unsure.high);
  }
  ends.insert(to);
  double low = from;
  for (const double high : ends) {
    if (high / low < kSliver && high != to) continue;
    const VerdictStretch next{low, high, pays_at(finding, std::sqrt(low * high), costs_known)};
    add(stretches, next);
    low = high;
  }
  return stretches;
}

}  // namespace gradcast
