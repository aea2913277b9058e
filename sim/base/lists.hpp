// Lists as the command line writes them: "0.001,0.01", "0.0001..0.01", "4..64", "1Gbps..100Gbps".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace gradcast {

/// The words between the commas, each once. Throws ValueError for an empty word.
std::vector<std::string> parse_words(std::string_view text);

/// Densities from 1e-9 to 1, in rising order. A range "0.0001..0.01" has the steps 1, 2, 5 of each
/// decade and both its ends. Throws ValueError.
std::vector<double> parse_densities(std::string_view text);

/// Whole numbers from 1 to `most`, rising. A range "4..64" doubles and holds both its ends. Throws
/// ValueError.
std::vector<int> parse_counts_to(int most, std::string_view text);

/// The words in their order, each once, with ranges of numbers written out: whole numbers without a
/// unit double, all others have the steps 1, 2, 5 of each decade. Both ends are included. A word
/// that does not begin with a digit is not a range ("../costs.csv"). Throws ValueError for a range
/// that does not rise, or whose ends have different units, or that has more than a thousand steps.
std::vector<std::string> expand_list(std::string_view text);

}  // namespace gradcast
