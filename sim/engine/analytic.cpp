// The closed form: the time that the network takes if no collective gets in the way of another
// communicator's. It is always built, so that any machine has an answer and the SimGrid engines
// have a check.
#include <algorithm>
#include <map>

#include "sim/base/error.hpp"
#include "sim/engine/playback/outcome.hpp"
#include "sim/engine/playback/planned_phases.hpp"
#include "sim/engine/playback/shared_link.hpp"
#include "sim/engine/playback/whole_collective.hpp"
#include "sim/network/collective_time.hpp"

namespace gradcast {
namespace {

class ClosedForms : public WholeCollectives {
 public:
  ClosedForms(const Plan& plan, const Cluster& cluster, int sharing, EventQueue& events)
      : topology_(make_topology(cluster)),
        layout_(layout_of(cluster)),
        planned_(plan, layout_),
        software_(software_of(cluster)),
        sharing_(sharing),
        events_(events) {}

 private:
  void carry_out(Job& job, std::size_t step) override {
    const CollectiveCourse& course =
        planned_.course_of(step, topology_, software_, sharing_, lead_of(job, step, events_.now()));
    if (const int communicator = job.plan().steps[step].communicator;
        job.plan().streams_of(communicator) > 1) {
      share(links_.try_emplace(communicator, events_).first->second, course, job, step);
      return;
    }
    set_lead(job, step, events_.now() + course.total, course.lead_seconds);
    events_.in(course.total, [this, &job, step] { finish(job, step); });
  }

  /// The collective shares the link with others of its communicator while its bytes flow.
  void share(SharedLink& link, const CollectiveCourse& course, Job& job, std::size_t step) {
    Seconds bytes{0};
    for (const Seconds flowing : course.flowing) bytes += flowing * sharing_;
    bytes = std::min(bytes, course.total);
    link.begin(course.total - bytes, bytes, [this, &job, step] { finish(job, step); });
  }

  Topology topology_;
  RankLayout layout_;
  PlannedPhases planned_;
  CollectiveSoftware software_;
  int sharing_;
  EventQueue& events_;
  std::map<int, SharedLink> links_{};  // by communicator
};

}  // namespace

/// Equal jobs begin everything at the same time. So only one is played, and its messages have a
/// share of each link.
RunRecord run_analytic(const Plan& plan, const Cluster& cluster, const World& world,
                       const Observation& observation) {
  if (!observation.paje.empty())
    throw ValueError("the analytic engine writes no Paje trace; use --engine simgrid");
  EventQueue events;
  ClosedForms transport(plan, cluster, world.concurrent_jobs, events);
  const RankClasses ranks = RankClasses::grouped(plan, world);
  Job job(plan, ranks, events, transport);
  job.start();
  events.run();
  RunRecord record = record_of(job, ranks, world);
  record.engine = "analytic";
  return record;
}

}  // namespace gradcast
