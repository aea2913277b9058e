// What the program's tables share: their place in a document, and when an error has grown.
#pragma once
#include <cmath>
#include <string>

#include "sim/base/error.hpp"

namespace gradcast {

/// True if an error is more than a tenth larger than it was, and by more than rounding to two
/// digits can explain.
inline bool error_grown(double now, double before) {
  return std::abs(now) > 1.1 * std::abs(before) + 0.01;
}

/// The document with `table` in place of everything from the marker `first` to the marker `last`.
/// `table` has both markers. Throws Error if the document, called `name`, lacks one.
inline std::string with_table(const std::string& document, const std::string& name,
                              const std::string& table, const std::string& first,
                              const std::string& last) {
  const std::size_t begin = document.find(first);
  const std::size_t end = document.find(last);
  if (begin == std::string::npos || end == std::string::npos)
    throw Error(ExitCode::Failure, name + " lacks the markers '" + first + "' and '" + last + "'");
  return document.substr(0, begin) + table + document.substr(end + last.size());
}

}  // namespace gradcast
