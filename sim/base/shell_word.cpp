#include "sim/base/shell_word.hpp"

#include <algorithm>

namespace gradcast {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";

bool is_unprintable(char letter) {
  return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f';
}

std::string with_dollar_escapes(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string word = "$'";
  for (const char letter : text) {
    const auto its = static_cast<unsigned char>(letter);
    if (is_unprintable(letter)) {
      word += "\\x";
      word += kDigits[its / 16];
      word += kDigits[its % 16];
    } else {
      if (letter == '\'' || letter == '\\') word += '\\';
      word += letter;
    }
  }
  return word + "'";
}

}  // namespace

std::string in_shell_quotes(std::string_view text) {
  std::string word = "'";
  for (const char letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

std::string shell_word(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), is_unprintable)) return with_dollar_escapes(text);
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
  return plain ? std::string(text) : in_shell_quotes(text);
}

}  // namespace gradcast
