// Vectors of elements: drawn from a law, or checked as they come.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/theory/law.hpp"

namespace gradcast {

/// The same seed gives the same elements, and a longer vector begins with a shorter one's.
std::vector<float> drawn_from(const Law& law, std::int64_t elements, std::uint64_t seed);

/// Throws DataError for an infinity or a NaN, and for a vector of zeros: its ratio is 0 / 0.
void require_ratio(const std::vector<float>& vector, const std::string& file);

/// Of the elements as they are; NaN where all are equal.
double kurtosis_of(const std::vector<float>& vector);

}  // namespace gradcast
