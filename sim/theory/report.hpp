// Results of `theory`: verdicts as sentences, rows and a table; the curves of the paper's Fig. 3
// and Fig. 5; counter-examples to Theorem 1 of Understanding Top-k Sparsification as printed.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/theory/subject.hpp"
#include "sim/theory/verdict.hpp"

namespace gradcast {

/// One on the bound (1 - k/d)^2, and one on Theorem 2, for the least density.
std::vector<std::string> verdict_sentences(const BoundVerdict& verdict);

/// A row a density.
std::vector<Json> verdict_rows(const BoundVerdict& verdict);

std::string verdict_table(const std::vector<BoundVerdict>& verdicts);

/// Some 200 rows, by rising share i/d = k/d, near 0 closer together: pi^2 beside the line 1 - i/d
/// (Fig. 3), what Top-k leaves beside the bounds (Fig. 5).
std::vector<Json> curve_rows(Subject subject, const Drawing& drawing);

std::string curve_table(const std::vector<Json>& rows);

/// Vectors and laws for which Theorem 1 is false, each at a density that shows it.
std::vector<BoundVerdict> counter_examples(const Drawing& drawing);

/// Sentences on the theorem: its claim, why it is false, and the true statement.
std::vector<std::string> counter_example_sentences();

}  // namespace gradcast
