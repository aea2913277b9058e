// Who is fastest, over NIC bandwidth and nodes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/contest.hpp"

namespace gradcast {

/// The result of one cell. Candidates are given by number.
struct Verdict {
  std::optional<std::size_t> winner;  // none: nobody has an answer
  std::optional<double> speedup_over_first{};
  std::string schedule{};        // of the winner
  std::string first_schedule{};  // of dense
  double margin = 0;             // by which share of its time the second takes longer
  std::optional<bool> sure{};    // beyond the forecasts' own error; not of physics alone
};

/// The first candidate, dense, wins ties. `sure`: the winner can be told apart from all others.
Verdict verdict_of(const std::vector<Forecast>& candidates);

/// The map, of physics and, where there are any, of fitted forecasts.
struct WinMap {
  std::string model;
  std::vector<std::string> candidates;  // the first is dense
  std::vector<int> nodes;
  std::vector<double> bandwidths;             // bits a second
  std::vector<std::vector<int>> workers;      // [nodes][bandwidth]
  std::vector<std::vector<Verdict>> physics;  // [nodes][bandwidth]
  std::vector<std::vector<Verdict>> fitted;   // empty: none
  std::string setting;                        // "resnet-50 on 10gbe-4x4, 4 GPUs a node"
  std::string software;
  std::string engine;
  std::vector<std::string> left_out{};  // of the fitted map: no run with them was fitted
};

/// One letter for each candidate, in their order: the first letter of its name that is still free.
std::vector<char> letters_of(const std::vector<std::string>& names);

/// The rows of cells as letters: lower case where unsure, '?' where there is no answer.
struct MapPicture {
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::vector<Verdict>> cells;  // [row][column]
};
std::string to_text(const MapPicture& picture, const std::vector<std::string>& names);

}  // namespace gradcast
