#include "sim/base/clean_text.hpp"

#include <cstdint>

#include "sim/base/utf8.hpp"

namespace gradcast {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";  // U+FFFD
const std::string kEllipsis = "\xE2\x80\xA6";

/// The number of bytes of the character that begins here; 0 if it is not one that XML allows.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) {
    const bool allowed = byte(0) == '\t' || byte(0) == '\n' || (byte(0) >= 0x20 && byte(0) != 0x7F);
    return allowed ? 1 : 0;
  }
  const std::size_t length = utf8_length(text);
  if (length == 0) return 0;
  std::uint32_t code = byte(0) & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3Fu);
  const bool control = code < 0xA0;
  const bool no_character = (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
  // These characters change the direction of the text around them.
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  if (control || no_character || turns) return 0;
  return length;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    clean += length > 0 ? std::string(text.substr(0, length)) : kReplacement;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return clean;
}

std::string shortened(std::string_view text, std::size_t most) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  std::size_t characters = 0;
  std::size_t cut = text.size();  // where the last character that would be kept begins
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!begins(text[i])) continue;
    if (++characters == most) cut = i;
    if (characters > most) return std::string(text.substr(0, cut)) + kEllipsis;
  }
  return std::string(text);
}

}  // namespace gradcast
