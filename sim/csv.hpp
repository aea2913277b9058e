// CSV files with named columns, `#` comment lines, RFC 4180 but for line breaks inside fields.
// Reading is libfccp's; what is added here is that every complaint says file, line, what was found
// and what would be right.
#pragma once
#define CSV_IO_NO_THREAD  // files are small, and a process that forks wants no threads
#include <libfccp/csv.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/text_file.hpp"
#include "sim/units.hpp"

namespace gradcast {

/// What a `# key: value` comment line says; "" where there is none. Throws DataError for two of
/// them.
std::string comment_value(const TextFile& file, std::string_view key);

/// All comment lines, without "# ".
std::vector<std::string> comment_lines(const TextFile& file);

/// Throws DataError where the last line has no end: a file cut off there would give a wrong number.
void require_whole_lines(const TextFile& file);

/// A field as RFC 4180 writes it: quoted where it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

/// Lines with "# " before each.
std::string csv_comments(const std::vector<std::string>& lines);

/// Fields joined by commas, with the line break.
std::string csv_line(const std::vector<std::string>& fields);

/// Reads a file row by row. The first `required` of the N columns must be there; the others may be
/// missing, and then read as "". A column that is not among the N is refused.
template <std::size_t N>
class CsvReader {
 public:
  using Columns = std::array<const char*, N>;

  CsvReader(const TextFile& file, const Columns& columns, std::size_t required = N)
      : file_(file),
        columns_(columns),
        reader_(file.path.c_str(), file.content.data(), file.content.data() + file.content.size()) {
    require_whole_lines(file);
    guarded([&] {
      std::apply([&](auto... names) { reader_.read_header(::io::ignore_missing_column, names...); },
                 columns);
    });
    std::string missing;
    for (std::size_t i = 0; i < required; ++i)
      if (!reader_.has_column(columns[i]))
        missing += (missing.empty() ? "" : "', '") + std::string(columns[i]);
    if (!missing.empty())
      throw DataError(path(), reader_.get_file_line(),
                      "the header lacks the column '" + missing + "'");
  }

  /// False at the end of the file.
  bool next() {
    bool more = false;
    row_.fill({});
    guarded([&] {
      more = std::apply([&](auto&... fields) { return reader_.read_row(fields...); }, row_);
    });
    return more;
  }

  std::string path() const { return file_.path.string(); }
  std::size_t line() const { return reader_.get_file_line(); }

  /// Columns go by their names; a name that is none of the N is a defect of the caller.
  const std::string& text(std::string_view column) const { return row_[index_of(column)]; }

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
  double number(std::string_view column, double least, double most) const {
    const double number = value(column, parse_number);
    check_range(column, number, least, most);
    return number;
  }

  std::int64_t integer(std::string_view column, std::int64_t least, std::int64_t most) const {
    const std::int64_t number = value(column, parse_integer);
    check_range(column, static_cast<double>(number), static_cast<double>(least),
                static_cast<double>(most));
    return number;
  }

  /// Text that must not be empty.
  const std::string& word(std::string_view column) const {
    if (text(column).empty()) throw failure(column, "is empty");
    return text(column);
  }

  /// To throw: names this line and column.
  DataError failure(std::string_view column, const std::string& what) const {
    return failure("column '" + std::string(column) + "': " + what);
  }
  DataError failure(const std::string& what) const { return {path(), line(), what}; }

 private:
  std::size_t index_of(std::string_view column) const {
    for (std::size_t i = 0; i < N; ++i)
      if (column == columns_[i]) return i;
    throw std::logic_error("no column '" + std::string(column) + "'");
  }

  void check_range(std::string_view column, double number, double least, double most) const {
    if (number < least || number > most)
      throw failure(column, number_to_text(number) + " is not between " + number_to_text(least) +
                                " and " + number_to_text(most));
  }

  /// libfccp's complaints, in this project's words.
  template <class Body>
  void guarded(Body body) const {
    namespace csv = ::io::error;
    try {
      body();
    } catch (const csv::too_few_columns&) {
      throw failure("fewer fields than the header has columns; is the line cut off?");
    } catch (const csv::too_many_columns&) {
      throw failure("more fields than the header has columns; a text with a comma needs quotes");
    } catch (const csv::escaped_string_not_closed&) {
      throw failure("a quote is opened and not closed");
    } catch (const csv::extra_column_in_header& error) {
      const std::vector<std::string> known(columns_.begin(), columns_.end());
      throw failure("unknown column '" + std::string(error.column_name) + "'" +
                    did_you_mean(error.column_name, known) + " (columns: " + join(known) + ")");
    } catch (const csv::duplicated_column_in_header& error) {
      throw failure("column '" + std::string(error.column_name) + "' stands twice in the header");
    } catch (const csv::header_missing&) {
      throw DataError(path(), 0,
                      "the file is empty: it should begin with the header '" +
                          join({columns_.begin(), columns_.end()}, ",") + "'");
    } catch (const csv::base& error) {
      throw failure(error.what());
    }
  }

  const TextFile& file_;
  Columns columns_;
  std::array<std::string, N> row_;
  ::io::CSVReader<N, ::io::trim_chars<' ', '\t'>, ::io::double_quote_escape<',', '"'>,
                  ::io::throw_on_overflow, ::io::single_and_empty_line_comment<'#'>>
      reader_;
};

}  // namespace gradcast
