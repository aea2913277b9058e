#include "sim/base/csv.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

/// The next field of a line, with blanks and quotes as they stand; the rest begins behind the comma
/// that ends it, and is nothing behind the last field. Nothing is returned where a quote is opened
/// and not closed.
std::optional<std::string_view> cut_field(std::optional<std::string_view>& rest) {
  const std::string_view line = *rest;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] != ',' || quoted) continue;
    rest = line.substr(i + 1);
    return line.substr(0, i);
  }
  rest.reset();
  return quoted ? std::nullopt : std::optional(line);
}

/// What a field says: without blanks around it, and without its quotes.
std::string plain_field(std::string_view field) {
  const std::size_t begin = field.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  field = field.substr(begin, field.find_last_not_of(" \t") - begin + 1);
  if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"'))
    return std::string(field);
  field = field.substr(1, field.size() - 2);
  std::string plain;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field.substr(i, 2) == "\"\"") ++i;
    plain += field[i];
  }
  return plain;
}

}  // namespace

CsvReader::CsvReader(const TextFile& file, std::span<const char* const> columns,
                     std::size_t required)
    : file_(file),
      rest_(file.content),
      columns_(columns.begin(), columns.end()),
      row_(columns.size()) {
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

std::optional<std::string_view> CsvReader::next_line() {
  while (!rest_.empty()) {
    ++line_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with('#') && line.find_first_not_of(" \t") != std::string_view::npos)
      return line;
  }
  return std::nullopt;
}

std::string CsvReader::next_field(std::optional<std::string_view>& rest) const {
  const std::optional<std::string_view> field = cut_field(rest);
  if (!field) throw failure("a quote is opened and not closed");
  return plain_field(*field);
}

void CsvReader::read_header() {
  std::optional<std::string_view> rest = next_line();
  if (!rest)
    throw DataError(
        path(), 0,
        "the file is empty: it should begin with the header '" + join(columns_, ",") + "'");
  while (rest) {
    std::string name = next_field(rest);
    const auto place = static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) -
                                                columns_.begin());
    if (place == columns_.size()) {
      // Of a file that is no CSV, all its text may be a name.
      constexpr std::size_t kShown = 63;
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
  std::optional<std::string_view> rest = next_line();
  if (!rest) return false;
  for (const std::size_t place : order_) {
    if (!rest) throw failure("fewer fields than the header has columns; is the line cut off?");
    row_[place] = next_field(rest);
  }
  if (rest)
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
