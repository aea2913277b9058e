#include "sim/base/toml_guard.hpp"

#include <cstdint>
#include <string>

#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "sim/base/utf8.hpp"

namespace gradcast {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool begins_key(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || is_digit(letter) ||
         letter == '-' || letter == '_' || letter == '"' || letter == '\'';
}

/// Goes through the text once. It knows quotes, comments and brackets, and no more grammar.
class Scanner {
 public:
  explicit Scanner(const TextFile& file) : path_(file.path.string()), text_(file.content) {}

  void run() {
    if (text_.size() > kLongestToml)
      throw DataError(path_, 0,
                      "has " + std::to_string(text_.size()) + " bytes; a plan or config file has " +
                          std::to_string(kLongestToml) + " at most");
    while (at_ < text_.size()) step();
  }

 private:
  DataError refusal(const std::string& what) const {
    return {path_, line_, "this is not TOML that gradcast reads: " + what};
  }

  void step() {
    const char letter = text_[at_];
    switch (letter) {
      case ' ':
      case '\t':
        if (at_ > 0 && is_digit(text_[at_ - 1]) && at_ + 1 < text_.size() &&
            is_digit(text_[at_ + 1]))
          throw refusal(
              "two numbers with a blank between them: a comma is missing, or it is a date, which "
              "means nothing here");
        letters_ = 0;
        ++at_;
        return;
      case '\n':
        end_line();
        return;
      case '#':
        skip_comment();
        return;
      case '"':
      case '\'':
        require_place("a quote");
        skip_text(letter);
        return;
      case '[':
      case '{':
        require_place("a bracket");
        if (!in_statement_ && depth_ == 0) begin_header();
        if (++depth_ > kDeepestToml)
          throw refusal("lists and tables stand in each other more than " +
                        std::to_string(kDeepestToml) + " deep");
        end_word();
        break;
      case ']':
      case '}':
        if (depth_ > 0) --depth_;
        end_word();
        break;
      case '=':
        in_value_ = true;
        end_word();
        break;
      case ',':
        end_word();
        break;
      case '.':
        if (++parts_ > kMostTomlKeyParts)
          throw refusal("a name has more than " + std::to_string(kMostTomlKeyParts) +
                        " parts between dots");
        break;
      case ':':
      case '-':
        if (in_value_ && at_ > 0 && is_digit(text_[at_ - 1]))
          throw refusal("a date or a time of day, which mean nothing here; a text needs quotes");
        [[fallthrough]];
      default:
        if (++letters_ > kLongestTomlWord)
          throw refusal("a word without quotes has more than " + std::to_string(kLongestTomlWord) +
                        " letters");
    }
    require_plain(letter);
    in_statement_ = true;
    ++at_;
  }

  void require_plain(char letter) const {
    const auto byte = static_cast<std::uint8_t>(letter);
    if (byte >= 0x80) {
      if (utf8_length(text_.substr(at_)) == 0) throw refuse_bytes();
      throw refusal("a letter that is not ASCII stands outside of quotes");
    }
    if ((byte < 0x20 && letter != '\t' && letter != '\r') || byte == 0x7F)
      throw refusal("a control character stands outside of quotes");
  }

  DataError refuse_bytes() const { return refusal("the bytes here are not UTF-8"); }

  /// A name must follow the bracket or brackets that begin a line.
  void begin_header() {
    in_header_ = true;
    std::size_t next = at_ + 1;
    if (text_.substr(next).starts_with('[')) ++next;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    if (next == text_.size() || !begins_key(text_[next]))
      throw refusal("the name of a table is missing after '['");
  }

  void end_word() {
    parts_ = 1;
    letters_ = 0;
  }

  void end_line() {
    ++line_;
    ++at_;
    end_word();
    // A list goes on in the next line, the name of a table does not. Where its bracket was never
    // closed, toml++ says so.
    if (in_header_) depth_ = 0;
    if (depth_ == 0) in_value_ = false;
    in_header_ = in_statement_ = false;
  }

  void skip_character() {
    const std::size_t length = utf8_length(text_.substr(at_));
    if (length == 0) throw refuse_bytes();
    at_ += length;
  }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') skip_character();
  }

  /// toml++ reads a number or a date on through quotes and brackets, and there are letters beyond
  /// ASCII in them.
  void require_place(const std::string& what) const {
    if (at_ == 0) return;
    const char before = text_[at_ - 1];
    const bool in_key = before == '.' && !in_value_;
    if (!in_key && std::string_view(" \t\r\n=,[{").find(before) == std::string_view::npos)
      throw refusal(what + " stands inside a word");
  }

  void skip_text(char quote) {
    const std::string_view rest = text_.substr(at_);
    if (rest.size() > 2 && rest[1] == quote && rest[2] == quote)
      throw refusal("a text over several lines, which means nothing here");
    in_statement_ = true;
    ++at_;
    while (at_ < text_.size() && text_[at_] != '\n') {
      const char letter = text_[at_];
      skip_character();
      if (letter == quote) return;
      if (letter == '\\' && quote == '"' && at_ < text_.size() && text_[at_] != '\n')
        skip_character();
    }
    throw refusal("a quote is opened and not closed");
  }

  std::string path_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t depth_ = 0;    // of brackets
  std::size_t parts_ = 1;    // of the key
  std::size_t letters_ = 0;  // of the word
  bool in_statement_ = false;
  bool in_header_ = false;
  bool in_value_ = false;  // behind '='
};

}  // namespace

void require_readable_toml(const TextFile& file) { Scanner(file).run(); }

}  // namespace gradcast
