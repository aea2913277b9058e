// Every message of every rank on a modelled network. Only this folder includes SimGrid, and strong
// units become its doubles nowhere else.
#include <xbt/log.h>

#include <limits>
#include <stdexcept>

#include "sim/child_process.hpp"
#include "sim/engine_simgrid/iteration.hpp"
#include "sim/engine_simgrid/network.hpp"

namespace gradcast {
namespace {

/// In a process of its own: SimGrid's clock, model and callbacks are process-wide, and its checks
/// abort. The answer crosses the pipe as numbers: flows, then start and end of each rank's steps.
std::vector<double> simulate_here(const Plan& plan, const Cluster& cluster) {
  // Never the program's own arguments: SimGrid would take --help and --cfg out of them.
  int argc = 1;
  char name[] = "gradcast";
  char* argv[] = {name, nullptr};
  const simgrid::s4u::Engine engine(&argc, argv);
  xbt_log_control_set("root.thres:error");  // "Configuration change" is no news to the user
  configure_simgrid();
  const RunRecord record = SimulatedIteration(plan, build_network(engine, cluster)).run(engine);
  std::vector<double> numbers{static_cast<double>(record.flows_simulated)};
  for (const auto& steps : record.steps)
    for (const Interval& interval : steps) {
      numbers.push_back(interval.start.count());
      numbers.push_back(interval.end.count());
    }
  return numbers;
}

}  // namespace

RunRecord run_simgrid(const Plan& plan, const Cluster& cluster) {
  require_ordered(plan);
  const auto numbers =
      run_in_child("the SimGrid engine", [&] { return simulate_here(plan, cluster); });
  const auto ranks = static_cast<std::size_t>(plan.ranks());
  if (numbers.size() != 1 + 2 * ranks * plan.steps.size())
    throw std::logic_error("the SimGrid engine's answer has the wrong length");
  RunRecord record;
  record.flows_simulated = static_cast<std::int64_t>(numbers[0]);
  record.steps.assign(ranks, std::vector<Interval>(plan.steps.size()));
  std::size_t at = 1;
  for (auto& steps : record.steps)
    for (Interval& interval : steps) {
      interval = {Seconds{numbers[at]}, Seconds{numbers[at + 1]}};
      at += 2;
    }
  return record;
}

}  // namespace gradcast
