#include "sim/calibration/summary.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "sim/base/table.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

std::string shown_parameter(double parameter) {
  return parameter == 0 ? "" : number_to_text(parameter);
}

}  // namespace

Answer summary_of(const CostFile& file, const std::vector<CalibrationPoint>& points) {
  std::set<std::string> asked;
  for (const CalibrationPoint& point : points)
    for (const CostRow& row : rows_of(point, nullptr)) asked.insert(key_of(row));
  struct Range {
    std::size_t points = 0;
    CostRow least, most;
  };
  using Key = std::tuple<std::string, std::string, std::string, double, double, std::string>;
  std::vector<Key> order;
  std::map<Key, Range> ranges;
  for (const CostRow& row : file.rows()) {
    if (!asked.contains(key_of(row)) || row.workers != points[0].call.workers[0]) continue;
    const Key key{row.compressor, row.mode,    row.implementation,
                  row.parameter,  row.density, row.distribution};
    if (!ranges.contains(key)) order.push_back(key);
    Range& range = ranges[key];
    if (range.points == 0 || row.elements < range.least.elements) range.least = row;
    if (range.points == 0 || row.elements > range.most.elements) range.most = row;
    ++range.points;
  }
  TextTable table{{"compressor", "mode", "implementation", "parameter", "density", "distribution",
                   "points", "elements from", "encode us", "to", "encode us", "selected"},
                  {}};
  Answer answer;
  for (const Key& key : order) {
    const Range& range = ranges.at(key);
    const auto& [compressor, mode, implementation, parameter, density, distribution] = key;
    table.rows.push_back(
        {compressor, mode, implementation, shown_parameter(parameter), number_to_text(density),
         distribution, std::to_string(range.points), std::to_string(range.least.elements),
         fixed(1e6 * range.least.encode.count(), 1), std::to_string(range.most.elements),
         fixed(1e6 * range.most.encode.count(), 1),
         number_to_text(rounded_to(6, range.most.selected))});
    answer.rows.push_back({{"compressor", compressor},
                           {"mode", mode},
                           {"implementation", implementation},
                           {"parameter", parameter == 0 ? Json() : Json(parameter)},
                           {"density", density},
                           {"distribution", distribution},
                           {"points", range.points},
                           {"least_elements", range.least.elements},
                           {"least_encode_seconds", range.least.encode.count()},
                           {"most_elements", range.most.elements},
                           {"most_encode_seconds", range.most.encode.count()},
                           {"most_selected", range.most.selected}});
  }
  answer.table = to_text(table);
  answer.summary = {{"file", file.path().string()}, {"rows", file.rows().size()}};
  return answer;
}

}  // namespace gradcast
