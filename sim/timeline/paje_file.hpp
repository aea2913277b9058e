// A trace that SimGrid writes by itself: whole or not at all.
#pragma once
#include <filesystem>

namespace gradcast {

class PajeFile {
 public:
  /// Throws Error (1) where such a file cannot be written.
  explicit PajeFile(const std::filesystem::path& named);
  /// Without keep() nothing is left.
  ~PajeFile();
  PajeFile(const PajeFile&) = delete;
  PajeFile& operator=(const PajeFile&) = delete;

  /// Where SimGrid is to write.
  const std::filesystem::path& temporary() const { return temporary_; }

  /// Gives it its name. Throws Error (1) where SimGrid did not come to its end, which it does not
  /// tell.
  void keep();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  bool kept_ = false;
};

}  // namespace gradcast
