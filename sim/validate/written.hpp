// Parts that the program's tables share: their place in a document, and errors that have grown.
#pragma once
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"

namespace gradcast {

/// True if an error is more than a tenth larger than it was, and by more than rounding to two
/// digits can explain.
inline bool error_grown(double now, double before) {
  return std::abs(now) > 1.1 * std::abs(before) + 0.01;
}

/// Today's errors of some runs, by the columns of the file that has the earlier ones.
struct ErrorsNow {
  std::string name;
  std::vector<std::pair<const char*, double>> by_column;
};

/// The errors that have grown since `before` was written, one per line; "" for none. `key`: the
/// column of names; `path`: of the file, for people.
inline std::string grown_errors(const std::vector<ErrorsNow>& now, CsvReader& before,
                                const char* key, const std::string& path) {
  std::string text;
  std::size_t known = 0;
  while (before.next())
    for (const ErrorsNow& each : now) {
      if (before.text(key) != each.name) continue;
      ++known;
      for (const auto& [column, value] : each.by_column) {
        const double was = before.value(column, parse_number);
        if (error_grown(value, was))
          text += each.name + ": " + column + " was " + fixed(was, 2) + " and is " +
                  fixed(value, 2) + "\n";
      }
    }
  if (known != now.size()) text += path + " has other runs: scripts/validate writes it\n";
  return text;
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
