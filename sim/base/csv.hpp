// CSV files with named columns, `#` comment lines, RFC 4180 without line breaks inside fields.
// Every complaint says file, line, what was found and what would be right.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {

/// The value of the `# key: value` comment line; "" where there is none. Throws DataError where
/// there are two.
std::string comment_value(const TextFile& file, std::string_view key);

/// All comment lines, without "# ".
std::vector<std::string> comment_lines(const TextFile& file);

/// Throws DataError where the last line has no line break: a file that was cut off there would give
/// a wrong number.
void require_whole_lines(const TextFile& file);

/// A field as RFC 4180 writes it: quoted where it holds a comma, a quote or a line break, or begins
/// or ends with a blank.
std::string csv_field(std::string_view text);

/// The lines, each with "# " before it.
std::string csv_comments(const std::vector<std::string>& lines);

/// Fields joined by commas, with the line break.
std::string csv_line(const std::vector<std::string>& fields);

/// Reads a file row by row. The first `required` of the columns must be there; the others may be
/// missing, and then read as "". A column that is not among them is refused. Rows whose cells are
/// all empty are skipped.
class CsvReader {
 public:
  CsvReader(const TextFile& file, std::span<const char* const> columns, std::size_t required);
  CsvReader(const TextFile& file, std::span<const char* const> columns)
      : CsvReader(file, columns, columns.size()) {}

  /// False at the end of the file.
  bool next();

  std::string path() const { return file_.path.string(); }
  std::size_t line() const { return line_; }

  /// A column is asked for by its name. An unknown name is a defect of the caller.
  const std::string& text(std::string_view column) const;

  /// `parse` is one of the ValueError-throwing parsers of units.hpp.
  template <class Parse>
  decltype(auto) value(std::string_view column, Parse parse) const {
    try {
      return parse(text(column));
    } catch (const ValueError& error) {
      throw failure(column, error.what());
    }
  }

  /// A finite number from `least` to `most`.
  double number(std::string_view column, double least, double most) const;
  std::int64_t integer(std::string_view column, std::int64_t least, std::int64_t most) const;
  /// Text that must not be empty.
  const std::string& word(std::string_view column) const;

  /// The error to throw: it names this line and column.
  DataError failure(std::string_view column, const std::string& what) const;
  DataError failure(const std::string& what) const { return {path(), line(), what}; }

 private:
  void read_header();
  /// Copies the next line that is no comment and has a cell that is not empty to text_. nullptr at
  /// the end.
  char* next_line();
  /// Cuts a field off the line; `rest` is nullptr behind the last. Throws DataError.
  std::string_view next_field(char*& rest) const;
  void check_range(std::string_view column, double number, double least, double most) const;

  const TextFile& file_;
  std::string_view rest_;          // of the file, from the next line on
  std::size_t line_ = 0;           // that was read last, from 1
  mutable std::size_t asked_ = 0;  // the place of the column that was asked for last
  std::string text_;               // of that line; fields are cut and unquoted in it
  std::vector<std::string> columns_;
  std::vector<std::size_t> order_;  // of the file's columns, by their places in columns_
  std::vector<std::string> row_;    // by place; a column that the file lacks is empty
};

}  // namespace gradcast
