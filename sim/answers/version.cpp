#include "sim/answers/version.hpp"

namespace gradcast {

std::string program_version() { return GRADCAST_VERSION; }

std::string version_and_commit() {
  const std::string commit = build_commit();
  return program_version() + (commit.empty() ? "" : " (" + commit + ")");
}

// scripts/build_commit.cmake writes build_commit.inc: one line with the text in quotes.
std::string build_commit() {
  return
#include "build_commit.inc"
      ;
}

}  // namespace gradcast
