// The parts of an iteration's time.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {

/// The parts are seen from the rank that finishes last. forward + backward + encode + exposed
/// communication + decode + update + overhead + wait = iteration: each moment counts for the step
/// of the compute stream; if that is idle, for the step of the side stream; if both are idle, for a
/// collective that all ranks have entered; else it is waiting, for a rank, for the end of a cycle
/// or for the host.
struct IterationResult {
  Seconds iteration{0};
  Seconds forward{0};
  Seconds backward{0};
  Seconds encode{0};
  Seconds communication{0};          // some collective runs that all ranks have entered
  Seconds exposed_communication{0};  // the part of it during which nothing was computed
  Seconds decode{0};
  Seconds update{0};
  Seconds overhead{0};
  Seconds wait{0};  // nothing computed, and some rank, cycle or host had not come so far yet
  Seconds hidden_codec{0};  // encoding and decoding on the side stream, under something else
  int rank = 0;             // the rank that this is seen from
  std::int64_t flows_simulated = 0;
  std::string engine;  // that ran it
  std::string lost;    // why it never ended, and no time is one; "" where it did
};

/// Throws std::logic_error where a time is not finite or a step ends before it begins.
IterationResult summarize(const Plan& plan, const RunRecord& record);

/// The part of an iteration that takes as long as one GPU was measured to take alone: the rest is
/// communication and software. 0 for a collective alone.
Seconds computed_in(const Scenario& scenario, Seconds iteration);

/// Calls make_plan, run and summarize.
IterationResult run(const Scenario& scenario, const Engine& engine);

}  // namespace gradcast
