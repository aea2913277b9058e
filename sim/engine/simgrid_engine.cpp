// The SimGrid engines, as this program sees them: the module plays the plan in a child process.
#include <stdexcept>

#include "sim/base/child_process.hpp"
#include "sim/base/error.hpp"
#include "sim/engine/playback/simulation.hpp"
#include "sim/engine/simgrid_module.hpp"

namespace gradcast {
namespace {

// ---- a record as the numbers that cross the pipe, and back ----

void add_text(std::vector<double>& numbers, const std::string& text) {
  numbers.push_back(static_cast<double>(text.size()));
  numbers.insert(numbers.end(), text.begin(), text.end());
}

std::vector<double> to_numbers(const RunRecord& record) {
  std::vector<double> numbers{static_cast<double>(record.flows_simulated),
                              static_cast<double>(record.lost.size()),
                              static_cast<double>(record.steps.size())};
  numbers.insert(numbers.end(), record.lost.begin(), record.lost.end());
  numbers.insert(numbers.end(), record.class_of.begin(), record.class_of.end());
  for (const auto& steps : record.steps)
    for (const Interval& interval : steps) {
      numbers.push_back(interval.start.count());
      numbers.push_back(interval.end.count());
    }
  add_text(numbers, record.links_note);
  numbers.push_back(static_cast<double>(record.links.size()));
  for (const LinkLoad& link : record.links) {
    add_text(numbers, link.name);
    numbers.push_back(static_cast<double>(link.changes.size()));
    for (const LoadChange& change : link.changes) {
      numbers.push_back(change.at.count());
      numbers.push_back(change.rate.value);
    }
  }
  return numbers;
}

RunRecord from_numbers(const std::vector<double>& numbers, const Plan& plan) {
  std::size_t at = 0;
  const auto next = [&] { return numbers.at(at++); };  // at(): throws where it is too short
  RunRecord record;
  record.flows_simulated = static_cast<std::int64_t>(next());
  record.lost.resize(static_cast<std::size_t>(next()));
  record.steps.resize(static_cast<std::size_t>(next()));
  for (char& letter : record.lost) letter = static_cast<char>(next());
  record.class_of.resize(static_cast<std::size_t>(plan.ranks()));
  for (std::size_t& its_class : record.class_of) its_class = static_cast<std::size_t>(next());
  for (auto& steps : record.steps) {
    steps.resize(plan.steps.size());
    for (Interval& interval : steps) {
      interval.start = Seconds{next()};
      interval.end = Seconds{next()};
    }
  }
  const auto next_text = [&] {
    std::string text(static_cast<std::size_t>(next()), ' ');
    for (char& letter : text) letter = static_cast<char>(next());
    return text;
  };
  record.links_note = next_text();
  record.links.resize(static_cast<std::size_t>(next()));
  for (LinkLoad& link : record.links) {
    link.name = next_text();
    link.changes.resize(static_cast<std::size_t>(next()));
    for (LoadChange& change : link.changes) {
      change.at = Seconds{next()};
      change.rate = {next()};
    }
  }
  if (at != numbers.size())
    throw std::logic_error("the SimGrid engine's answer has the wrong length");
  return record;
}

/// Runs in a process of its own, because SimGrid's clock, model and callbacks are process-wide, and
/// its checks abort.
RunRecord simulate_apart(decltype(SimgridModule::exact) play, const Plan& plan,
                         const Cluster& cluster, const World& world, const Observation& observation,
                         std::string engine) {
  RunRecord record = from_numbers(
      run_in_child("the SimGrid engine",
                   [&] { return to_numbers(play(plan, cluster, world, observation)); }),
      plan);
  record.engine = std::move(engine);
  return record;
}

}  // namespace

RunRecord run_simgrid_exact(const Plan& plan, const Cluster& cluster, const World& world,
                            const Observation& observation) {
  return simulate_apart(simgrid_module().exact, plan, cluster, world, observation, "simgrid-exact");
}

RunRecord run_simgrid_fluid(const Plan& plan, const Cluster& cluster, const World& world,
                            const Observation& observation) {
  require_observable(plan, observation);
  return simulate_apart(simgrid_module().fluid, plan, cluster, world, observation, "simgrid-fluid");
}

RunRecord run_simgrid(const Plan& plan, const Cluster& cluster, const World& world,
                      const Observation& observation) {
  const bool exact = usual_grain(plan, cluster, world) == Grain::Exact;
  return (exact ? run_simgrid_exact : run_simgrid_fluid)(plan, cluster, world, observation);
}

}  // namespace gradcast
