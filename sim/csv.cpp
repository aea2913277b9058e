#include "sim/csv.hpp"

#include <algorithm>

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
  for (const std::string& line : lines) text += "# " + line + "\n";
  return text;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  quoted.reserve(fields.size());
  for (const std::string& field : fields) quoted.push_back(csv_field(field));
  return join(quoted, ",") + "\n";
}

}  // namespace gradcast
