// The version of this program.
#pragma once
#include <string>

namespace gradcast {

/// "0.1.0"
std::string program_version();

/// "0.1.0 (4f0c2d9e11aa)", with the commit where it is known. Builds with the same text behave
/// alike.
std::string version_and_commit();

}  // namespace gradcast
