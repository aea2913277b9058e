// A reader of CSV without a library, written by itself, to compare sim/base/csv.hpp with.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"

namespace gradcast {

class ReferenceCsvReader {
 public:
  ReferenceCsvReader(const TextFile& file, std::span<const char* const> columns,
                     std::size_t required);
  bool next();
  std::size_t line() const { return line_; }
  const std::vector<std::string>& row() const { return row_; }

 private:
  std::string path() const { return file_.path.string(); }
  DataError failure(const std::string& what) const { return {path(), line_, what}; }
  void read_header();
  std::optional<std::string_view> next_line();
  std::string next_field(std::optional<std::string_view>& rest) const;

  const TextFile& file_;
  std::string_view rest_;
  std::size_t line_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::size_t> order_;
  std::vector<std::string> row_;
};

/// The next field of a line, with blanks and quotes as they stand; the rest begins behind the comma
/// that ends it, and is nothing behind the last field. Nothing is returned where a quote is opened
/// and not closed.
inline std::optional<std::string_view> cut_field(std::optional<std::string_view>& rest) {
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

/// The value of a field: without blanks around it, and without its quotes.
inline std::string plain_field(std::string_view field) {
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

inline ReferenceCsvReader::ReferenceCsvReader(const TextFile& file,
                                              std::span<const char* const> columns,
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

inline std::optional<std::string_view> ReferenceCsvReader::next_line() {
  while (!rest_.empty()) {
    ++line_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with('#') && line.find_first_not_of(", \t") != std::string_view::npos)
      return line;
  }
  return std::nullopt;
}

inline std::string ReferenceCsvReader::next_field(std::optional<std::string_view>& rest) const {
  const std::optional<std::string_view> field = cut_field(rest);
  if (!field) throw failure("a quote is opened and not closed");
  return plain_field(*field);
}

inline void ReferenceCsvReader::read_header() {
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

inline bool ReferenceCsvReader::next() {
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

/// All rows with their lines, and the complaint that ended them.
inline std::string told_by_reference(const TextFile& file, std::span<const char* const> columns,
                                     std::size_t required) {
  std::string told;
  try {
    ReferenceCsvReader reader(file, columns, required);
    while (reader.next()) {
      told += std::to_string(reader.line());
      for (const std::string& field : reader.row()) told += '[' + field + ']';
    }
  } catch (const DataError& error) {
    told += error.what();
  }
  return told;
}

inline std::string told_by_reader(const TextFile& file, std::span<const char* const> columns,
                                  std::size_t required) {
  std::string told;
  try {
    CsvReader reader(file, columns, required);
    while (reader.next()) {
      told += std::to_string(reader.line());
      for (const char* column : columns) told += '[' + reader.text(column) + ']';
    }
  } catch (const DataError& error) {
    told += error.what();
  }
  return told;
}

}  // namespace gradcast
