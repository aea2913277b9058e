// All that was found, break-evens and the map of who is fastest: as rows, sentences and tables, and
// as one answer.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/answers/document.hpp"
#include "sim/breakeven/questions.hpp"
#include "sim/breakeven/win_map.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// Flat rows: one a root; one where there is none; physics first.
std::vector<Json> rows_of(const Answered& answered);

/// Sentences, then the table of all roots.
std::string breakeven_table(const std::vector<Answered>& all);

/// A cell each.
std::vector<Json> map_rows(const WinMap& map);
/// Number of cells that each winner has, by physics and fitted, and whether the two agree.
std::vector<std::string> map_sentences(const WinMap& map);
/// The sentences, then the pictures.
std::string map_table(const WinMap& map);

/// A CSV file is one table: the map's, where there is one. Without a seed.
Answer breakeven_answer(const std::vector<Answered>& answers, const std::optional<WinMap>& map,
                        Format format);

/// The engines that ran it, each once: "analytic", "flow-exact, flow-fluid".
std::string engines_of(const std::vector<Answered>& answers, const std::optional<WinMap>& map);

}  // namespace gradcast
