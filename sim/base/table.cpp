#include "sim/base/table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace gradcast {
namespace {

bool like_number(const std::string& text) {
  if (text.empty() || text == "-") return true;
  const std::size_t at = text[0] == '+' || text[0] == '-' ? 1 : 0;
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

struct TextColumn {
  std::size_t width = 0;
  bool right = true;
};

std::vector<TextColumn> columns_of(const TextTable& table) {
  std::vector<TextColumn> columns(table.header.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].width = table.header[c].size();
    for (const auto& row : table.rows) {
      if (row.empty()) continue;
      columns[c].width = std::max(columns[c].width, row[c].size());
      columns[c].right = columns[c].right && like_number(row[c]);
    }
  }
  return columns;
}

std::string line_of(const std::vector<std::string>& row, const std::vector<TextColumn>& columns) {
  std::string line;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const std::string gap(columns[c].width - row[c].size(), ' ');
    line += (c > 0 ? "  " : "") + (columns[c].right ? gap + row[c] : row[c] + gap);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string printed(const char* format, int digits, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, digits, value);
  return text.data();
}

}  // namespace

std::string to_text(const TextTable& table) {
  const std::vector<TextColumn> columns = columns_of(table);
  std::string text = line_of(table.header, columns);
  std::vector<std::string> rule;
  rule.reserve(columns.size());
  for (const TextColumn& column : columns) rule.emplace_back(column.width, '-');
  text += line_of(rule, columns);
  for (const auto& row : table.rows) text += row.empty() ? "\n" : line_of(row, columns);
  return text;
}

std::string fixed(double value, int digits) {
  // An answer with "nan" in it would be believed, or its zeros would. JSON documents refuse it too.
  if (!std::isfinite(value)) throw std::logic_error("a result is not a finite number");
  std::string text = printed("%.*f", digits, value);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string with_sign(double value, int digits) {
  const std::string text = fixed(value, digits);
  return text.starts_with('-') ? text : "+" + text;
}

}  // namespace gradcast
