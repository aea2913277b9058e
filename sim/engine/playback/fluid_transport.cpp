#include "sim/engine/playback/fluid_transport.hpp"

#include <algorithm>
#include <cmath>

namespace gradcast {

FluidTransport::FluidTransport(const Topology& topology, const PlannedPhases& planned,
                               CollectiveSoftware software, Company company, FlowNetwork& network,
                               EventQueue& events)
    : topology_(topology),
      planned_(planned),
      software_(software),
      company_(company),
      network_(network),
      events_(events) {}

void FluidTransport::carry_out(Job& job, std::size_t step) {
  auto course = std::make_shared<Course>(Course{job, step, planned_.of(step)});
  CollectiveCourse alone = collective_course(*course->phases, topology_, software_, 1,
                                             lead_of(job, step, events_.now()));
  Seconds flowing{0};
  for (const Seconds busy : alone.flowing) flowing += busy;
  // Ranks that were ahead have sent some of it already. So the phase may be over in less time than
  // its bytes take.
  // A collective that was measured may take less than its software alone would.
  const Seconds begin = std::min(software_.per_collective, alone.total);
  const Seconds rest = alone.total - begin;
  if (rest < flowing) course->share = rest / flowing;
  course->waiting = std::max(Seconds{0}, rest - flowing) /
                    static_cast<double>(std::max<std::size_t>(1, course->phases->size()));
  course->lead_seconds = std::move(alone.lead_seconds);
  events_.in(begin, [this, course] { begin_phase(course); });
}

void FluidTransport::begin_phase(const std::shared_ptr<Course>& course) {
  if (course->phase == course->phases->size()) {
    set_lead(course->job, course->step, events_.now(), std::move(course->lead_seconds));
    finish(course->job, course->step);
    return;
  }
  events_.in(course->waiting, [this, course] { start_flows(course); });
}

void FluidTransport::start_flows(const std::shared_ptr<Course>& course) {
  const Phase& phase = (*course->phases)[course->phase++];
  course->flows_left = 1;  // until all have started
  for (const std::size_t number : representatives(phase, topology_, company_)) {
    const Message& message = phase.messages[number];
    const Bytes left{
        std::llround(course->share * static_cast<double>((message.bytes * phase.rounds).count))};
    if (left.count == 0) continue;
    ++course->flows_left;
    ++flows_;
    network_.send(network_.way(message.from, message.to), left,
                  [this, course] { end_flow(course); });
  }
  end_flow(course);
}

void FluidTransport::end_flow(const std::shared_ptr<Course>& course) {
  if (--course->flows_left == 0) begin_phase(course);
}

}  // namespace gradcast
