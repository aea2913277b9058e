// All that was found, break-evens and map, as one answer.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/breakeven/questions.hpp"
#include "sim/breakeven/win_map.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// A CSV file is one table: the map's, where there is one. Without a seed.
Answer breakeven_answer(const std::vector<Answered>& answers, const std::optional<WinMap>& map,
                        Format format);

/// The engines that ran it, each once: "analytic", "flow-exact, flow-fluid".
std::string engines_of(const std::vector<Answered>& answers, const std::optional<WinMap>& map);

}  // namespace gradcast
