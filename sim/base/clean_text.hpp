// Text from other people's files: valid UTF-8, and fit to show.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gradcast {

/// The number of bytes of the character that begins the text, which is not empty; 0 where it is not
/// UTF-8: cut off, longer than it need be, half of a pair of UTF-16, above U+10FFFF.
std::size_t utf8_length(std::string_view text);

/// Whether the bytes are text in UTF-16 with a byte-order mark, which PowerShell writes with `>`.
bool is_utf16(std::string_view bytes);
inline constexpr const char* kUtf16Words =
    "is text in UTF-16; make it UTF-8 (iconv -f UTF-16 -t UTF-8)";

/// The text as valid UTF-8, with only the characters that XML and HTML allow; every other one
/// becomes U+FFFD.
std::string clean_text(std::string_view text);

/// The text with at most `most` characters (1 or more). The last is an ellipsis if some were cut.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace gradcast
