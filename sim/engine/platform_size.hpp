// Size of the network of a SimGrid platform, counted in the text of its XML file. SimGrid makes
// what a file asks for, however much that is: two billion hosts are one short line.
#pragma once
#include "sim/base/text_file.hpp"

namespace gradcast {

/// Throws DataError, with the line, for a platform that is larger than limits.hpp and the most
/// ranks allow, and for XML that could hide such a one: CDATA, a DOCTYPE with declarations,
/// characters by number where a count is. A file that passes may still be no platform.
void require_small_platform(const TextFile& file);

}  // namespace gradcast
