// The subjects that --distribution names: laws, and files of u. Vectors of elements of either.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/inputs/data_files.hpp"
#include "sim/theory/law.hpp"

namespace gradcast {

/// A law or the vector of a file.
struct Subject {
  std::string name;
  std::optional<Law> law;
  std::vector<float> vector;  // from a file
  InputFile input;            // the file
};

/// "normal:8,1,uniform,u.npy" as "normal:8,1", "uniform", "u.npy", each once: a number belongs to
/// the name before it. Throws ValueError for an empty entry or a number without a name.
std::vector<std::string> subject_words(std::string_view text);

/// A word that ends in ".npy" is a file. Throws ValueError for a wrong law, DataError for a file
/// that is no vector, or has no ratio.
Subject read_subject(const std::string& word);

/// The same seed gives the same elements, and a longer vector begins with a shorter one's.
std::vector<float> drawn_from(const Law& law, std::int64_t elements, std::uint64_t seed);

/// Throws DataError for an infinity or a NaN, and for a vector of zeros: its ratio is 0 / 0.
void require_ratio(const std::vector<float>& vector, const std::string& file);

/// Kurtosis of the elements as they are; NaN if all are equal.
double kurtosis_of(const std::vector<float>& vector);

}  // namespace gradcast
