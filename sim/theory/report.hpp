// Verdicts in words, as rows, and as a table for people.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/theory/verdict.hpp"

namespace gradcast {

/// One on the bound (1 - k/d)^2, and one on Theorem 2, for the least density.
std::vector<std::string> verdict_sentences(const BoundVerdict& verdict);

/// A row a density.
std::vector<Json> verdict_rows(const BoundVerdict& verdict);

std::string verdict_table(const std::vector<BoundVerdict>& verdicts);

}  // namespace gradcast
