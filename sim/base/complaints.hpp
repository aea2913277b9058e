// What a child process writes to standard error, kept for the message about its end.
#pragma once
#include <string>

namespace gradcast {

/// In memory, so that no folder for temporary files is needed.
class Complaints {
 public:
  /// Throws Error (1) where this machine gives no such file.
  Complaints();
  ~Complaints();
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  /// For the child to use as its standard error.
  int descriptor() const { return descriptor_; }
  /// The last line that is not empty; "" where nothing was written.
  std::string last_line() const;

 private:
  int descriptor_ = -1;
};

}  // namespace gradcast
