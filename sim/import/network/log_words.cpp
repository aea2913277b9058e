#include "sim/import/network/log_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "sim/base/block_reader.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/collective_curve.hpp"

namespace gradcast {
namespace {

bool is_gap(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_gap(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_gap(line.back())) line.remove_suffix(1);
  return line;
}

constexpr std::size_t kLongestPrefix = 200;

/// Letters of a prefix that ends in `end`, which stands near the beginning; 0 for none.
std::size_t length_up_to(std::string_view line, std::string_view end) {
  const std::size_t at = line.substr(0, kLongestPrefix).find(end);
  return at == std::string_view::npos ? 0 : at + end.size();
}

/// Whether a table's line or a comment begins here: "# Size", "1024 55.48", "GPU0 X NV18".
bool begins_table_line(std::string_view text) {
  if (text.empty()) return false;
  if (text.front() == '#' || is_digit(text.front())) return true;
  return text.size() > 3 && (text.starts_with("GPU") || text.starts_with("NIC")) &&
         is_digit(text[3]);
}

/// Ends of mpirun's tags.
constexpr std::array<std::string_view, 2> kOutputs = {"<stdout>:", "<stderr>:"};

/// Whether a row or a comment of a table stands here: "1024 256 float", "# size". A time does not:
/// "2025-03-04 08:00:00".
bool begins_row_or_comment(std::string_view text) {
  if (text.starts_with('#')) return true;
  const std::vector<std::string_view> words = words_of(text);
  const auto is_number = [](std::string_view word) { return number_length(word) == word.size(); };
  return words.size() > 1 && is_number(words[0]) && is_number(words[1]);
}

/// Whether a row stands here to its end, and no number that a logger put before it: "1024 256
/// float", or OSU's "1024 55.48", of which a row has two numbers or five.
bool is_whole_row(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  std::size_t numbers = 0;
  while (numbers < words.size() && number_length(words[numbers]) == words[numbers].size())
    ++numbers;
  if (numbers == words.size()) return numbers == 2 || numbers == 5;
  const auto is_letter = [](char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
  return numbers == 2 && std::ranges::all_of(words[2], is_letter);
}

/// Letters of the tag that begins at the bracket: "[1,0]<stdout>:", "[prterun-n-7@1,0]<stdout>:",
/// "[1,0][n:17]<stdout>:", or "[0]" before a gap; 0 for none.
std::size_t tag_length(std::string_view text) {
  std::size_t at = 0;
  int brackets = 0;
  while (brackets < 2 && at < text.size() && text[at] == '[') {
    const std::size_t end = text.find_first_of("] \t", at);
    if (end == std::string_view::npos || text[end] != ']') return 0;
    at = end + 1;
    ++brackets;
  }
  for (const std::string_view output : kOutputs)
    if (brackets > 0 && text.substr(at).starts_with(output)) return at + output.size();
  const bool rank =
      brackets == 1 && at > 2 && std::all_of(text.begin() + 1, text.begin() + at - 1, is_digit);
  return rank && (at == text.size() || is_gap(text[at])) ? at : 0;
}

/// Whether a time of day ends a word's date: "08:00:00,123", "2026-11-02T10:22:33.1Z".
bool has_time_of_day(std::string_view word) {
  constexpr std::string_view kForm = "00:00:00";
  if (word.size() > 11 && is_date(word.substr(0, 10)) && word[10] == 'T') word.remove_prefix(11);
  if (word.size() < kForm.size()) return false;
  for (std::size_t at = 0; at < kForm.size(); ++at)
    if (kForm[at] == ':' ? word[at] != ':' : !is_digit(word[at])) return false;
  return word.size() == kForm.size() || !is_digit(word[kForm.size()]);
}

/// Letters up to the end of the time that a logger stamped the line with; 0 for none. The date may
/// be any words before it: "Nov 02 10:22:33", "2026-11-02 10:22:33,123", "I1102 10:22:33.1".
std::size_t stamp_length(std::string_view line) {
  constexpr std::size_t kMostWords = 4;
  const std::vector<std::string_view> words = words_of(line.substr(0, kLongestPrefix));
  for (std::size_t i = 0; i < std::min(words.size(), kMostWords); ++i)
    if (has_time_of_day(words[i]))
      return static_cast<std::size_t>(words[i].data() + words[i].size() - line.data());
  return 0;
}

/// The line behind its stamp, without what loggers put between that and the message, if a table's
/// line follows: "stdout F", "node0 srun[17]:", "INFO", "- root - INFO -", "main.py:12]".
std::string_view behind_stamp(std::string_view line) {
  const std::string_view whole = trimmed(line);
  std::string_view rest = whole;
  while (!rest.empty() && rest.data() - whole.data() < std::ptrdiff_t{kLongestPrefix}) {
    if (is_whole_row(rest) || (begins_table_line(rest) && !is_digit(rest.front()))) return rest;
    const std::size_t blank = std::min(rest.find_first_of(" \t"), rest.size());
    if (rest.substr(0, blank) == "NCCL") break;  // its words have numbers, too
    rest = trimmed(rest.substr(blank));
  }
  return whole;
}

/// `line` has no blanks around it.
std::string_view without_one_prefix(std::string_view line) {
  if (begins_row_or_comment(line)) return line;
  if (line.starts_with('>')) return trimmed(line.substr(1));  // a quotation
  // mpirun --tag-output, also with a time before it. A tag behind numbers stands inside a row.
  for (const std::string_view output : kOutputs)
    if (const std::size_t length = length_up_to(line, "]" + std::string(output));
        length > 0 && !begins_row_or_comment(line.substr(0, length)))
      return trimmed(line.substr(length));
  if (const std::size_t stamp = stamp_length(line); stamp > 0)
    return behind_stamp(line.substr(stamp));
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  if (line.starts_with('[')) {
    const std::size_t tag = line.find(">:");
    if (tag != std::string_view::npos && tag < blank) return trimmed(line.substr(tag + 2));
  }
  if (line.starts_with('[') || line.starts_with('(')) {
    const std::size_t length = length_up_to(line, line.front() == '[' ? "]" : ")");
    if (length > 0 && length < line.size() && is_gap(line[length]))
      return trimmed(line.substr(length));
  }
  // "node7: 1024", "INFO:root: 1024", and "INFO:root:# size" without a gap.
  const std::string_view name = line.substr(0, blank);
  if (const std::size_t comment = name.find(":#"); comment != std::string_view::npos)
    return line.substr(comment + 1);
  if (!name.ends_with(':')) return line;
  const std::string_view rest = trimmed(line.substr(blank));
  return begins_table_line(rest) ? rest : line;
}

}  // namespace

TextFile read_log(const std::filesystem::path& path) {
  TextFile file{path, {}};
  BlockReader blocks(path);
  for (std::string_view block = blocks.next(); !block.empty(); block = blocks.next())
    file.content += block;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (file.content.starts_with(kByteOrderMark)) file.content.erase(0, kByteOrderMark.size());
  return file;
}

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
  // Launchers nest: kubectl logs --prefix prints what mpirun --tag-output printed.
  for (std::size_t before = line.size() + 1; line.size() < before;) {
    before = line.size();
    line = without_one_prefix(trimmed(line));
  }
  return line;
}

std::string without_inner_tags(std::string_view line) {
  if (!begins_row_or_comment(line)) return std::string(line);
  std::string plain;
  while (!line.empty()) {
    const std::size_t length = tag_length(line);
    plain += length > 0 ? ' ' : line.front();
    line.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return plain;
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
