#include "sim/base/csv.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#define CSV_IO_NO_THREAD  // files are small, and a process that forks wants no threads
#include <libfccp/csv.h>

#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {

std::vector<std::string> comment_lines(const TextFile& file) {
  std::vector<std::string> comments;
  for (std::string& line : split_words(file.content, '\n')) {
    if (!line.starts_with('#')) continue;
    if (line.ends_with('\r')) line.pop_back();
    line.erase(0, line.starts_with("# ") ? 2 : 1);
    comments.push_back(std::move(line));
  }
  return comments;
}

std::string comment_value(const TextFile& file, std::string_view key) {
  std::string value;
  bool found = false;
  for (const std::string& line : comment_lines(file)) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') continue;
    if (found)
      throw DataError(file.path.string(), 0,
                      "the comment line '# " + std::string(key) + ":' stands twice");
    found = true;
    const std::size_t begin = line.find_first_not_of(' ', key.size() + 1);
    if (begin != std::string::npos) value = line.substr(begin);
  }
  return value;
}

void require_whole_lines(const TextFile& file) {
  if (file.content.empty() || file.content.ends_with('\n')) return;
  const auto lines = std::count(file.content.begin(), file.content.end(), '\n') + 1;
  throw DataError(file.path.string(), static_cast<std::size_t>(lines),
                  "the last line has no line break, so the file may be cut off; if it is whole, "
                  "end it with a line break");
}

std::string csv_field(std::string_view text) {
  // A line that begins with # would be read as a comment.
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with('#'))
    return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

std::string csv_comments(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "# " + one_line(line) + "\n";
  return text;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  quoted.reserve(fields.size());
  for (const std::string& field : fields) quoted.push_back(csv_field(field));
  return join(quoted, ",") + "\n";
}

/// libfccp needs the number of columns at compile time. It gets the most that any file has. The
/// columns that are too many have names that no header has, and so they are missing.
class CsvReader::Library {
 public:
  Library(const TextFile& file, const std::vector<std::string>& columns)
      : reader_(file.path.c_str(), file.content.data(), file.content.data() + file.content.size()) {
    if (columns.size() > kMostColumns) throw std::logic_error("more columns than kMostColumns");
    for (std::size_t i = 0; i < kMostColumns; ++i)
      names_[i] = i < columns.size() ? columns[i] : '\n' + std::to_string(i);
  }

  void read_header() {
    std::apply([&](auto&... names) { reader_.read_header(::io::ignore_missing_column, names...); },
               names_);
  }
  bool has(const std::string& column) { return reader_.has_column(column); }
  /// Fields that are missing stay as they are.
  bool read_row(std::vector<std::string>& row) {
    const bool more =
        std::apply([&](auto&... fields) { return reader_.read_row(fields...); }, fields_);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::exchange(fields_[i], {});
    return more;
  }
  std::size_t line() const { return reader_.get_file_line(); }

 private:
  std::array<std::string, kMostColumns> names_;
  std::array<std::string, kMostColumns> fields_;
  ::io::CSVReader<kMostColumns, ::io::trim_chars<' ', '\t'>, ::io::double_quote_escape<',', '"'>,
                  ::io::throw_on_overflow, ::io::single_and_empty_line_comment<'#'>>
      reader_;
};

/// Turns libfccp's errors into this project's words.
template <class Body>
void CsvReader::guarded(Body body) const {
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
    throw failure("unknown column '" + std::string(error.column_name) + "'" +
                  did_you_mean(error.column_name, columns_) + " (columns: " + join(columns_) + ")");
  } catch (const csv::duplicated_column_in_header& error) {
    throw failure("column '" + std::string(error.column_name) + "' stands twice in the header");
  } catch (const csv::header_missing&) {
    throw DataError(
        path(), 0,
        "the file is empty: it should begin with the header '" + join(columns_, ",") + "'");
  } catch (const csv::base& error) {
    throw failure(error.what());
  }
}

CsvReader::CsvReader(const TextFile& file, std::span<const char* const> columns,
                     std::size_t required)
    : file_(file),
      columns_(columns.begin(), columns.end()),
      row_(columns.size()),
      library_(std::make_unique<Library>(file, columns_)) {
  require_whole_lines(file);
  guarded([&] { library_->read_header(); });
  std::string missing;
  for (std::size_t i = 0; i < required; ++i)
    if (!library_->has(columns_[i])) missing += (missing.empty() ? "" : "', '") + columns_[i];
  if (!missing.empty()) throw failure("the header lacks the column '" + missing + "'");
}

CsvReader::~CsvReader() = default;

bool CsvReader::next() {
  bool more = false;
  guarded([&] { more = library_->read_row(row_); });
  return more;
}

std::size_t CsvReader::line() const { return library_->line(); }

const std::string& CsvReader::text(std::string_view column) const {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (column == columns_[i]) return row_[i];
  throw std::logic_error("no column '" + std::string(column) + "'");
}

double CsvReader::number(std::string_view column, double least, double most) const {
  const double number = value(column, parse_number);
  check_range(column, number, least, most);
  return number;
}

std::int64_t CsvReader::integer(std::string_view column, std::int64_t least,
                                std::int64_t most) const {
  const std::int64_t number = value(column, parse_integer);
  check_range(column, static_cast<double>(number), static_cast<double>(least),
              static_cast<double>(most));
  return number;
}

const std::string& CsvReader::word(std::string_view column) const {
  if (text(column).empty()) throw failure(column, "is empty");
  return text(column);
}

DataError CsvReader::failure(std::string_view column, const std::string& what) const {
  return failure("column '" + std::string(column) + "': " + what);
}

void CsvReader::check_range(std::string_view column, double number, double least,
                            double most) const {
  if (number < least || number > most)
    throw failure(column, number_to_text(number) + " is not between " + number_to_text(least) +
                              " and " + number_to_text(most));
}

}  // namespace gradcast
