// Which source this program was built from.
#pragma once
#include <string>

namespace gradcast {

/// The commit, in twelve letters, with "-dirty" where files that git knows were changed; "" where
/// the source was no git checkout.
std::string build_commit();

}  // namespace gradcast
