// Of many compressors at one point: which pay by both answers, by one of the two, and by none.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"

namespace gradcast {

/// So many compressors of a point are told apart in the table without help.
inline constexpr std::size_t kFewCompressors = 4;

/// A table with a line for each setting of `columns`, but for the compressor: names, fastest first,
/// each with its speedups by physics and fitted (`speedup` is that column; "fitted_" + it the
/// other). What pays by none is folded to a number and its fastest. "" where every point has few
/// compressors.
std::string sweep_ranking(const std::vector<std::string>& columns, const std::string& speedup,
                          const std::vector<Json>& rows);

}  // namespace gradcast
