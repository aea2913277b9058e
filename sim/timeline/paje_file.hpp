// A trace that SimGrid itself writes. The file is whole or absent.
#pragma once
#include <filesystem>

namespace gradcast {

class PajeFile {
 public:
  /// Throws Error (1) where such a file cannot be written.
  explicit PajeFile(const std::filesystem::path& named);
  /// Removes the file unless keep() was called.
  ~PajeFile();
  PajeFile(const PajeFile&) = delete;
  PajeFile& operator=(const PajeFile&) = delete;

  /// The path to which SimGrid must write.
  const std::filesystem::path& temporary() const { return temporary_; }

  /// Gives the file its final name. Throws Error (1) if SimGrid did not write it to the end, which
  /// SimGrid itself does not report.
  void keep();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  bool kept_ = false;
};

}  // namespace gradcast
