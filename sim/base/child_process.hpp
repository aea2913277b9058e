// Runs a calculation in a forked process, so that a library that aborts, keeps process-wide state
// or never resets its clock can do none of it here.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace gradcast {

/// The numbers that `work` returns, computed in a child process. An exception that leaves `work`
/// comes back as std::runtime_error with the same text (a ValueError as one); so does a child that
/// dies, named `what` and with the last line it wrote to standard error.
std::vector<double> run_in_child(const std::string& what,
                                 const std::function<std::vector<double>()>& work);

}  // namespace gradcast
