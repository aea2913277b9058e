// The version of SimGrid, for files that do not include SimGrid.
#pragma once
#include <string>

namespace gradcast {

/// "3.32.0"; both "" in a build without SimGrid.
struct SimgridVersion {
  std::string compiled_with;
  std::string running;
};

SimgridVersion simgrid_version();

}  // namespace gradcast
