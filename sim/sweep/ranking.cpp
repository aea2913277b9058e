#include "sim/sweep/ranking.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/verdict.hpp"

namespace gradcast {
namespace {

/// A compressor at a point.
struct Ranked {
  std::string name;
  double speedup = 0;
  Pays pays = Pays::CannotBeTold;
};

/// "powersgd 1.12".
std::string told(const Ranked& entry) { return entry.name + " " + fixed(entry.speedup, 2); }

std::string told(const std::vector<Ranked>& entries) {
  std::vector<std::string> words;
  for (const Ranked& entry : entries) words.push_back(told(entry));
  return words.empty() ? "-" : join(words);
}

std::string folded(const std::vector<Ranked>& entries) {
  if (entries.empty()) return "-";
  return std::to_string(entries.size()) + (entries.size() == 1 ? ": " : ", at best ") +
         told(entries.front());
}

}  // namespace

std::string sweep_ranking(const std::vector<std::string>& columns, const std::string& speedup,
                          const std::vector<Json>& rows) {
  std::vector<std::string> settings;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(settings),
               [](const std::string& column) { return column != "compressor"; });
  std::vector<std::vector<std::string>> order;
  std::map<std::vector<std::string>, std::vector<Ranked>> points;
  for (const Json& row : rows) {
    const auto pays = row.at("verdict").is_null() ? std::nullopt : pays_in(row.at("verdict"));
    if (!pays) continue;
    std::vector<std::string> point;
    for (const std::string& column : settings)
      point.push_back(row.contains(column) ? value_to_text(row.at(column)) : "");
    if (!points.contains(point)) order.push_back(point);
    points[point].push_back(
        {row.at("compressor").get<std::string>(), row.at(speedup).get<double>(), *pays});
  }
  TextTable table;
  table.header = settings;
  for (const Pays pays : {Pays::Yes, Pays::CannotBeTold, Pays::No})
    table.header.push_back(to_text(pays));
  for (const auto& point : order) {
    std::vector<Ranked>& entries = points[point];
    if (entries.size() <= kFewCompressors) continue;
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Ranked& a, const Ranked& b) { return a.speedup > b.speedup; });
    const auto with = [&](Pays pays) {
      std::vector<Ranked> some;
      std::copy_if(entries.begin(), entries.end(), std::back_inserter(some),
                   [&](const Ranked& entry) { return entry.pays == pays; });
      return some;
    };
    std::vector<std::string> line = point;
    line.push_back(told(with(Pays::Yes)));
    line.push_back(told(with(Pays::CannotBeTold)));
    line.push_back(folded(with(Pays::No)));
    table.rows.push_back(std::move(line));
  }
  if (table.rows.empty()) return "";
  return "\nCompressors by verdict, each with its speedup.\n\n" + to_text(table);
}

}  // namespace gradcast
