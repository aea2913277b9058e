#include "sim/engine/playback/whole_collective.hpp"

#include <algorithm>

namespace gradcast {

void WholeCollectives::enter(Job& job, std::size_t step, std::size_t) {
  const auto at = present_.try_emplace({&job, step}, 0).first;
  if (++at->second < job.classes()) return;
  present_.erase(at);
  carry_out(job, step);
}

void WholeCollectives::finish(Job& job, std::size_t step) {
  for (std::size_t id = 0; id < job.classes(); ++id) job.leave(step, id);
}

std::vector<double> WholeCollectives::lead_of(const Job& job, std::size_t step, Seconds now) const {
  const int communicator = job.plan().steps[step].communicator;
  const auto last = ended_.find({&job, communicator});
  const bool queued = last != ended_.end() &&
                      last->second.at + job.plan().steps[step].duration == now &&
                      job.plan().streams_of(communicator) == 1 && !job.plan().coordinated;
  if (!queued) return {};
  // No rank can begin before the collective is ready.
  const double most = (last->second.at - job.ready_since(step)).count();
  std::vector<double> lead = last->second.lead_seconds;
  for (double& each : lead) each = std::min(each, most);
  return lead;
}

void WholeCollectives::set_lead(const Job& job, std::size_t step, Seconds end,
                                std::vector<double> lead_seconds) {
  ended_[{&job, job.plan().steps[step].communicator}] = {end, std::move(lead_seconds)};
}

}  // namespace gradcast
