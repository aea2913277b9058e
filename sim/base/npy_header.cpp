#include "sim/base/npy_header.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

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

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  const NpyDictionary header(text);
  NpyHeader read;
  read.element_bytes = bytes_of_type(header.member(header.descr, "descr"));
  // Of one dimension, both orders are the same.
  const std::string_view order = header.member(header.fortran_order, "fortran_order");
  if (order != "True" && order != "False")
    throw ValueError("has the fortran_order " + in_quotes(as_found(order)) +
                     " in its header; it is True or False");
  read.elements = elements_of_shape(header.member(header.shape, "shape"));
  return read;
}

}  // namespace gradcast
