// Text from other people's files, made fit to show.
#pragma once
#include <string>
#include <string_view>

namespace gradcast {

/// The text as valid UTF-8, with only the characters that XML and HTML allow; every other one
/// becomes U+FFFD.
std::string clean_text(std::string_view text);

/// The text with at most `most` characters (1 or more). The last is an ellipsis if some were cut.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace gradcast
