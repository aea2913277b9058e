// Break-evens and maps as tables, rows and JSON.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/breakeven/sentences.hpp"
#include "sim/breakeven/win_map.hpp"

namespace gradcast {

/// One compressor's question, with its answers.
struct Answered {
  Told told;
  std::string model;
  std::vector<std::pair<std::string, Json>> setting;  // columns that say what was run
};

/// Flat rows: one a root; one where there is none; physics first.
std::vector<Json> rows_of(const Answered& answered);

/// Sentences, then the table of all roots.
std::string breakeven_table(const std::vector<Answered>& all);

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

std::vector<Json> map_rows(const WinMap& map);
std::vector<std::string> map_sentences(const WinMap& map);
std::string map_table(const WinMap& map);

}  // namespace gradcast
