// Many compressors at one point: those that pay by both answers, by one of the two, and by none.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"

namespace gradcast {

/// So many compressors of a point are told apart in the table without help.
inline constexpr std::size_t kFewCompressors = 4;

/// A table with a line for each setting of `columns`, but for the compressor. It names compressors,
/// fastest first, with their speedups by physics (column `speedup`) and fitted ("fitted_" +
/// `speedup`). Those that pay by neither are folded to their number and the fastest of them. "" if
/// every point has few compressors.
std::string sweep_ranking(const std::vector<std::string>& columns, const std::string& speedup,
                          const std::vector<Json>& rows);

}  // namespace gradcast
