// Six bytes of magic, two of the version, the length of the header (2 bytes in version 1, else 4),
// the header, a Python dictionary, and then the elements, one after the other.
#include "sim/base/npy.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/npy_header.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie");

constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};
constexpr std::size_t kNpyVersionEnd = 8;  // magic and version
/// NumPy pads the header so that the elements begin at a multiple of it.
constexpr std::size_t kNpyAlignment = 64;

std::size_t little_endian(std::string_view bytes) {
  std::size_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// The header's text. `values` becomes what follows it.
std::string_view header_text(std::string_view bytes, const std::string& file,
                             std::string_view& values) {
  if (!bytes.starts_with(kNpyMagic))
    throw DataError(file, 0,
                    "is no NumPy file: those begin with \\x93NUMPY; write one with np.save");
  if (bytes.size() < kNpyVersionEnd) throw DataError(file, 0, "ends within its first 8 bytes");
  const int major = static_cast<unsigned char>(bytes[6]);
  const int minor = static_cast<unsigned char>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw DataError(file, 0,
                    "has the format " + std::to_string(major) + "." + std::to_string(minor) +
                        " of NumPy files; 1.0, 2.0 and 3.0 are known");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < kNpyVersionEnd + length_bytes)
    throw DataError(file, 0, "ends before its header; is the file cut off?");
  const std::size_t length = little_endian(bytes.substr(kNpyVersionEnd, length_bytes));
  const std::string_view rest = bytes.substr(kNpyVersionEnd + length_bytes);
  if (length > kLongestNpyHeader)
    throw DataError(file, 0,
                    "says its header has " + std::to_string(length) + " bytes; the most is " +
                        std::to_string(kLongestNpyHeader));
  if (length > rest.size())
    throw DataError(file, 0,
                    "says its header has " + std::to_string(length) + " bytes, but only " +
                        std::to_string(rest.size()) + " follow; is the file cut off?");
  values = rest.substr(length);
  return rest.substr(0, length);
}

std::vector<float> of_float32(std::string_view values, std::size_t count) {
  std::vector<float> vector(count);
  std::memcpy(vector.data(), values.data(), count * sizeof(float));
  return vector;
}

std::vector<float> of_float64(std::string_view values, std::size_t count, const std::string& file) {
  std::vector<float> vector(count);
  for (std::size_t i = 0; i < count; ++i) {
    double element = 0;
    std::memcpy(&element, values.data() + i * sizeof element, sizeof element);
    if (std::isfinite(element) && std::abs(element) > std::numeric_limits<float>::max())
      throw DataError(file, 0,
                      "has " + number_to_text(element) + " as element " + std::to_string(i) +
                          " (from 0), which no float32 holds");
    vector[i] = static_cast<float>(element);
  }
  return vector;
}

}  // namespace

std::vector<float> npy_vector(std::string_view bytes, const std::string& file) {
  std::string_view values;
  const std::string_view text = header_text(bytes, file, values);
  const NpyHeader header = [&] {
    try {
      return parse_npy_header(text);
    } catch (const ValueError& error) {
      throw DataError(file, 0, error.what());
    }
  }();
  const std::size_t needed = header.elements * header.element_bytes;
  if (values.size() != needed)
    throw DataError(file, 0,
                    "has " + std::to_string(values.size()) + " bytes behind its header; " +
                        std::to_string(header.elements) + " elements of " +
                        std::to_string(header.element_bytes) + " bytes take " +
                        std::to_string(needed) +
                        (values.size() < needed ? "; is the file cut off?" : ""));
  return header.element_bytes == sizeof(double) ? of_float64(values, header.elements, file)
                                                : of_float32(values, header.elements);
}

std::vector<float> read_npy(const std::filesystem::path& path) {
  BlockReader file(path, kLongestNpyFile);
  std::string bytes;
  for (std::string_view block = file.next(); !block.empty(); block = file.next()) bytes += block;
  return npy_vector(bytes, path.string());
}

std::string npy_of(std::span<const float> vector) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(vector.size()) + ",), }";
  constexpr std::size_t kBefore = kNpyVersionEnd + 2;
  while ((kBefore + header.size() + 1) % kNpyAlignment != 0) header += ' ';
  header += '\n';
  std::string bytes(kNpyMagic);
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(vector.data()), vector.size_bytes());
  return bytes;
}

}  // namespace gradcast
