// `gradcast fit --save`: writes the estimates as files of a data folder.
#pragma once
#include <vector>

#include "sim/fit/fitted_files.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::commands {

/// Writes the files into the folder of --save, all or none, and says where they are.
void save_files(const Flags& flags, const std::vector<FittedFile>& made);

}  // namespace gradcast::commands
