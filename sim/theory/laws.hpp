// The laws that have a name: "normal:8,1".
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/theory/law.hpp"

namespace gradcast {

/// A name, and behind a colon its parameters. Throws ValueError for an unknown name, for parameters
/// that make no distribution, and for one without a finite variance.
Law parse_law(std::string_view text);

/// "normal:MU,SIGMA", ... for help and messages.
std::vector<std::string> law_forms();

/// "normal", ... for completion.
std::vector<std::string> law_names();

}  // namespace gradcast
