#include "sim/breakeven/stretches.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace gradcast;

namespace {

RunForecast taking(double seconds, double own) {
  RunForecast forecast;
  forecast.iteration = Seconds{seconds};
  forecast.deviations = ForecastDeviations{Seconds{own}, {}};
  return forecast;
}

}  // namespace

// Dense 100 / x, compressed 1 + 50 / x: faster up to 50. The stretches are held against the one
// rule at every value that was looked at.
TEST_CASE("a stretch has the verdict of each value in it", "[breakeven]") {
  for (const double deviation : {0.001, 0.06, 0.5, 5.0})
    for (const bool whole : {false, true}) {
      std::map<double, Pays> seen;
      const Finding finding = find_break_evens({1, 400, whole}, [&](double x) {
        const Duel duel{taking(1 + 50 / x, deviation), taking(100 / x, deviation)};
        seen[x] = pays_by(speedup_of(duel.its, duel.other));
        return duel;
      });
      const auto stretches = stretches_of(finding, true);
      CAPTURE(deviation, whole, stretches.size());
      CHECK(stretches.front().from == 1);
      CHECK(stretches.back().to == 400);
      std::size_t held = 0;
      for (const auto& [value, pays] : seen)
        for (const VerdictStretch& stretch : stretches) {
          const double edge = whole ? 1 : 1 + 10 * kNarrow;  // an end is known to kNarrow
          if (value < stretch.from * edge || value > stretch.to / edge) continue;
          CAPTURE(value);
          CHECK(stretch.pays == pays);
          ++held;
        }
      CHECK(held > 30);
    }
}

TEST_CASE("unknown software costs leave open what would pay, physics alone leaves all",
          "[breakeven]") {
  Finding finding;
  finding.range = {1, 400};
  finding.pays_at_start = true;
  finding.roots = {{50, false, "", Stretch{40, 60}}};
  finding.unsure = {{40, 60}};
  finding.fitted = true;
  const auto verdicts = [&](bool costs_known) {
    std::vector<Pays> all;
    for (const VerdictStretch& stretch : stretches_of(finding, costs_known))
      all.push_back(stretch.pays);
    return all;
  };
  CHECK(verdicts(true) == std::vector{Pays::Yes, Pays::CannotBeTold, Pays::No});
  CHECK(verdicts(false) == std::vector{Pays::CannotBeTold, Pays::No});
  finding.fitted = false;
  CHECK(verdicts(true) == std::vector{Pays::CannotBeTold});
}
