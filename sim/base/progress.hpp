// Shows the progress of a long run: one line on a terminal, redrawn.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

/// "40 s", "3 min", "2 h 5 min"
std::string about(Seconds time);

/// The time left, if the remaining work takes as long per unit as the work that is done; "" before
/// any is done. `work`: the work of each point, in any unit.
std::string time_left(std::size_t done, const std::vector<double>& work, Seconds used);

class Progress {
 public:
  /// `work`: as in time_left. The line is shown where standard error is a terminal; with `quiet`
  /// never. The thread's caller is told in any case.
  Progress(std::vector<double> work, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` points are done, and `what` is under way. `left`: the time left, if it is known.
  void show(std::size_t done, const std::string& what, std::optional<Seconds> left = {});
  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  std::vector<double> work_;
  bool shown_;
  bool drawn_ = false;
  double begin_;
};

}  // namespace gradcast
