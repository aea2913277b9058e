#include "sim/base/toml_guard.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

bool is_bare(char letter) {
  return is_letter(letter) || is_digit(letter) || letter == '_' || letter == '-';
}

bool is_hex(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}

/// Takes digits with single underscores between them from the front of a word; false if it has
/// none.
bool take_digits(std::string_view& word, bool (*digit)(char)) {
  if (word.empty() || !digit(word[0])) return false;
  std::size_t i = 1;
  while (i < word.size() &&
         (digit(word[i]) || (word[i] == '_' && i + 1 < word.size() && digit(word[i + 1]))))
    ++i;
  word.remove_prefix(i);
  return true;
}

/// "-1_000", "0x1f", "2.5e-3", "inf".
bool is_number(std::string_view word) {
  if (word.starts_with("0x")) {
    word.remove_prefix(2);
    return take_digits(word, is_hex) && word.empty();
  }
  if (word.starts_with("0o") || word.starts_with("0b")) {
    const auto digit = word[1] == 'b' ? +[](char c) { return c == '0' || c == '1'; }
                                      : +[](char c) { return c >= '0' && c <= '7'; };
    word.remove_prefix(2);
    return take_digits(word, digit) && word.empty();
  }
  if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
  if (word == "inf" || word == "nan") return true;
  if (word.size() > 1 && word[0] == '0' && (is_digit(word[1]) || word[1] == '_')) return false;
  if (!take_digits(word, is_digit)) return false;
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    if (!take_digits(word, is_digit)) return false;
  }
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(1);
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    if (!take_digits(word, is_digit)) return false;
  }
  return word.empty();
}

/// Like "1979-05-27" or "07:32": digits, and a sign of dates between two of them.
bool looks_like_a_date(std::string_view word) {
  for (std::size_t i = 1; i < word.size(); ++i)
    if ((word[i] == ':' || word[i] == '-') && is_digit(word[i - 1])) return true;
  return false;
}

/// Goes through the text once, by the grammar of the TOML that means something here.
class Grammar {
 public:
  explicit Grammar(const TextFile& file) : path_(file.path.string()), text_(file.content) {}

  void document() {
    if (text_.size() > kLongestToml)
      throw DataError(path_, 0,
                      "has " + std::to_string(text_.size()) + " bytes; a plan or config file has " +
                          std::to_string(kLongestToml) + " at most");
    while (!done()) {
      skip_blanks();
      if (here() == '[')
        header();
      else if (!ends_line())
        entry();
      end_line();
    }
  }

 private:
  DataError refusal(const std::string& what) const {
    return {path_, line_, "this is not TOML that gradcast reads: " + what};
  }

  // ---- letters ----

  bool done() const { return at_ == text_.size(); }
  /// A line break at the end of the text.
  char here() const { return done() ? '\n' : text_[at_]; }
  std::string_view rest() const { return text_.substr(at_); }
  bool ends_line() const { return here() == '\n' || here() == '#' || rest().starts_with("\r\n"); }

  void skip_blanks() {
    while (here() == ' ' || here() == '\t') ++at_;
  }

  /// One character of a text or a comment.
  void skip_character() {
    const std::size_t length = utf8_length(rest());
    if (length == 0) throw refusal("the bytes here are not UTF-8");
    const auto byte = static_cast<std::uint8_t>(here());
    const bool return_before_break = here() == '\r' && rest().substr(0, 2) == "\r\n";
    if ((byte < 0x20 && byte != '\t' && !return_before_break) || byte == 0x7F)
      throw refusal("a control character");
    at_ += length;
  }

  void end_line() {
    skip_blanks();
    if (here() == '#')
      while (here() != '\n') skip_character();
    if (here() == '\r') ++at_;
    if (here() != '\n') throw unexpected("the end of the line");
    if (!done()) ++at_;
    ++line_;
  }

  /// Blanks, comments and line breaks inside a list.
  void skip_lines() {
    skip_blanks();
    while (ends_line() && !done()) {
      end_line();
      skip_blanks();
    }
  }

