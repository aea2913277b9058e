#include "sim/engine/simgrid_platform.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "sim/base/child_process.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/platform_size.hpp"
#include "sim/engine/simgrid_module.hpp"

namespace gradcast {
namespace {

/// The hosts whose route a child is about to ask SimGrid for, readable after it died of that.
class TriedPair {
 public:
  TriedPair()
      : memory_(::mmap(nullptr, sizeof(Names), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~TriedPair() { ::munmap(memory_, sizeof(Names)); }
  TriedPair(const TriedPair&) = delete;
  TriedPair& operator=(const TriedPair&) = delete;

  void set(const std::string& from, const std::string& to) {
    std::strncpy(names().from, from.c_str(), sizeof names().from - 1);
    std::strncpy(names().to, to.c_str(), sizeof names().to - 1);
  }
  bool any() { return names().from[0] != '\0'; }
  std::string from() { return names().from; }
  std::string to() { return names().to; }

 private:
  struct Names {
    char from[128];
    char to[128];
  };
  Names& names() { return *static_cast<Names*>(memory_); }  // zeros, as it comes

  void* memory_;
};

/// SimGrid would change the link under way, and the latency is not SimGrid's.
void require_fixed_latencies(const TextFile& file) {
  for (const std::string_view word : {"latency_file", "\"LATENCY\""})
    if (const std::size_t at = file.content.find(word); at != std::string::npos)
      throw DataError(file.path.string(),
                      1 + static_cast<std::size_t>(std::count(
                              file.content.begin(),
                              file.content.begin() + static_cast<std::ptrdiff_t>(at), '\n')),
                      "latencies that change with time are not simulated");
}

std::vector<double> speeds_in_child(const Cluster& cluster, TriedPair& tried) {
  const std::string path = cluster.platform_file.string();
  try {
    const SimgridModule& simgrid = simgrid_module();
    return run_in_child("SimGrid", [&] {
      return simgrid.speeds(cluster,
                            [&](const auto& from, const auto& to) { tried.set(from, to); });
    });
  } catch (const MissingError& error) {
    throw MissingError(path + ": SimGrid reads platform files, and " + error.what());
  } catch (const Error&) {  // a line of the file, or this machine
    throw;
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    if (tried.any())
      throw DataError(path, 0,
                      "host '" + tried.from() + "' has no route to host '" + tried.to() + "'");
    throw DataError(path, 0, "SimGrid cannot read this platform: " + what);
  }
}

}  // namespace

Cluster load_xml_cluster(const TextFile& file) {
  require_regular(file.path);  // SimGrid reads it again
  require_small_platform(file);
  require_fixed_latencies(file);
  Cluster cluster;
  cluster.platform_file = file.path;
  cluster.name = file.path.stem().string();
  TriedPair tried;
  const std::vector<double> speeds = speeds_in_child(cluster, tried);
  cluster.nodes = static_cast<int>(speeds.size());
  for (std::size_t first = 0, next = 0; first < speeds.size(); first = next) {
    while (next < speeds.size() && speeds[next] == speeds[first]) ++next;
    if (speeds[first] != 1)
      cluster.add_override({"compute_speed", static_cast<int>(first), static_cast<int>(next) - 1,
                            number_to_text(speeds[first])});
  }
  return cluster;
}

std::vector<std::string> simulated_route(const Cluster& cluster, int from, int to) {
  // Only numbers come back from a child: the letters of the names.
  const SimgridModule& simgrid = simgrid_module();
  const std::vector<double> letters = run_in_child("SimGrid", [&] {
    const std::string joined = join(simgrid.route(cluster, from, to), " ");
    return std::vector<double>(joined.begin(), joined.end());
  });
  return split_words(std::string(letters.begin(), letters.end()), ' ');
}

}  // namespace gradcast
