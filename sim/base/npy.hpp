// NumPy's files of one array, for one-dimensional vectors of float32 or float64. The format:
// numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/limits.hpp"

namespace gradcast {

/// First bytes of a .npy file.
inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};

/// The header of a vector has some 70 letters. NumPy itself warns above 10,000.
inline constexpr std::size_t kLongestNpyHeader = 10'000;
inline constexpr std::size_t kLongestNpyFile =
    kMostVectorElements * sizeof(double) + kLongestNpyHeader;

/// The bytes of a .npy file (format 1.0, 2.0 or 3.0, little-endian) as its vector. A float64 is
/// rounded to the nearest float32. Infinities and NaNs stay. `file` is named in errors. Throws
/// DataError: what was found, what would be right.
std::vector<float> npy_vector(std::string_view bytes, const std::string& file);

/// The vector of a file. Throws DataError as npy_vector does, and where the file cannot be read or
/// has more than kMostVectorElements.
std::vector<float> read_npy(const std::filesystem::path& path);

/// The bytes of a file of format 1.0 with this vector as float32.
std::string npy_of(std::span<const float> vector);

}  // namespace gradcast
