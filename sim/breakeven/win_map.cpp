#include "sim/breakeven/win_map.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

char upper(char letter) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
}

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

}  // namespace

bool WinMap::by_family() const {
  const std::set<std::string> different(families.begin(), families.end());
  return different.size() > 2 && different.size() < families.size();
}

MapCell cell_of(const std::vector<RunForecast>& candidates,
                const std::vector<std::string>& families, bool costs_known) {
  MapCell cell{std::nullopt};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].answered()) continue;
    if (!cell.winner || *advantage(candidates[i], candidates[*cell.winner]) > 0) cell.winner = i;
  }
  if (!cell.winner) return cell;
  const RunForecast& best = candidates[*cell.winner];
  std::optional<double> second;  // log of its time over the winner's
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::optional<double> behind = advantage(best, candidates[i]);
    if (i == *cell.winner || !behind) continue;
    if (!second || *behind < *second) second = behind;
    const auto lack = lack_of_difference(best, candidates[i]);
    if (!lack) continue;
    cell.sure = cell.sure.value_or(true) && *lack <= 0;
    if (families[i] != families[*cell.winner])
      cell.family_sure = cell.family_sure.value_or(true) && *lack <= 0;
  }
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (!candidates[i].answered() || !candidates[0].answered()) continue;
    const Pays pays = pays_by(speedup_of(candidates[i], candidates[0]), costs_known);
    cell.pays = either_of(cell.pays.value_or(Pays::No), pays);
  }
  cell.schedule = best.schedule;
  cell.first_schedule = candidates[0].schedule;
  cell.margin = second ? std::expm1(std::max(0.0, *second)) : 0;
  if (!candidates.empty() && candidates[0].answered())
    cell.speedup_over_first = candidates[0].iteration / best.iteration;
  return cell;
}

std::vector<char> letters_of(const std::vector<std::string>& names) {
  std::vector<char> letters(names.size(), 0);
  std::set<char> taken;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (taken.insert(upper(names[i][0])).second) letters[i] = upper(names[i][0]);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (letters[i] != 0) continue;
    std::string choice = names[i] + "abcdefghijklmnopqrstuvwxyz";
    const auto free = std::find_if(choice.begin(), choice.end(), [&](char letter) {
      return std::isalpha(static_cast<unsigned char>(letter)) && taken.count(upper(letter)) == 0;
    });
    letters[i] = free == choice.end() ? '*' : upper(*free);
    taken.insert(letters[i]);
  }
  return letters;
}

std::string to_text(const MapPicture& picture) {
  std::vector<std::string> names;  // each once
  const auto number_of = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (const std::string& name : picture.names)
    if (number_of(name) == names.size()) names.push_back(name);
  const std::vector<char> letters = letters_of(names);
  TextTable table;
  table.header = {""};
  table.header.insert(table.header.end(), picture.columns.begin(), picture.columns.end());
  bool unsure = false;
  bool unanswered = false;
  std::set<std::size_t> winners;
  for (std::size_t row = 0; row < picture.rows.size(); ++row) {
    std::vector<std::string> line{picture.rows[row]};
    for (const MapCell& cell : picture.cells[row]) {
      char letter = '?';
      unanswered = unanswered || !cell.winner;
      if (cell.winner) {
        const std::size_t winner = number_of(picture.names[*cell.winner]);
        winners.insert(winner);
        const bool small = cell.sure.has_value() && !*cell.sure;
        letter = small ? lower(letters[winner]) : letters[winner];
        unsure = unsure || small;
      }
      line.emplace_back(1, letter);
    }
    table.rows.push_back(line);
  }
  std::vector<std::string> legend;
  for (const std::size_t winner : winners)
    legend.push_back(std::string(1, letters[winner]) + " " + names[winner]);
  if (unsure) legend.emplace_back("small letters: cannot be told from the others");
  if (unanswered) legend.emplace_back("? no answer");
  return to_text(table) + "\n" + join(legend, ", ") + "\n";
}

}  // namespace gradcast
