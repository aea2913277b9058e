// The answers of a build without SimGrid.
#include "sim/base/error.hpp"
#include "sim/engine/simgrid_platform.hpp"

namespace gradcast {

Cluster load_xml_cluster(const TextFile& file) {
  throw MissingError(file.path.string() +
                     ": this build lacks SimGrid, which reads platform files (Debian: "
                     "libsimgrid-dev, then configure with -DWITH_SIMGRID=ON)");
}

std::vector<std::string> simulated_route(const Cluster&, int, int) {
  throw MissingError("this build lacks SimGrid");
}

}  // namespace gradcast
