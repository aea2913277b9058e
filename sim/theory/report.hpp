// Verdicts as rows, and as a table for people.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/theory/verdict.hpp"

namespace gradcast {

/// A row a density.
std::vector<Json> verdict_rows(const BoundVerdict& verdict);

std::string verdict_table(const std::vector<BoundVerdict>& verdicts);

}  // namespace gradcast
