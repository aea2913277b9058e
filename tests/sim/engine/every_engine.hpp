// One scenario on every engine, against what was computed by hand.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "tests/sim/plan/toy.hpp"

namespace gradcast::toy {

/// All that this build has and that know such a thing, but those that only choose another.
inline std::vector<const Engine*> engines_for(const Scenario& scenario) {
  std::vector<const Engine*> able;
  const Plan plan = make_plan(scenario);
  for (const Engine& engine : all_engines())
    if (engine.built() && engine.fluid.empty() &&
        engine.refusal(plan, scenario.cluster, scenario.world).empty())
      able.push_back(&engine);
  return able;
}

inline double milliseconds(Seconds time) { return time.count() / kMilli; }

inline const std::string kNobody;

/// The engines that do not take so many milliseconds, with their times; kNobody if all do.
inline std::string astray(const Scenario& scenario, double expected, double tolerance = 1e-6) {
  std::string wrong;
  for (const Engine* engine : engines_for(scenario)) {
    const IterationResult result = run(scenario, *engine);
    const double its = milliseconds(result.iteration);
    if (!result.lost.empty())
      wrong += std::string(engine->name) + " is lost: " + result.lost + "; ";
    else if (!(std::abs(its - expected) <= tolerance))
      wrong += std::string(engine->name) + " takes " + std::to_string(its) + " ms, not " +
               std::to_string(expected) + "; ";
  }
  return wrong;
}

/// The same of a part of the iteration.
inline std::string astray(const Scenario& scenario, Seconds IterationResult::*part,
                          double expected) {
  std::string wrong;
  for (const Engine* engine : engines_for(scenario)) {
    const double its = milliseconds(run(scenario, *engine).*part);
    if (!(std::abs(its - expected) <= 1e-6))
      wrong += std::string(engine->name) + " has " + std::to_string(its) + " ms, not " +
               std::to_string(expected) + "; ";
  }
  return wrong;
}

}  // namespace gradcast::toy
