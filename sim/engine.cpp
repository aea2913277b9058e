#include "sim/engine.hpp"

namespace gradcast {

RunRecord run_simgrid(const Plan& plan, const Cluster& cluster);   // engine_simgrid.cpp
RunRecord run_analytic(const Plan& plan, const Cluster& cluster);  // engine_analytic.cpp

#ifdef GRADCAST_SIMGRID
#define WITH_SIMGRID(function) function
#else
#define WITH_SIMGRID(function) nullptr
#endif

std::span<const Engine> all_engines() {
  static constexpr Engine kEngines[] = {
      {"simgrid", "every message of every rank, simulated", WITH_SIMGRID(run_simgrid),
       "SimGrid (Debian: libsimgrid-dev, then configure with -DWITH_SIMGRID=ON)"},
      {"analytic", "closed form, no contention", run_analytic, ""},
  };
  return kEngines;
}

const Engine* find_engine(std::string_view name) {
  for (const Engine& engine : all_engines())
    if (engine.name == name) return &engine;
  return nullptr;
}

}  // namespace gradcast
