// How far a long run is: one line on a terminal, redrawn.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

/// "40 s", "3 min", "2 h 5 min"
std::string about(Seconds time);

/// Time left, if a unit of the work to come takes as long as one of what is done; "" before
/// anything is. `work`: of each point, in any unit.
std::string time_left(std::size_t done, const std::vector<double>& work, Seconds used);

class Progress {
 public:
  /// `work`: as time_left's. `quiet`: never shown; else where standard error is a terminal.
  Progress(std::vector<double> work, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` are behind us, `what` is under way.
  void show(std::size_t done, const std::string& what);
  /// Takes the line away, before something else is printed.
  void clear();

 private:
  std::vector<double> work_;
  bool shown_;
  bool drawn_ = false;
  double begin_;
};

}  // namespace gradcast