  DataError unexpected(const std::string& wanted) const {
    if (done()) return refusal(wanted + " is missing at the end");
    if (here() == '\n' || here() == '\r') return refusal(wanted + " is missing");
    const std::size_t length = utf8_length(rest());
    if (length == 0) return refusal("the bytes here are not UTF-8");
    if (length > 1) return refusal("a letter that is not ASCII stands outside of quotes");
    if (static_cast<std::uint8_t>(here()) < 0x20 || here() == 0x7F)
      return refusal("a control character");
    return refusal(wanted + " is due, and here is '" + here() + "'");
  }

  void take(char letter, const std::string& wanted) {
    if (here() != letter || done()) throw unexpected(wanted);
    ++at_;
  }

  // ---- grammar ----

  void header() {
    ++at_;
    const bool of_list = here() == '[';
    if (of_list) ++at_;
    key("the name of a table");
    take(']', "']'");
    if (of_list) take(']', "']'");
  }

  void entry() {
    key("a name");
    take('=', "'='");
    skip_blanks();
    value(0);
  }

  void key(const std::string& wanted) {
    for (std::size_t parts = 1;; ++parts) {
      if (parts > kMostTomlKeyParts)
        throw refusal("a name has more than " + std::to_string(kMostTomlKeyParts) +
                      " parts between dots");
      skip_blanks();
      if (here() == '"' || here() == '\'')
        quoted();
      else if (word(is_bare).empty())
        throw unexpected(wanted);
      skip_blanks();
      if (here() != '.') return;
      ++at_;
    }
  }

  void value(std::size_t depth) {
    if (here() == '"' || here() == '\'') return quoted();
    if (here() == '[' || here() == '{') {
      if (depth == kDeepestToml)
        throw refusal("lists and tables stand in each other more than " +
                      std::to_string(kDeepestToml) + " deep");
      return here() == '[' ? list(depth + 1) : table(depth + 1);
    }
    const std::string_view bare =
        word([](char c) { return is_bare(c) || c == '+' || c == '.' || c == ':'; });
    if (bare.empty()) throw unexpected("a value");
    if (bare == "true" || bare == "false" || is_number(bare)) return;
    if (looks_like_a_date(bare))
      throw refusal("a date or a time of day, which mean nothing here; a text needs quotes");
    throw refusal("'" + std::string(bare) +
                  "' is no number, not true and not false; a text needs quotes");
  }

  std::string_view word(bool (*letter)(char)) {
    std::size_t length = 0;
    while (length < rest().size() && letter(rest()[length])) ++length;
    if (length > kLongestTomlWord)
      throw refusal("a word without quotes has more than " + std::to_string(kLongestTomlWord) +
                    " letters");
    const std::string_view found = rest().substr(0, length);
    at_ += length;
    return found;
  }

  void list(std::size_t depth) {
    ++at_;
    for (skip_lines(); here() != ']'; skip_lines()) {
      value(depth);
      skip_lines();
      if (here() == ']') break;
      take(',', "',' or ']'");
    }
    take(']', "']'");
  }

  void table(std::size_t depth) {
    ++at_;
    skip_blanks();
    if (here() == '}') {
      ++at_;
      return;
    }
    for (;;) {
      key("a name");
      take('=', "'='");
      skip_blanks();
      value(depth);
      skip_blanks();
      if (here() != ',') break;
      ++at_;
    }
    take('}', "',' or '}'");
  }

  void quoted() {
    const char quote = here();
    if (rest().size() > 2 && rest()[1] == quote && rest()[2] == quote)
      throw refusal("a text over several lines, which means nothing here");
    ++at_;
    while (here() != quote) {
      if (here() == '\n') throw refusal("a quote is opened and not closed");
      const bool escapes = here() == '\\' && quote == '"';
      skip_character();
      if (escapes && here() != '\n') skip_character();
    }
    ++at_;
  }

  std::string path_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

void require_readable_toml(const TextFile& file) { Grammar(file).document(); }

}  // namespace gradcast
