// Where an iteration's time goes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine.hpp"
#include "sim/plan.hpp"

namespace gradcast {

/// Seen from the rank that finishes last. forward + backward + encode + exposed communication +
/// decode + update + overhead + wait = iteration.
struct IterationResult {
  Seconds iteration{0};
  Seconds forward{0};
  Seconds backward{0};
  Seconds encode{0};
  Seconds communication{0};          // collectives that all ranks have entered, hidden or not
  Seconds exposed_communication{0};  // the part of it during which nothing was computed
  Seconds decode{0};
  Seconds update{0};
  Seconds overhead{0};
  Seconds wait{0};  // nothing computed, and some rank had not come to the collective yet
  int rank = 0;     // the rank that this is seen from
  std::int64_t flows_simulated = 0;
};

/// Throws std::logic_error where a time is not finite or runs backwards.
IterationResult summarize(const Plan& plan, const RunRecord& record);

/// make_plan, run, summarize.
IterationResult run(const Scenario& scenario, const Engine& engine);

}  // namespace gradcast
