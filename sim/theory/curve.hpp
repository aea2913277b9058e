// The curves of the paper's Fig. 3 and Fig. 5, as rows from which both can be drawn.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/theory/subject.hpp"
#include "sim/theory/verdict.hpp"

namespace gradcast {

/// Some 200 rows, by rising share i/d = k/d, near 0 closer together: pi^2 beside the line 1 - i/d
/// (Fig. 3), what Top-k leaves beside the bounds (Fig. 5).
std::vector<Json> curve_rows(Subject subject, const Drawing& drawing);

std::string curve_table(const std::vector<Json>& rows);

}  // namespace gradcast
