// What this program is.
#pragma once
#include <string>

namespace gradcast {

/// "0.1.0"
std::string program_version();

/// "0.1.0 (4f0c2d9e11aa)", the commit where it is known: of one text, one behaviour.
std::string version_and_commit();

}  // namespace gradcast
