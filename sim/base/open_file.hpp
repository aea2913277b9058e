// A file that is open to be read: a regular file, a pipe, a device.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace gradcast {

class OpenFile {
 public:
  /// Throws DataError for a file that cannot be read.
  explicit OpenFile(const std::filesystem::path& path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// Reads at most `size` bytes; 0 at the end. Waits for a program that has the pipe open. Throws
  /// DataError where reading fails, and for a pipe that no program opens within two seconds.
  std::size_t read(char* into, std::size_t size);

 private:
  std::string path_;
  int descriptor_;
  bool is_pipe_ = false;
  bool begun_ = false;  // something was read
};

}  // namespace gradcast
