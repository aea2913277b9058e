// The map of who is fastest as a picture, sentences and rows.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/breakeven/win_map.hpp"

namespace gradcast {

/// A cell each.
std::vector<Json> map_rows(const WinMap& map);
/// Who wins in how many cells, by physics and fitted, and whether the two agree.
std::vector<std::string> map_sentences(const WinMap& map);
/// The sentences, then the pictures.
std::string map_table(const WinMap& map);

}  // namespace gradcast
