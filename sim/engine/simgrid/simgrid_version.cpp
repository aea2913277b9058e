#include "sim/engine/simgrid_version.hpp"

// clang-format off: version.h uses what base.h defines
#include <xbt/base.h>
#include <simgrid/version.h>
// clang-format on

namespace gradcast {
namespace {

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

SimgridVersion simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return {dotted(SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR, SIMGRID_VERSION_PATCH),
          dotted(major, minor, patch)};
}

}  // namespace gradcast
