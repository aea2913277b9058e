#include "sim/answers/version.hpp"

#include "sim/answers/build_commit.hpp"

namespace gradcast {

std::string program_version() { return GRADCAST_VERSION; }

std::string version_and_commit() {
  const std::string commit = build_commit();
  return program_version() + (commit.empty() ? "" : " (" + commit + ")");
}

}  // namespace gradcast
