#include "sim/import/network/log_words.hpp"

#include <algorithm>

#include "sim/base/block_reader.hpp"
#include "sim/inputs/collective_curve.hpp"

namespace gradcast {
namespace {

bool is_gap(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_gap(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_gap(line.back())) line.remove_suffix(1);
  return line;
}

}  // namespace

TextFile read_log(const std::filesystem::path& path) {
  TextFile file{path, {}};
  BlockReader blocks(path);
  for (std::string_view block = blocks.next(); !block.empty(); block = blocks.next())
    file.content += block;
  return file;
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_date(std::string_view word) {
  if (word.size() != 10) return false;
  for (std::size_t at = 0; at < word.size(); ++at)
    if (at == 4 || at == 7 ? word[at] != '-' : !is_digit(word[at])) return false;
  return true;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && is_gap(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_gap(line[at])) ++at;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

std::string_view without_prefix(std::string_view line) {
  line = trimmed(line);
  while (line.starts_with('>')) line = trimmed(line.substr(1));  // a quotation
  if (line.size() > 19 && is_date(line.substr(0, 10)) && line[10] == 'T' && line[13] == ':')
    line = trimmed(line.substr(std::min(line.find_first_of(" \t"), line.size())));
  const std::size_t blank = line.find_first_of(" \t");
  std::size_t end = line.find(">:");
  if (line.starts_with('[') && end != std::string_view::npos && end < blank)
    return trimmed(line.substr(end + 2));
  end = line.find(':');
  if (end == std::string_view::npos || end + 1 != blank) return line;
  const std::string_view rest = trimmed(line.substr(blank));
  return !rest.empty() && (rest.front() == '#' || is_digit(rest.front())) ? rest : line;
}

std::string without_colours(std::string_view line) {
  std::string plain;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const std::size_t begin = at + (line[at] == '\x1b' ? 1 : 0);
    if (begin < line.size() && line[begin] == '[') {
      const std::size_t end =
          std::min(line.find_first_not_of("0123456789;", begin + 1), line.size());
      if (end < line.size() && line[end] == 'm' && (end > begin + 1 || begin > at)) {
        at = end;
        continue;
      }
    }
    plain += line[at];
  }
  return plain;
}

std::string_view nccl_version_in(std::string_view line) {
  constexpr std::string_view kVersion = "NCCL version ";
  const std::size_t at = line.find(kVersion);
  if (at == std::string_view::npos) return "";
  std::string_view version = line.substr(at + kVersion.size());
  version = version.substr(0, version.find_first_not_of("0123456789."));
  while (version.ends_with('.')) version.remove_suffix(1);
  return is_version(version) ? version : "";
}

std::size_t number_length(std::string_view word) {
  std::size_t at = word.starts_with('-') ? 1 : 0;
  const std::size_t first = at;
  while (at < word.size() && (is_digit(word[at]) || word[at] == '.')) ++at;
  if (at == first) return 0;
  if (at + 2 < word.size() && word[at] == 'e' && (word[at + 1] == '+' || word[at + 1] == '-') &&
      is_digit(word[at + 2])) {
    at += 2;
    while (at < word.size() && is_digit(word[at])) ++at;
  }
  return at;
}

}  // namespace gradcast
