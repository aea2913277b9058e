// `gradcast fit --stacks`: the costs of software stacks, from many sources at once.
#pragma once
#include "sim/inputs/data_files.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::commands {

/// Estimates all stacks, or judges that estimate group by group where --leave-one-out is given.
int fit_stacks(const Flags& flags, DataFiles& files);

}  // namespace gradcast::commands
