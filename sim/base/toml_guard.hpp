// The grammar of the TOML that means something here. A file that breaks it never reaches the
// library: toml++ 3.3 calls itself once for each part of a dotted key, steps back further than it
// remembers, and fails assertions on brackets in wrong places, so that a hostile file would end the
// program without a line.
#pragma once
#include "sim/base/text_file.hpp"

namespace gradcast {

/// Throws DataError for what is no TOML, and for what our files do not need: dates, texts over
/// several lines, and more depth, parts or letters than limits.hpp allows. A file that passes may
/// still name a key twice or escape a letter that cannot be.
void require_readable_toml(const TextFile& file);

}  // namespace gradcast
