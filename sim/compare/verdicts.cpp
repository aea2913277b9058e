#include "sim/compare/verdicts.hpp"

#include <algorithm>
#include <cmath>

#include "sim/compare/entrants.hpp"

namespace gradcast {

Verdicts verdicts_of(const std::vector<ComparedRun>& runs) {
  return verdicts_of(runs, {"", [](const ComparedRun&) { return std::string(); }}, "");
}

Verdicts verdicts_of(const std::vector<ComparedRun>& runs, const Aspect& aspect,
                     const std::string& value) {
  Verdicts verdicts;
  for (const ComparedRun& run : runs) {
    if (!run.measured_speedup || !run.is_compressed() || run.is_upper_bound() || !run.counts() ||
        !run.dense_counts || aspect.of(run) != value)
      continue;
    if (std::abs(*run.measured_speedup - 1) <= kTooClosePercent / 100) {
      ++verdicts.too_close;
      continue;
    }
    const bool right = (*run.measured_speedup > 1) == (*run.predicted_speedup > 1);
    const bool sure = !run.pays_sure().empty();
    verdicts.right += right ? 1 : 0;
    verdicts.wrong += right ? 0 : 1;
    verdicts.sure += sure ? 1 : 0;
    verdicts.sure_and_wrong += sure && !right ? 1 : 0;
  }
  return verdicts;
}

MethodOrders method_orders_of(const std::vector<ComparedRun>& runs) {
  MethodOrders orders;
  for (const auto& [setup, entrants] : entrants_of(runs))
    for (std::size_t a = 0; a < entrants.size(); ++a)
      for (std::size_t b = a + 1; b < entrants.size(); ++b) {
        if (!entrants[a].compressed || !entrants[b].compressed) continue;
        const auto [faster, slower] =
            std::minmax(entrants[a], entrants[b],
                        [](const Entrant& x, const Entrant& y) { return x.measured < y.measured; });
        if (100 * (slower.measured / faster.measured - 1) <= kApartPercent) continue;
        ++orders.pairs;
        orders.right += faster.forecast < slower.forecast ? 1 : 0;
      }
  return orders;
}

}  // namespace gradcast
