#include "sim/breakeven/answer.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "sim/answers/document.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/breakeven/finding.hpp"
#include "sim/breakeven/quantity.hpp"
#include "sim/breakeven/sentences.hpp"

namespace gradcast {
namespace {

std::string open_ends(const Stretch& interval) {
  if (interval.low_open && interval.high_open) return "both";
  return interval.low_open ? "low" : interval.high_open ? "high" : "";
}

/// "1Gbps..1.9Gbps; 40Gbps..400Gbps": where the verdict is this one.
std::string stretches_text(const Told& told, Pays pays) {
  std::vector<std::string> parts;
  for (const VerdictStretch& stretch : verdicts_of(told))
    if (stretch.pays == pays)
      parts.push_back(value_text(told.over, stretch.from) + ".." +
                      value_text(told.over, stretch.to));
  return join(parts, "; ");
}

/// The columns that are the same in all rows of an answer, around those of the root.
Json row_with(const Answered& answered, const Finding& finding, bool fitted,
              const BreakEven* root) {
  const Told& told = answered.told;
  const auto text = [&](double value) { return Json(value_text(told.over, value)); };
  const bool interval = root != nullptr && root->interval.has_value();
  Json row;
  row["model"] = answered.model;
  row["compressor"] = told.compressor;
  row["against"] = told.against;
  row["schedules"] = join(finding.schedules, "; ");
  row["against_schedules"] = join(finding.against_schedules, "; ");
  row["over"] = to_text(told.over);
  row["estimate"] = fitted ? "fitted" : "physics";
  row["finding"] = root != nullptr          ? "root"
                   : !finding.pays_at_start ? "no answer"
                   : *finding.pays_at_start ? "pays throughout"
                                            : "never pays";
  row["at"] = root != nullptr ? text(root->at) : Json();
  row["at_low"] = interval ? text(root->interval->low) : Json();
  row["at_high"] = interval ? text(root->interval->high) : Json();
  row["pays"] = root != nullptr ? Json(root->pays_above ? "above" : "below") : Json();
  row["from"] = text(finding.range.from);
  row["to"] = text(finding.range.to);
  row["open"] = interval ? Json(open_ends(*root->interval)) : Json();
  row["checked"] = root != nullptr ? Json(root->unchecked.empty() ? "yes" : "no") : Json();
  const bool unsure = root == nullptr && !finding.unsure.empty();
  row["unsure_from"] = unsure ? text(finding.unsure.front().low) : Json();
  row["unsure_to"] = unsure ? text(finding.unsure.back().high) : Json();
  for (const auto& [column, pays] : {std::pair{"surely_pays", Pays::Yes},
                                     {"surely_does_not_pay", Pays::No},
                                     {"cannot_be_told", Pays::CannotBeTold}})
    row[column] = stretches_text(told, pays);
  row["measure"] = measure_of(told);
  row["outside_seen"] = finding.outside_seen;
  for (const auto& [name, value] : answered.setting) row[name] = value;
  row["software"] = fitted ? Json(told.software) : Json();
  row["costs_fitted"] = fitted ? Json(told.unfitted.empty() ? "yes" : "no") : Json();
  row["evidence"] = finding.evidence;
  row["outside"] = finding.outside;
  row["unanswered"] = finding.unanswered;
  row["problem"] = root != nullptr && !root->unchecked.empty() ? root->unchecked : finding.problem;
  row["forecasts"] = finding.forecasts;
  row["engine"] = finding.engine;
  return row;
}

void add_rows(std::vector<Json>& rows, const Answered& answered, const Finding& finding,
              bool fitted) {
  if (finding.roots.empty()) rows.push_back(row_with(answered, finding, fitted, nullptr));
  for (const BreakEven& root : finding.roots)
    rows.push_back(row_with(answered, finding, fitted, &root));
}

std::string whole_percent(double share) { return fixed(100 * share, 0) + " %"; }

/// Number of cells that each name won, the most first. Ties keep the order of the names.
std::vector<std::pair<std::string, std::size_t>> most_first(
    const std::vector<std::string>& names, const std::map<std::string, std::size_t>& won) {
  std::vector<std::pair<std::string, std::size_t>> order;
  for (const std::string& name : names) {
    const auto found = won.find(name);
    if (found == won.end()) continue;
    const std::pair<std::string, std::size_t> counted(name, found->second);
    if (std::find(order.begin(), order.end(), counted) == order.end()) order.push_back(counted);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return order;
}

/// "gaussian in 50 of 77 cells, dense in 27". With families: "quantisers in 50 of 77 cells (signsgd
/// 30, int8 20), dense in 27".
std::string shares_of(const WinMap& map, const std::vector<std::vector<MapCell>>& cells) {
  const bool by_family = map.by_family();
  const std::vector<std::string>& names = by_family ? map.families : map.candidates;
  std::map<std::string, std::size_t> won;
  std::map<std::string, std::map<std::string, std::size_t>> within;
  std::size_t all = 0;
  std::size_t unsure = 0;
  for (const auto& row : cells)
    for (const MapCell& cell : row) {
      ++all;
      if (!cell.winner) continue;
      ++won[names[*cell.winner]];
      ++within[names[*cell.winner]][map.candidates[*cell.winner]];
      if (!(by_family ? cell.family_sure : cell.sure).value_or(true)) ++unsure;
    }
  std::vector<std::string> words;
  for (const auto& [name, cells_won] : most_first(names, won)) {
    std::string word = name + " in " + std::to_string(cells_won) +
                       (words.empty() ? " of " + std::to_string(all) + " cells" : "");
    std::vector<std::string> members;
    for (const auto& [member, of_these] : most_first(map.candidates, within[name]))
      members.push_back(member + " " + std::to_string(of_these));
    if (by_family && name != "dense") word += " (" + join(members) + ")";
    words.push_back(word);
  }
  std::string text = words.empty() ? "nobody has an answer" : join(words);
  if (unsure > 0)
    text += "; in " + std::to_string(unsure) + " of all it cannot be told whether another " +
            (by_family ? "family" : "one") + " is faster";
  return text;
}

/// The map's picture. If families compete, its letters are those of the families.
MapPicture picture_of(const WinMap& map, const std::vector<std::vector<MapCell>>& cells) {
  MapPicture picture;
  picture.names = map.by_family() ? map.families : map.candidates;
  picture.cells = cells;
  if (map.by_family())
    for (std::vector<MapCell>& row : picture.cells)
      for (MapCell& cell : row) cell.sure = cell.family_sure;
  for (const double bandwidth : map.bandwidths)
    picture.columns.push_back(value_text(Quantity::NicBandwidth, bandwidth));
  for (std::size_t row = 0; row < map.nodes.size(); ++row)
    picture.rows.push_back(std::to_string(map.nodes[row]) +
                           (map.nodes[row] == 1 ? " node" : " nodes"));
  return picture;
}

}  // namespace

std::vector<Json> rows_of(const Answered& answered) {
  std::vector<Json> rows;
  add_rows(rows, answered, answered.told.physics, false);
  if (answered.told.fitted) add_rows(rows, answered, *answered.told.fitted, true);
  return rows;
}

std::string breakeven_table(const std::vector<Answered>& all) {
  std::string text;
  TextTable table{{"verdict", "compressor", "against", "from", "to"}, {}};
  for (const Answered& answered : all) {
    const Told& told = answered.told;
    for (const std::string& sentence : sentences_of(told)) text += sentence + "\n";
    text += "\n";
    for (const VerdictStretch& stretch : verdicts_of(told))
      table.rows.push_back({to_text(stretch.pays), told.compressor, told.against,
                            value_text(told.over, stretch.from),
                            value_text(told.over, stretch.to)});
  }
  return table.rows.empty() ? text : text + to_text(table);
}

std::vector<Json> map_rows(const WinMap& map) {
  std::vector<Json> rows;
  const auto rounded = [](double value) { return Json(rounded_to(6, value)); };
  for (std::size_t i = 0; i < map.nodes.size(); ++i)
    for (std::size_t j = 0; j < map.bandwidths.size(); ++j) {
      Json row;
      row["model"] = map.model;
      row["nodes"] = map.nodes[i];
      row["workers"] = map.workers[i][j];
      row["nic_bandwidth"] = value_text(Quantity::NicBandwidth, map.bandwidths[j]);
      const auto add = [&](const std::string& prefix, const MapCell& cell) {
        const bool some = cell.winner.has_value();
        row[prefix + "winner"] = some ? Json(map.candidates[*cell.winner]) : Json();
        row[prefix + "winner_family"] = some ? Json(map.families[*cell.winner]) : Json();
        row[prefix + "speedup_over_dense"] =
            some && cell.speedup_over_first ? rounded(*cell.speedup_over_first) : Json();
        row[prefix + "schedule"] = some ? Json(cell.schedule) : Json();
        row[prefix + "dense_schedule"] = some ? Json(cell.first_schedule) : Json();
        row[prefix + "margin_percent"] = some ? rounded(100 * cell.margin) : Json();
      };
      const bool software = !map.fitted.empty();
      const MapCell& physics = map.physics[i][j];
      const MapCell& answer = software ? map.fitted[i][j] : physics;
      add("", answer);
      add("physics_", physics);
      const auto said = [&](std::optional<bool> MapCell::*which) {
        const bool some = software && answer.winner && answer.*which;
        return some ? Json(*(answer.*which) ? "yes" : "no") : Json();
      };
      row["verdict"] = answer.pays ? Json(to_text(*answer.pays)) : Json();
      row["sure"] = said(&MapCell::sure);
      row["family_sure"] = said(&MapCell::family_sure);
      row["agree"] = software ? Json(answer.winner == physics.winner ? "yes" : "no") : Json();
      row["engine"] = map.engine;
      rows.push_back(row);
    }
  return rows;
}

std::vector<std::string> map_sentences(const WinMap& map) {
  const auto& judged = map.fitted.empty() ? map.physics : map.fitted;
  std::map<Pays, std::size_t> counted;
  std::size_t cells = 0;
  for (const auto& row : judged)
    for (const MapCell& cell : row) {
      ++cells;
      if (cell.pays) ++counted[*cell.pays];
    }
  std::vector<std::string> sentences{
      map.setting + ": compressing surely pays in " + std::to_string(counted[Pays::Yes]) + " of " +
      std::to_string(cells) + " cells, surely does not pay in " +
      std::to_string(counted[Pays::No]) + ", and in " +
      std::to_string(counted[Pays::CannotBeTold]) + " it cannot be told" +
      (map.fitted.empty() ? " by physics alone" : "") + "."};
  const std::string physics =
      "By physics alone the fastest is " + shares_of(map, map.physics) + ".";
  if (map.fitted.empty()) {
    sentences.push_back(physics);
    return sentences;
  }
  sentences.push_back("By the forecast with software (" + map.software + ") the fastest is " +
                      shares_of(map, map.fitted) + ".");
  sentences.push_back(physics);
  if (!map.left_out.empty())
    sentences.push_back("No run with " + std::string(map.left_out.size() > 2 ? "any of " : "") +
                        join(map.left_out, map.left_out.size() > 2 ? ", " : " or ") +
                        " was fitted: the fitted map leaves them out, or they would win by what is "
                        "not known of their software.");
  std::size_t all = 0;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < map.physics.size(); ++i)
    for (std::size_t j = 0; j < map.physics[i].size(); ++j) {
      ++all;
      if (map.physics[i][j].winner != map.fitted[i][j].winner) ++differ;
    }
  sentences.push_back(
      differ == 0
          ? "Both name the same winner in every cell."
          : "The two name different winners in " + std::to_string(differ) + " of " +
                std::to_string(all) + " cells (" +
                whole_percent(static_cast<double>(differ) / static_cast<double>(all)) + ").");
  return sentences;
}

std::string map_table(const WinMap& map) {
  std::string text;
  for (const std::string& sentence : map_sentences(map)) text += sentence + "\n";
  if (!map.fitted.empty())
    text += "\nwith software (" + map.software + ")\n" + to_text(picture_of(map, map.fitted));
  return text + "\nphysics alone\n" + to_text(picture_of(map, map.physics));
}

Answer breakeven_answer(const std::vector<Answered>& answers, const std::optional<WinMap>& map,
                        Format format) {
  Answer answer;
  std::vector<std::string> sentences;
  for (const Answered& answered : answers) {
    for (const Json& row : rows_of(answered)) answer.rows.push_back(row);
    const auto said = sentences_of(answered.told);
    sentences.insert(sentences.end(), said.begin(), said.end());
  }
  if (!answers.empty()) answer.table = breakeven_table(answers);
  if (map) {
    const auto said = map_sentences(*map);
    sentences.insert(sentences.end(), said.begin(), said.end());
    answer.more["map"] = map_rows(*map);
    if (format == Format::Csv) answer.rows = map_rows(*map);
    answer.table += (answers.empty() ? "" : "\n") + map_table(*map);
  }
  answer.summary["sentences"] = sentences;
  return answer;
}

std::string engines_of(const std::vector<Answered>& answers, const std::optional<WinMap>& map) {
  std::set<std::string> engines;
  for (const Answered& answered : answers) {
    engines.insert(answered.told.physics.engine);
    if (answered.told.fitted) engines.insert(answered.told.fitted->engine);
  }
  if (map) engines.insert(map->engine);
  engines.erase("");
  return join({engines.begin(), engines.end()});
}

}  // namespace gradcast
