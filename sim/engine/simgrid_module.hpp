// SimGrid, opened at run time. Its code (the folder simgrid/) is a module beside the program,
// because loading SimGrid takes longer than most commands: this program starts without it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"

namespace gradcast {

/// "3.32.0"; both "" where there is no SimGrid.
struct SimgridVersion {
  std::string compiled_with;
  std::string running;
};

/// The functions of the module. All but `version` leave SimGrid's process-wide state behind, and
/// its checks abort: call them in a child process (run_in_child). Their exceptions are caught there
/// by the types of this program.
struct SimgridModule {
  SimgridVersion (*version)();
  /// Play a plan, in either grain. The record has no name of an engine.
  RunRecord (*exact)(const Plan& plan, const Cluster& cluster, const World& world,
                     const Observation& observation);
  RunRecord (*fluid)(const Plan& plan, const Cluster& cluster, const World& world,
                     const Observation& observation);
  /// The speed of each host of the cluster's platform file. Calls `about_to_try` with two hosts
  /// before it asks SimGrid for a route between them, because SimGrid may die of that.
  std::vector<double> (*speeds)(
      const Cluster& cluster,
      const std::function<void(const std::string& from, const std::string& to)>& about_to_try);
  /// The links that a message passes, by their names in the topology.
  std::vector<std::string> (*route)(const Cluster& cluster, int from, int to);
};

/// Opens the module at the first call. May be called by several threads at once. Throws
/// MissingError if this build lacks SimGrid, or if the module or SimGrid itself is not there.
const SimgridModule& simgrid_module();

/// Opens the module too; answers with empty texts if it is not there.
SimgridVersion simgrid_version();

}  // namespace gradcast

/// The only function that the module exports.
extern "C" const gradcast::SimgridModule* gradcast_simgrid();
