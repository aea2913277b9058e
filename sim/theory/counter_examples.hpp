// Where Theorem 1 of Understanding Top-k Sparsification is false as it is printed.
#pragma once
#include <string>
#include <vector>

#include "sim/theory/verdict.hpp"

namespace gradcast {

/// Each at a density that shows it.
std::vector<BoundVerdict> counter_examples(const Drawing& drawing);

/// What the theorem claims, why it is false, what is true.
std::vector<std::string> counter_example_sentences();

}  // namespace gradcast
