// A build without SimGrid has none.
#include "sim/engine/simgrid_version.hpp"

namespace gradcast {

SimgridVersion simgrid_version() { return {}; }

}  // namespace gradcast
