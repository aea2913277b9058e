#pragma once
#include <cstddef>
#include <string_view>

namespace gradcast {

/// The number of bytes of the character that begins the text, which is not empty; 0 where it is not
/// UTF-8: cut off, longer than it need be, half of a pair of UTF-16, above U+10FFFF.
std::size_t utf8_length(std::string_view text);

}  // namespace gradcast
