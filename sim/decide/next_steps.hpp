// Commands that go deeper into the best options, for a person to paste.
#pragma once
#include <string>
#include <vector>

#include "sim/decide/decision.hpp"

namespace gradcast {

/// A command for each of the first two options that keep the nodes: a break-even for a compressor,
/// a sweep for a number that may take more values, else the iteration itself. `arguments` is the
/// command line of `decide`, as Flags::arguments() has it.
std::vector<std::string> next_steps(const Decision& decision,
                                    const std::vector<std::string>& arguments);

}  // namespace gradcast
