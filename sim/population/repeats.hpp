// Runs of one set-up, measured more than once.
#pragma once
#include <cstddef>
#include <vector>

#include "sim/fit/row_model.hpp"

namespace gradcast {

/// True where two rows have the same set-up: all that a forecast takes, the times of one GPU but
/// for what two measurements of them differ by. Only what was measured may differ.
bool is_repeat(const FitRow& a, const FitRow& b);

/// The rows, by place, that are of another set-up than this one.
std::vector<std::size_t> rows_but_repeats(const std::vector<FitRow>& rows, std::size_t row);

}  // namespace gradcast
