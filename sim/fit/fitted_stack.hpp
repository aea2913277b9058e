// Writes the software that a fit found as a stack, which goes with any cluster.
#pragma once
#include <optional>
#include <string>

#include "sim/fit/fitted_files.hpp"

namespace gradcast {

/// `platforms/stack-<name>.csv`: every term of software that was estimated, how sure it is, and
/// under which conditions the runs have seen it. Its comments name what a stack cannot say: a term
/// that applies to some runs only, or one of 0. Nothing where no term is left. `fitted_on`: the
/// measured file, whose name without `measured-` becomes the stack's.
std::optional<FittedFile> fitted_stack(const Fit& fit, const std::string& fitted_on);

}  // namespace gradcast
