// Compares the runs of a set-up: speedups, and whether the forecast ranks them as the measurement
// did.
#pragma once
#include <string>
#include <vector>

#include "sim/compare/comparison.hpp"

namespace gradcast {

/// Fills in the speedups over dense: over the run that was measured fastest among the dense runs of
/// the same set-up, whatever its schedule. Without compressing one would use that run. The
/// forecast speedup is that of the same two rows.
void add_speedups(std::vector<ComparedRun>& runs);

/// The speedup of one algorithm over another of the same set-up.
struct SpeedupPair {
  std::string source;
  std::string model;
  std::string compressor;  // with what tells it apart within its set-up: "topk 0.01"
  std::string over;
  double measured = 0;
  double predicted = 0;
};

/// For each set-up: the algorithm that was measured fastest, over each of the others (see
/// entrants_of).
std::vector<SpeedupPair> speedups_of_fastest(const std::vector<ComparedRun>& runs);

/// Two algorithms that the forecast puts in the wrong order.
struct SwappedPair {
  std::string faster;  // as measured
  std::string slower;
  double apart_percent = 0;  // measured: time of the slower one over the faster one's, minus 1
};

/// The algorithms of a set-up, fastest first.
struct Ranking {
  ComparedRun setup;  // its first row
  std::vector<std::string> measured;
  std::vector<std::string> forecast;
  std::vector<SwappedPair> swapped;

  bool right() const { return swapped.empty(); }
};

/// The ranking of each set-up with two entrants or more (see entrants_of). Those that are equally
/// fast, measured or forecast, have no order that could be wrong.
std::vector<Ranking> rankings_of(const std::vector<ComparedRun>& runs);

}  // namespace gradcast
