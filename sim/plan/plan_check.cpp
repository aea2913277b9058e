#include "sim/plan/plan_check.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "sim/base/error.hpp"
#include "sim/base/units.hpp"

namespace gradcast {

void require_ordered(const Plan& plan) {
  const auto refuse = [&](std::size_t step, const std::string& why) {
    throw std::logic_error("step " + std::to_string(step) + " ('" + plan.steps[step].name + "') " +
                           why);
  };
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const std::size_t before : plan.steps[i].after)
      if (before >= i)
        refuse(i, "depends on step " + std::to_string(before) + ", which does not come before it");
    if (plan.steps[i].kind == StepKind::Wait &&
        (plan.steps[i].duration <= Seconds{0} || plan.clock >= i))
      refuse(i, "waits for no cycle");
    if (const double launch = plan.steps[i].launch.count(); !(launch >= 0 && std::isfinite(launch)))
      refuse(i, "is launched at " + number_to_text(launch) + " s, which is no date");
    const double duration = plan.steps[i].duration.count();
    // A large batch of a slow trace, and no defect of ours.
    if (std::isfinite(duration) && duration > kLongestSeconds)
      throw ValueError("'" + plan.steps[i].name + "' would take " + number_to_text(duration) +
                       " s; the longest that is simulated is " + number_to_text(kLongestSeconds) +
                       " s");
    if (!(duration >= 0 && std::isfinite(duration)))
      refuse(i, "takes " + number_to_text(duration) + " s, which is no time");
  }
  for (std::size_t rank = 0; rank < plan.rank_speeds.size(); ++rank)
    if (const double speed = plan.rank_speeds[rank]; !(speed > 0 && std::isfinite(speed)))
      throw std::logic_error("rank " + std::to_string(rank) + " computes at " +
                             number_to_text(speed) + " times its speed, which is none");
  for (const double slowdown :
       {plan.encode_slowdown, plan.communication_slowdown, plan.computing_slowdown})
    if (!(slowdown >= 0 && std::isfinite(slowdown)))
      throw std::logic_error("backward is lengthened by " + number_to_text(slowdown) +
                             ", which is no share");
  if (plan.network_streams < 1)
    throw std::logic_error(std::to_string(plan.network_streams) + " network streams carry nothing");
}

}  // namespace gradcast
