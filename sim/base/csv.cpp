#include "sim/base/csv.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#define CSV_IO_NO_THREAD  // only functions on a line are used
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
    const std::string clean = one_line(line);  // as it would be written again
    const std::size_t begin = clean.find_first_not_of(' ', key.size() + 1);
    if (begin != std::string::npos) value = clean.substr(begin);
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
  // A line that begins with # would be read as a comment, and blanks around a field are none of it.
  const auto is_blank = [](char letter) { return letter == ' ' || letter == '\t'; };
  const bool plain =
      text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with('#');
  if (plain && (text.empty() || (!is_blank(text.front()) && !is_blank(text.back()))))
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

namespace {

/// libfccp cuts fields at commas outside of quotes, and takes blanks and quotes off. Its own reader
/// of whole files is not used: it takes 48 MB a file, and columns that are known when it is
/// compiled.
using Quotes = ::io::double_quote_escape<',', '"'>;
using Blanks = ::io::trim_chars<' ', '\t'>;
using NoRow = ::io::single_and_empty_line_comment<'#'>;

}  // namespace

CsvReader::CsvReader(const TextFile& file, std::span<const char* const> columns,
                     std::size_t required)
    : file_(file),
      rest_(file.content),
      columns_(columns.begin(), columns.end()),
      row_(columns.size()) {
  require_text(file);
  require_whole_lines(file);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  read_header();
  std::string missing;
  for (std::size_t i = 0; i < required; ++i)
    if (std::find(order_.begin(), order_.end(), i) == order_.end())
      missing += (missing.empty() ? "" : "', '") + columns_[i];
  if (!missing.empty()) throw failure("the header lacks the column '" + missing + "'");
}

char* CsvReader::next_line() {
  while (!rest_.empty()) {
    ++line_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    text_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (text_.ends_with('\r')) text_.pop_back();
    // A spreadsheet leaves commas where rows were deleted.
    const bool empty = text_.find_first_not_of(", \t") == std::string::npos;
    if (!empty && !NoRow::is_comment(text_.c_str())) return text_.data();
  }
  return nullptr;
}

std::string_view CsvReader::next_field(char*& rest) const {
  char* begin = rest;
  char* end = begin;
  try {
    end += Quotes::find_next_column_end(begin) - begin;
  } catch (const ::io::error::escaped_string_not_closed&) {
    throw failure("a quote is opened and not closed");
  }
  rest = *end == '\0' ? nullptr : end + 1;
  Blanks::trim(begin, end);
  Quotes::unescape(begin, end);
  return {begin, end};
}

void CsvReader::read_header() {
  char* rest = next_line();
  if (rest == nullptr)
    throw DataError(
        path(), 0,
        "the file is empty: it should begin with the header '" + join(columns_, ",") + "'");
  while (rest != nullptr) {
    std::string name(next_field(rest));
    const auto place = static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) -
                                                columns_.begin());
    if (place == columns_.size()) {
      // If the file is no CSV, all its text may be a name.
      constexpr std::size_t kShown = 63;
      if (name.find(';') != std::string::npos)
        throw failure("the header has ';' between its columns: write commas, as in CSV");
      if (name.find('\t') != std::string::npos)
        throw failure("the header has tabs between its columns: write commas, as in CSV");
      if (name.empty()) throw failure("a column has no name: is there a comma too many?");
      name.resize(std::min(name.size(), kShown));
      throw failure("unknown column '" + name + "'" + did_you_mean(name, columns_) +
                    " (columns: " + join(columns_) + ")");
    }
    if (std::find(order_.begin(), order_.end(), place) != order_.end())
      throw failure("column '" + name + "' stands twice in the header");
    order_.push_back(place);
  }
}

bool CsvReader::next() {
  char* rest = next_line();
  if (rest == nullptr) return false;
  for (const std::size_t place : order_) {
    if (rest == nullptr)
      throw failure("fewer fields than the header has columns; is the line cut off?");
    row_[place] = next_field(rest);
  }
  if (rest != nullptr)
    throw failure("more fields than the header has columns; a text with a comma needs quotes");
  return true;
}

const std::string& CsvReader::text(std::string_view column) const {
  // Columns are mostly asked for in their order, and some twice.
  for (std::size_t tried = 0; tried < columns_.size(); ++tried) {
    if (column == columns_[asked_]) return row_[asked_];
    asked_ = asked_ + 1 == columns_.size() ? 0 : asked_ + 1;
  }
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
