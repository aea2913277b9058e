// What is wrong with a TOML text before the library reads it. toml++ 3.3 calls itself once for each
// part of a dotted key, steps back further than it remembers, and has no defined behaviour for some
// characters: a hostile file would end the program without a line.
#pragma once
#include "sim/base/text_file.hpp"

namespace gradcast {

/// Throws DataError for what toml++ cannot be trusted with, none of which our files need: letters
/// that are not ASCII outside of quotes and comments, texts over several lines, and more depth,
/// parts or letters than limits.hpp allows. What passes may still be no TOML.
void require_readable_toml(const TextFile& file);

}  // namespace gradcast
