// Engines turn a plan into times.
#pragma once
#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/interval_set.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/world.hpp"
#include "sim/network/link_load.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast {

/// The times at which every rank did every step. For each rank, a collective starts when that rank
/// is ready for it.
struct RunRecord {
  /// [class][step of the plan]: ranks that behave alike are one class, which is simulated once.
  std::vector<std::vector<Interval>> steps;
  std::vector<std::size_t> class_of;  // by rank; empty: each rank is a class
  std::int64_t flows_simulated = 0;   // messages, or in the fluid grain what stood for several
  std::string engine;                 // that ran it
  std::string lost;                   // why the run never ended; "" where it did
  std::vector<LinkLoad> links;        // where they were observed, those that carried anything
  std::string links_note;             // how their loads were thinned; "" where they were not

  const std::vector<Interval>& of_rank(std::size_t rank) const {
    return steps[class_of.empty() ? rank : class_of[rank]];
  }

  Seconds end() const {
    Seconds latest{0};
    for (const std::vector<Interval>& its : steps)
      for (const Interval& step : its) latest = std::max(latest, step.end);
    return latest;
  }
};

/// Records of a run besides the times of steps. They change no time.
struct Observation {
  bool links = false;            // what they carry; the analytic engine has none
  std::filesystem::path paje{};  // SimGrid writes its own trace there; "" for none
};

struct Engine {
  std::string_view name;
  std::string_view summary;
  /// nullptr where this build lacks what the engine needs; `needs` then says what.
  RunRecord (*play)(const Plan& plan, const Cluster& cluster, const World& world,
                    const Observation& observation);
  std::string_view needs;
  /// Reason why the engine cannot run this, and which one can; "" if it can.
  std::string (*refusal)(const Plan& plan, const Cluster& cluster, const World& world);

  /// The fluid engine, if this one chooses between an exact and a fluid one; else "".
  std::string_view fluid;
  /// Whether several of its runs may go on at the same time in threads. SimGrid's may not.
  bool in_threads;

  bool built() const { return play != nullptr; }
  /// Throws std::exception rather than report a run that did not finish; ValueError for what it
  /// refuses, MissingError where it is not built.
  RunRecord run(const Plan& plan, const Cluster& cluster, const World& world = {},
                const Observation& observation = {}) const;
};

/// All engines, the default first.
std::span<const Engine> all_engines();

/// Whether the engine of that name, as a record has it, simulates phases in place of messages.
bool is_fluid(std::string_view engine);

/// nullptr where there is none of that name.
const Engine* find_engine(std::string_view name);

}  // namespace gradcast
