#include "sim/breakeven/contestants.hpp"

#include <exception>

#include "sim/base/error.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {
namespace {

/// Throws where the costs lack it, as a forecast would.
void require_costs(const Scenario& scenario) {
  if (!scenario.compresses()) return;
  (void)CompressorCosts(scenario.costs, cost_choice(scenario));
}

std::vector<Asked> by_schedules(const Asked& asked, const std::vector<Schedule>& schedules) {
  std::vector<Asked> all;
  for (const Schedule& schedule : schedules) all.push_back(with_schedule(asked, schedule));
  return all;
}

bool against_best(const BreakEvenAsked& asked) {
  return asked.dense == Against::Best && asked.against_dense();
}

/// True if nobody named a schedule: a compressor then may take the fastest, as dense does.
bool is_open(const Request& request) {
  return request.today && !request.fusion_given && !request.overlap_given;
}

}  // namespace

std::vector<Asked> Contestant::physics() const {
  return by_schedules(estimates.physics, schedules);
}

std::vector<Asked> Contestant::fitted() const {
  if (!estimates.fitted) return {};
  return by_schedules(*estimates.fitted, schedules);
}

Contestant opponent_of(const BreakEvenAsked& asked, DataFiles& files) {
  const Request request = with_compressor(asked.request, asked.against, true);
  return contestant_of(request, asked, against_best(asked), files);
}

Contestant contestant_of(const Request& request, const BreakEvenAsked& asked, bool fastest,
                         DataFiles& files) {
  Contestant contestant{request.compressor, estimates_of(request, asked.software, files)};
  contestant.schedules = request.best_schedule || fastest
                             ? schedules_of(request, contestant.estimates, files)
                             : std::vector<Schedule>{schedule_of(request)};
  const Scenario physics = make_scenario(contestant.estimates.physics, files);
  require_costs(physics);
  contestant.costs_guessed = physics.compresses() && physics.costs->guessed_for_cpu;
  if (!contestant.estimates.fitted) return contestant;
  const Scenario fitted = make_scenario(*contestant.estimates.fitted, files);
  require_costs(fitted);
  contestant.costs_fitted = !contestant.costs_guessed && costs_fitted(contestant.estimates, files);
  return contestant;
}

std::vector<Contestant> contestants_of(const Flags& flags, const BreakEvenAsked& asked,
                                       DataFiles& files) {
  const std::vector<std::string> names =
      asked.all() ? compressors_with_costs(asked.request, files) : asked.compressors;
  const bool several = names.size() > 1;
  const bool fastest = against_best(asked) && is_open(asked.request);
  std::vector<Contestant> contestants;
  std::string refused;
  for (const std::string& name : names) {
    if (name == asked.against && !asked.map) continue;
    try {
      contestants.push_back(
          contestant_of(with_compressor(asked.request, name, several), asked, fastest, files));
    } catch (const std::exception& error) {
      if (!asked.all()) throw;
      refused = name + " is left out: " + error.what();
      flags.note(refused);
    }
  }
  if (contestants.empty())
    throw UsageError("no compressor is left to compare" +
                     (refused.empty() ? "" : " (" + refused + ")"));
  return contestants;
}

void require_fitted_software(const Flags& flags, const BreakEvenAsked& asked, DataFiles& files) {
  if (!flags.given("fitted") || asked.software == "none") return;
  DataFiles others = files.beside();  // files read here need not be inputs of the answer
  if (is_stack(asked.software, others)) return;
  const Cluster cluster = flags.value("fitted", [&](const std::string& name) {
    return *others.parsed(others.read(kClusters, name), load_cluster);
  });
  if (cluster.forecast_deviation > Seconds{0} || cluster.forecast_deviation_share > 0) return;
  throw UsageError("--fitted: '" + asked.software +
                   "' is no fitted cluster: it does not say what its fit left unexplained");
}

}  // namespace gradcast
