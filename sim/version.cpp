#include "sim/version.hpp"

#include "sim/build_commit.hpp"

namespace gradcast {

std::string version_and_commit() {
  const std::string commit = build_commit();
  return GRADCAST_VERSION + (commit.empty() ? "" : " (" + commit + ")");
}

}  // namespace gradcast
