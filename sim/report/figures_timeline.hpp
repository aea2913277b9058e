// A timeline as a figure: the slices of each lane of a rank.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/report/figure.hpp"

namespace gradcast {

struct LaneSlice {
  std::string_view name;   // "backward layer4.2.conv3"
  std::string_view phase;  // "backward": the colour
  Seconds begin;
  Seconds end;
};

struct Lane {
  int rank;
  std::string name;  // "compute", "codec", "network"
  std::vector<LaneSlice> slices;
};

/// One panel for ranks that look alike, and at most four panels. Without slices the figure has no
/// panels.
Figure lanes_figure(const std::vector<Lane>& lanes);

}  // namespace gradcast
