// Lists as the command line writes them: "0.001,0.01", "0.0001..0.01", "4..64".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace gradcast {

/// Words between commas, each once. Throws ValueError for an empty one.
std::vector<std::string> parse_words(std::string_view text);

/// Rising, from 1e-9 to 1. A range "0.0001..0.01" steps 1, 2, 5 a decade and holds both its ends.
/// Throws ValueError.
std::vector<double> parse_densities(std::string_view text);

/// Whole numbers from 1 to `most`, rising. A range "4..64" doubles and holds both its ends. Throws
/// ValueError.
std::vector<int> parse_counts_to(int most, std::string_view text);

}  // namespace gradcast
