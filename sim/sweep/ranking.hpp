// Many compressors at one point: which surely pay, which surely do not, and which cannot be told.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"

namespace gradcast {

/// The most compressors of a point that a reader tells apart in the table without help.
inline constexpr std::size_t kFewCompressors = 4;

/// A table with a line for each setting of `columns`, but for the compressor: names with their
/// speedups by verdict, fastest first. `speedup` is the column that has them. Those that surely do
/// not pay are folded to their number and the fastest. "" if every point has few compressors.
std::string sweep_ranking(const std::vector<std::string>& columns, const std::string& speedup,
                          const std::vector<Json>& rows);

}  // namespace gradcast
