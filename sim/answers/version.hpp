// The version of this program, and the source from which it was built.
#pragma once
#include <string>

namespace gradcast {

/// "0.1.0"
std::string program_version();

/// "0.1.0 (4f0c2d9e11aa)", with the commit where it is known. Builds with the same text behave
/// alike.
std::string version_and_commit();

/// The commit, in twelve letters, with "-dirty" if files that git knows were changed; "" if the
/// source was not a git checkout.
std::string build_commit();

}  // namespace gradcast
