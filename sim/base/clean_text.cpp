#include "sim/base/clean_text.hpp"

#include <cstdint>

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

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Too long for its character, half of a pair of UTF-16, above U+10FFFF.
  const bool none = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                    (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return none ? 0 : length;
}

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
}

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
