#include "sim/breakeven/answer.hpp"

#include <set>

#include "sim/answers/document.hpp"
#include "sim/base/text.hpp"
#include "sim/breakeven/map_report.hpp"
#include "sim/breakeven/report.hpp"
#include "sim/breakeven/sentences.hpp"

namespace gradcast {

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
