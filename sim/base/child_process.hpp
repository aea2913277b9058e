// Runs a calculation in a forked process. There a library may abort, keep process-wide state or
// never reset its clock without harm to this process.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace gradcast {

/// Returns the numbers that `work` returns in a child process. An exception that leaves `work` is
/// thrown here as std::runtime_error with the same text (a ValueError as a ValueError). A child
/// that dies also gives a std::runtime_error, with the name `what` and the last line that it wrote
/// to standard error.
std::vector<double> run_in_child(const std::string& what,
                                 const std::function<std::vector<double>()>& work);

}  // namespace gradcast
