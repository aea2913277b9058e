#include "sim/engine/playback/outcome.hpp"

#include <stdexcept>

#include "sim/base/text.hpp"

namespace gradcast {

std::vector<std::string> dead_ends(const World& world) {
  std::vector<std::string> ends;
  for (const RankEvent& event : world.ranks)
    if (event.speed == 0 && !event.period.lasting)
      ends.push_back("rank " + std::to_string(event.rank) + " pauses for ever from " +
                     to_text(event.period.at));
  for (const LinkEvent& event : world.links)
    if (event.share == 0 && !event.period.lasting)
      ends.push_back("link " + event.link + " is down for ever from " + to_text(event.period.at));
  return ends;
}

RunRecord record_of(Job& job, const RankClasses& ranks, const World& world) {
  RunRecord record;
  record.class_of = ranks.class_of;
  if (!job.done()) {
    const std::vector<std::string> ends = dead_ends(world);
    if (ends.empty()) throw std::logic_error("deadlock: " + job.stuck(ranks));
    record.lost = job.stuck(ranks) + "; " + join(ends, "; ");
  }
  record.steps = job.take_record();
  return record;
}

}  // namespace gradcast
