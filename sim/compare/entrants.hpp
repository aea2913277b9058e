// The entrants ranked in each set-up: every algorithm with every schedule that it ran with.
#pragma once
#include <string>
#include <vector>

#include "sim/compare/comparison.hpp"

namespace gradcast {

/// The runs of a set-up that are alike in all but their time, as one.
struct Entrant {
  std::string label;  // "topk", with what tells it apart within its set-up: "topk 0.01 merged"
  bool compressed = false;
  Seconds measured{0};  // means
  Seconds forecast{0};
};

struct SetupEntrants {
  ComparedRun setup;  // its first row
  std::vector<Entrant> entrants;
};

/// The entrants of each set-up, in the order of their first rows. Only rows that count enter, and
/// none that leaves the work of compressing out: nobody can choose to run that.
std::vector<SetupEntrants> entrants_of(const std::vector<ComparedRun>& runs);

}  // namespace gradcast
