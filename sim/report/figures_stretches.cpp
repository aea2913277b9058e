// The parts of a range where compression pays: a lane for each question of `breakeven`, a slice for
// each verdict.
#include <algorithm>
#include <charconv>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/verdict.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

constexpr const char* kBandwidth = "nic-bandwidth";

/// "2.47Gbps" is 2.47, "16" is 16; 0 for any other text.
double place_of(const std::string& over, const std::string& text) {
  if (over == kBandwidth) return bits_per_second_of(text) / 1e9;
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string axis_label(const std::string& over) {
  if (over == kBandwidth) return "NIC bandwidth (Gb/s)";
  if (over == "kernel-cost") return "kernel cost, as a multiple of the table's";
  return over;
}

struct Stretch {
  std::string from;
  std::string to;
};

/// Reads "1Gbps..2.47Gbps; 40Gbps..400Gbps".
std::vector<Stretch> stretches_in(const std::string& text) {
  std::vector<Stretch> stretches;
  for (std::string part : split_words(text, ';')) {
    part.erase(0, std::min(part.size(), part.find_first_not_of(' ')));
    const std::size_t dots = part.find("..");
    if (dots != std::string::npos)
      stretches.push_back({part.substr(0, dots), part.substr(dots + 2)});
  }
  return stretches;
}

void add_lane(Figure& figure, const Json& row, const std::string& lane) {
  const std::string over = text_of(row, "over");
  FigurePanel& panel = figure.panels.front();
  for (const auto& [column, pays] : {std::pair{"surely_pays", Pays::Yes},
                                     {"cannot_be_told", Pays::CannotBeTold},
                                     {"surely_does_not_pay", Pays::No}})
    for (const Stretch& stretch : stretches_in(text_of(row, column))) {
      FigurePoint slice;
      slice.x = place_of(over, stretch.from);
      slice.until = place_of(over, stretch.to);
      slice.y_text = lane;
      slice.text = to_text(pays);
      slice.label = lane + ": " + slice.text + " from " + stretch.from + " to " + stretch.to;
      if (!(slice.x > 0) || !(slice.until > slice.x)) continue;
      series_named(panel, slice.text).points.push_back(slice);
      figure.table.rows.push_back({lane, stretch.from, stretch.to, slice.text});
    }
}

}  // namespace

std::vector<Figure> stretch_figures(const ResultFile& breakeven) {
  std::vector<Figure> figures;
  std::vector<std::string> overs;
  std::vector<std::string> lanes;  // a question has a row for each estimate and break-even
  const bool models =
      std::any_of(breakeven.rows.begin(), breakeven.rows.end(), [&](const Json& row) {
        return text_of(row, "model") != text_of(breakeven.rows.front(), "model");
      });
  for (const Json& row : breakeven.rows) {
    const std::string over = text_of(row, "over");
    auto known = std::find(overs.begin(), overs.end(), over);
    if (known == overs.end()) {
      Figure figure{"stretches",
                    FigureKind::Lanes,
                    "Where compression pays",
                    "",
                    {axis_label(over), AxisScale::Log10},
                    {"", AxisScale::Category}};
      figure.table.header = {"compressor", "from", "to", "verdict"};
      figure.panels.push_back({});
      figures.push_back(std::move(figure));
      overs.push_back(over);
      known = overs.end() - 1;
    }
    const std::string lane =
        (models ? text_of(row, "model") + ", " : "") + text_of(row, "compressor");
    if (std::find(lanes.begin(), lanes.end(), over + lane) != lanes.end()) continue;
    lanes.push_back(over + lane);
    add_lane(figures[static_cast<std::size_t>(known - overs.begin())], row, lane);
  }
  std::erase_if(figures, [](const Figure& figure) { return figure.panels.front().series.empty(); });
  for (Figure& figure : figures)
    figure.summary =
        "The verdict along the range. Where it cannot be told, the two times differ by less than "
        "the forecast's error.";
  return figures;
}

}  // namespace gradcast
