// The source from which this program was built.
#pragma once
#include <string>

namespace gradcast {

/// The commit, in twelve letters, with "-dirty" if files that git knows were changed; "" if the
/// source was not a git checkout.
std::string build_commit();

}  // namespace gradcast
