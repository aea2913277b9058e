#include "sim/base/clean_text.hpp"

#include <array>
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
  std::size_t length = 0;
  std::uint32_t code = 0;
  if ((byte(0) & 0xE0) == 0xC0) length = 2, code = byte(0) & 0x1F;
  if ((byte(0) & 0xF0) == 0xE0) length = 3, code = byte(0) & 0x0F;
  if ((byte(0) & 0xF8) == 0xF0) length = 4, code = byte(0) & 0x07;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0xA0, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool no_character = (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
  // These characters change the direction of the text around them.
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  if (code < kLeast[length] || code > 0x10FFFF || surrogate || no_character || turns) return 0;
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
