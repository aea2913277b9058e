// SimGrid's own replay of MPI calls: an independent answer to how long collectives take, with
// SimGrid's schedules of them.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/process.hpp"
#include "tests/temporary_folder.hpp"

namespace smpi {

/// Hosts on one switch, each by a full-duplex link.
struct Star {
  int hosts = 0;
  double bits_per_second = 0;
  double latency_seconds = 0;  // from host to host
};

/// Debian's libsimgrid-dev has it.
inline bool is_here() { return run_process({"sh", "-c", "command -v smpirun"}).exit_code == 0; }

/// MPI calls that all ranks make, one after another.
class Replay {
 public:
  /// `calls`: lines of a time-independent trace without their rank: "allreduce 1000 0 5" adds up
  /// 1000 floats (MPI datatype 5) and computes nothing, "allgather 1000 1000 5 5" gathers as many.
  Replay(const Star& star, const std::vector<std::string>& calls) : star_(star) {
    std::string hosts, trace;
    for (int rank = 0; rank < star.hosts; ++rank) {
      const std::string number = std::to_string(rank);
      hosts += "host" + number + "\n";
      trace += number + " init\n";
      for (const std::string& call : calls) trace += number + " " + call + "\n";
      trace += number + " finalize\n";
    }
    folder_.write("hosts", hosts);
    folder_.write("traces", folder_.write("trace", trace) + "\n");
    folder_.write("platform.xml",
                  "<?xml version='1.0'?>\n"
                  "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                  "<platform version=\"4.1\">\n"
                  "  <cluster id=\"cluster\" prefix=\"host\" suffix=\"\" radical=\"0-" +
                      std::to_string(star.hosts - 1) + "\" speed=\"1Gf\" bw=\"" +
                      std::to_string(star.bits_per_second) + "bps\" lat=\"" +
                      // of one of the two links between hosts
                      std::to_string(star.latency_seconds / 2 * 1e9) +
                      "ns\" sharing_policy=\"SPLITDUPLEX\"/>\n"
                      "</platform>\n");
  }

  /// Simulated seconds, to the microsecond, with SMPI's algorithms of these names: "allreduce:lr".
  /// Throws where it did not end.
  double seconds(const std::string& algorithm) const {
    const Ran ran = run_process(
        {"env", "-C", folder_.path.string(), "smpirun", "-np", std::to_string(star_.hosts),
         "-replay", "traces", "-hostfile", "hosts", "-platform", "platform.xml",
         // These are the settings of our own engine (sim/engine/simgrid/network.cpp). smpirun puts
         // its defaults before these, so that these count: no factors on latency and bandwidth, no
         // TCP window, nothing taken from the other direction.
         "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0", "--cfg=network/crosstraffic:no",
         // Nobody computes here, and hosts need not be calibrated.
         "--cfg=smpi/host-speed:1e9f", "--cfg=smpi/simulate-computation:no",
         "--cfg=smpi/" + algorithm,
         // The simulated time is logged as such.
         "--log=root.thres:error", "--log=smpi_replay.thres:info", "--log=smpi_replay.fmt:%r%n"});
    std::size_t read = 0;
    double seconds = 0;
    try {
      seconds = std::stod(ran.err, &read);
    } catch (const std::exception&) {
    }
    if (ran.exit_code != 0 || read == 0 || ran.err.substr(read) != "\n")
      throw std::runtime_error("smpirun exits with " + std::to_string(ran.exit_code) + ": " +
                               ran.err + ran.out);
    return seconds;
  }

 private:
  Star star_;
  TemporaryFolder folder_;
};

}  // namespace smpi
