// The map of the fastest candidates, over NIC bandwidth and nodes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/contest.hpp"
#include "sim/forecast/verdict.hpp"

namespace gradcast {

/// The result of one cell. Candidates are given by number.
struct MapCell {
  std::optional<std::size_t> winner;  // none: nobody has an answer
  std::optional<double> speedup_over_first{};
  std::string schedule{};             // the winner's
  std::string first_schedule{};       // dense's
  double margin = 0;                  // share of the winner's time by which the second takes longer
  std::optional<bool> sure{};         // beyond the forecasts' own error; nullopt for physics alone
  std::optional<bool> family_sure{};  // one of the winner's family is the fastest
  /// Does any compressor pay over dense? None where dense or all of them have no answer.
  std::optional<Pays> pays{};
};

/// The first candidate, dense, wins ties. `sure`: the winner can be told apart from all others;
/// `family_sure`: from all of other families. `costs_known`: as pays_by has it.
MapCell cell_of(const std::vector<RunForecast>& candidates,
                const std::vector<std::string>& families, bool costs_known = true);

/// The map, of physics and, where there are any, of fitted forecasts.
struct WinMap {
  std::string model;
  std::vector<std::string> candidates;  // the first is dense
  std::vector<std::string> families;    // one per candidate: "dense", "sparsifiers"
  std::vector<int> nodes;
  std::vector<double> bandwidths;             // bits a second
  std::vector<std::vector<int>> workers;      // [nodes][bandwidth]
  std::vector<std::vector<MapCell>> physics;  // [nodes][bandwidth]
  std::vector<std::vector<MapCell>> fitted;   // empty: none
  std::string setting;                        // "resnet-50 on 10gbe-4x4, 4 GPUs a node"
  std::string software;
  std::string engine;
  std::vector<std::string> left_out{};  // no run with these was fitted; the fitted map lacks them

  /// Families compete, and at least one of them has several compressors: a letter for each of many
  /// would hide what a person decides first.
  bool by_family() const;
};

/// One letter for each candidate, in their order: the first letter of its name that is still free.
std::vector<char> letters_of(const std::vector<std::string>& names);

/// The rows of cells as letters: lower case where unsure, '?' where there is no answer.
struct MapPicture {
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::vector<MapCell>> cells;  // [row][column]
  std::vector<std::string> names;           // one per candidate; several may have one name
};
std::string to_text(const MapPicture& picture);

}  // namespace gradcast
