// Six bytes of magic, two of the version, the length of the header (2 bytes in version 1, else 4),
// the header, a Python dictionary, and then the elements, one after the other.
#include "sim/base/npy.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/block_reader.hpp"
#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// A header: "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }".
struct NpyHeader {
  std::size_t element_bytes = 0;  // 4: float32, 8: float64
  std::size_t elements = 0;       // 1 to kMostVectorElements
};

std::string as_found(std::string_view text) {
  return shortened(clean_text(one_line(std::string(text))), 60);
}

/// Takes the dictionary apart: keys and values in Python's spelling, of which NumPy writes little.
class NpyDictionary {
 public:
  explicit NpyDictionary(std::string_view text) : rest_(text) {
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      keep(key, value());
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) throw wrong();
  }

  std::string_view member(const std::optional<std::string_view>& found, const char* key) const {
    if (!found) throw ValueError(std::string("has no '") + key + "' in its header");
    return *found;
  }

  std::optional<std::string_view> descr, fortran_order, shape;

 private:
  ValueError wrong() const {
    return ValueError("has a header that is no dictionary as NumPy writes it, from " +
                      (rest_.empty() ? "its end" : in_quotes(as_found(rest_))) + " on");
  }

  void skip_blanks() {
    const std::size_t first = rest_.find_first_not_of(" \n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  bool take(char letter) {
    skip_blanks();
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char letter) {
    if (!take(letter)) throw wrong();
  }

  std::string_view cut(std::size_t size) {
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

  std::string_view quoted() {
    skip_blanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) throw wrong();
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) throw wrong();
    return cut(end + 1).substr(1, end - 1);
  }

  /// A word in quotes, a tuple with its brackets, a list with its own (of a structured type), or a
  /// bare word.
  std::string_view value() {
    skip_blanks();
    if (rest_.starts_with('\'') || rest_.starts_with('"')) return quoted();
    std::size_t end = std::string_view::npos;
    if (rest_.starts_with('('))
      end = rest_.find(')');
    else if (rest_.starts_with('['))
      end = rest_.find(']');
    else
      end = rest_.find_first_of(", \n}") - 1;
    if (end >= rest_.size()) throw wrong();
    return cut(end + 1);
  }

  void keep(std::string_view key, std::string_view value) {
    std::optional<std::string_view>& place = key == "descr"           ? descr
                                             : key == "fortran_order" ? fortran_order
                                                                      : shape;
    if (&place == &shape && key != "shape")
      throw ValueError("has " + in_quotes(as_found(key)) +
                       " in its header; NumPy writes descr, fortran_order and shape");
    if (place) throw ValueError("has " + in_quotes(as_found(key)) + " in its header twice");
    place = value;
  }

  std::string_view rest_;
};

std::size_t bytes_of_type(std::string_view descr) {
  if (descr == "<f4") return 4;
  if (descr == "<f8") return 8;
  throw ValueError("has elements of the type " + in_quotes(as_found(descr)) +
                   "; a vector of '<f4' (float32) or '<f8' (float64) is read");
}

/// "(3,)" as 3.
std::size_t elements_of_shape(std::string_view shape) {
  const auto wrong = [&](const std::string& right) {
    return ValueError("has the shape " + as_found(shape) + "; " + right);
  };
  if (shape.size() < 2 || shape.front() != '(' || shape.back() != ')')
    throw wrong("a shape is a tuple, like (1000,)");
  const std::string_view inside = shape.substr(1, shape.size() - 2);
  const std::size_t comma = inside.find(',');
  if (comma == std::string_view::npos ||
      inside.find_first_not_of(' ', comma + 1) != std::string_view::npos)
    throw wrong("an array of one dimension is read, like (1000,): reshape(-1) makes it one");
  std::uint64_t elements = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + comma, elements);
  if (error != std::errc() || end != inside.data() + comma || elements < 1 ||
      elements > kMostVectorElements)
    throw wrong("1 to " + std::to_string(kMostVectorElements) + " elements are read");
  return elements;
}

/// Reads the header of a vector of float32 or float64, little-endian. Throws ValueError, whose text
/// goes on after a file's name, for any other array: "has the shape (2, 3); ...".
NpyHeader parse_npy_header(std::string_view text) {
  const NpyDictionary header(text);
  NpyHeader read;
  read.element_bytes = bytes_of_type(header.member(header.descr, "descr"));
  // With one dimension, both orders are the same.
  const std::string_view order = header.member(header.fortran_order, "fortran_order");
  if (order != "True" && order != "False")
    throw ValueError("has the fortran_order " + in_quotes(as_found(order)) +
                     " in its header; it is True or False");
  read.elements = elements_of_shape(header.member(header.shape, "shape"));
  return read;
}

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie");

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
  return npy_vector(bytes_of_file(path, kNpyMagic, kLongestNpyFile), path.string());
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
