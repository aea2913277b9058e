// A command of the program, called as a function.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/base/caller.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// A command line by its parts.
struct Call {
  std::string command{};
  /// Names of flags without dashes ('_' counts as '-'), and values. A switch has "yes" or "no".
  std::vector<std::pair<std::string, std::string>> settings{};
  std::vector<std::string> words{};  // without a flag
};

/// Runs the command in this thread, on these files, and tells `caller` what it says. Neither
/// environment nor config file count. Returns its exit code where it ends well; throws Error as the
/// command does.
int run_call(const Call& call, const DataFiles& files, Caller& caller);

/// The files that a library of ours uses: those of `folder`, or, if it is "", those installed with
/// this library, else those that the program would find. Throws UsageError or MissingError where
/// there are none.
DataFiles library_files(const std::string& folder);

}  // namespace gradcast
