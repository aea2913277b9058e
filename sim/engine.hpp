// Engines turn a plan into times.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/plan.hpp"

namespace gradcast {

struct Interval {
  Seconds start{0};
  Seconds end{0};
};

/// When every rank did every step. A collective starts, for a rank, when that rank is ready for it.
struct RunRecord {
  std::vector<std::vector<Interval>> steps;  // [rank][step of the plan]
  std::int64_t flows_simulated = 0;          // messages that were really simulated
};

struct Engine {
  std::string_view name;
  std::string_view summary;
  /// nullptr where this build lacks what the engine needs; `needs` then says what.
  /// Throws std::exception rather than report a run that did not finish.
  RunRecord (*run)(const Plan& plan, const Cluster& cluster);
  std::string_view needs;
};

/// The default first.
std::span<const Engine> all_engines();

/// nullptr where there is none of that name.
const Engine* find_engine(std::string_view name);

}  // namespace gradcast
