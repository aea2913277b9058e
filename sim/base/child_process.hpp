// Runs a calculation in a forked process. There a library may abort, keep process-wide state or
// never reset its clock without harm to this process. Keeps what a child writes to standard error.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace gradcast {

/// Keeps a child process's standard error for the message about its end. The text lies in memory,
/// so that no folder for temporary files is needed.
class Complaints {
 public:
  /// Throws Error (1) where this machine gives no such file.
  Complaints();
  ~Complaints();
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  /// The descriptor that the child uses as its standard error.
  int descriptor() const { return descriptor_; }
  /// The last line that is not empty; "" where nothing was written.
  std::string last_line() const;

 private:
  int descriptor_ = -1;
};

/// Called by a forked process: it dies as `parent` does, also where that is dead already. The
/// kernel tells of deaths to come alone.
void die_with(pid_t parent);

/// Returns the numbers that `work` returns in a child process. An exception that leaves `work` is
/// thrown here with the same text: an Error with its exit code, a ValueError as one, memory that
/// ran out as Error (1), any other as std::runtime_error. A child that dies gives a
/// std::runtime_error, with the name `what` and the last line that it wrote to standard error; one
/// that somebody killed, or that this machine cannot start, Error (1).
std::vector<double> run_in_child(const std::string& what,
                                 const std::function<std::vector<double>()>& work);

}  // namespace gradcast
