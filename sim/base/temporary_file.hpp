// A file that grows under another name beside its target, until it is whole and renamed.
#pragma once
#include <filesystem>
#include <string>

namespace gradcast {

/// "TARGET.tmp.HOST-PROCESS". Names no file of a process that still runs, here or on another
/// machine with the same disk.
class TemporaryFile {
 public:
  /// Removes what processes of this machine left for the same target when they were killed. Makes
  /// no file.
  explicit TemporaryFile(std::filesystem::path target);
  /// Removes the file unless it was renamed.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& target() const { return target_; }
  const std::string& name() const { return name_; }

  /// Gives the file its final name. Throws Error (1) where this machine refuses.
  void rename_to_target();

  /// Removes every such file of this process; from a signal handler.
  static void remove_all();

 private:
  void forget();

  std::filesystem::path target_;
  std::string name_;
  TemporaryFile* next_ = nullptr;  // in the list of all that remove_all() goes through
};

/// "HOST-PROCESS": unique among all processes that may write to a common disk.
std::string process_name();

}  // namespace gradcast
