// Random scenarios run on the engines, and a property checked of many of them: a failure is shrunk,
// and printed with all its fields and how to run it again.
//
// The seed is fixed, so that a build that passed passes again. RC_PARAMS="seed=7" tries another and
// RC_PARAMS="max_success=20000" more of each.
#pragma once
#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/iteration_result.hpp"
#include "sim/plan/plan_summary.hpp"
#include "tests/sim/engine/random_scenario.hpp"
#include "tests/sim/engine/scenario_in_words.hpp"

namespace gradcast::scenarios {

// RapidCheck draws from a part of a range while its size is small, and its sizes grow slowly: here
// always from all of it.
inline int by_rapidcheck(int least, int most) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
}

inline rc::Gen<Scenario> any_scenario(const Wanted& wanted = {}) {
  return rc::gen::exec([wanted] { return draw_scenario(wanted); });
}

/// Exact runs of more messages than this are left out: they take their time and show nothing new.
inline constexpr std::int64_t kMostMessages = 20'000;

/// Ends the program, with the scenario on standard error, where one run takes longer than this.
inline constexpr unsigned kMostSeconds = 60;

class Watchdog {
 public:
  Watchdog(const Scenario& scenario, std::string_view engine) {
    text_ = "this scenario does not end on " + std::string(engine) + ":\n" + described(scenario);
    std::signal(SIGALRM, bark);
    ::alarm(kMostSeconds);
  }
  ~Watchdog() { ::alarm(0); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  static void bark(int) {
    static_cast<void>(!::write(STDERR_FILENO, text_.data(), text_.size()));
    std::abort();
  }
  static inline std::string text_;
};

inline RunRecord played(const Engine& engine, const Scenario& scenario, const Plan& plan) {
  const Watchdog watchdog(scenario, engine.name);
  return engine.run(plan, scenario.cluster, scenario.world);
}

inline IterationResult result_of(const Engine& engine, const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  return summarize(plan, played(engine, scenario, plan));
}

inline double seconds(const char* engine, const Scenario& scenario) {
  return result_of(*find_engine(engine), scenario).iteration.count();
}

/// The engines that this build has and that can run the scenario in a moment.
inline std::vector<const Engine*> engines_for(const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  std::vector<const Engine*> able;
  for (const Engine& engine : all_engines()) {
    if (!engine.built() || !engine.fluid.empty()) continue;
    if (!engine.refusal(plan, scenario.cluster, scenario.world).empty()) continue;
    const std::int64_t messages =
        messages_of(plan, scenario.cluster) * scenario.world.concurrent_jobs;
    if (engine.name.ends_with("-exact") && messages > kMostMessages) continue;
    able.push_back(&engine);
  }
  return able;
}

inline bool few_messages(const Scenario& scenario) {
  return messages_of(make_plan(scenario), scenario.cluster) <= kMostMessages;
}

/// A property that is checked of so many scenarios, by a seed of its own.
template <class Body>
void holds(const std::string& description, int scenarios, Body body) {
  SECTION(description) {
    const ChosenBy chance(by_rapidcheck);
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    if (std::getenv("RC_PARAMS") == nullptr) params.seed = 2026;
    if (params.maxSuccess == rc::detail::TestParams().maxSuccess) params.maxSuccess = scenarios;
    params.maxDiscardRatio = 20;
    rc::detail::TestMetadata metadata;
    metadata.id = description;
    metadata.description = description;
    rc::detail::TestListenerAdapter silent;
    const auto result = rc::detail::checkProperty(rc::detail::toProperty(body), metadata, params,
                                                  silent, rc::detail::configuration().reproduce);
    std::ostringstream said;
    rc::detail::printResultMessage(result, said);
    INFO("seed " << params.seed << "\n" << said.str());
    CHECK(result.template is<rc::detail::SuccessResult>());
  }
}

struct Property {
  const char* description;
  int scenarios;  // their number if all are run
  void (*body)();
};

/// Runs every property on its number of scenarios, divided by this.
template <class Properties>
void check_all(const Properties& properties, int divided_by) {
  for (const Property& property : properties)
    holds(property.description, property.scenarios / divided_by, property.body);
}

}  // namespace gradcast::scenarios
