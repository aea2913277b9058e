// Where an iteration's time goes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {

/// Seen from the rank that finishes last. forward + backward + encode + exposed communication +
/// decode + update + overhead + wait = iteration: at each moment the compute stream's step counts,
/// where it is idle the side stream's, then a collective that all ranks are in, else it is waiting.
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
  Seconds wait{0};          // nothing computed, and some rank had not come to the collective yet
  Seconds hidden_codec{0};  // encoding and decoding on the side stream, under something else
  int rank = 0;             // the rank that this is seen from
  std::int64_t flows_simulated = 0;
  std::string engine;  // that ran it
  std::string lost;    // why it never ended, and no time is one; "" where it did
};

/// Throws std::logic_error where a time is not finite or runs backwards.
IterationResult summarize(const Plan& plan, const RunRecord& record);

/// What an iteration would take if every GPU worked alone and they shared the images by their
/// speeds: of equal GPUs one's iteration alone. Over the iteration it is the scaling efficiency.
Seconds alone(const Scenario& scenario);

/// make_plan, run, summarize.
IterationResult run(const Scenario& scenario, const Engine& engine);

}  // namespace gradcast
