// What a verdict means, in words.
#pragma once
#include <string>
#include <vector>

#include "sim/theory/verdict.hpp"

namespace gradcast {

/// One on the bound (1 - k/d)^2, and one on Theorem 2, for the least density.
std::vector<std::string> verdict_sentences(const BoundVerdict& verdict);

}  // namespace gradcast
