#include "sim/version.hpp"

namespace gradcast {

std::string version_and_commit() { return GRADCAST_VERSION; }

}  // namespace gradcast
