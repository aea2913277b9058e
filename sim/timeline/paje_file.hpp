// A trace that SimGrid itself writes. The file is whole or absent.
#pragma once
#include <filesystem>

#include "sim/base/temporary_file.hpp"

namespace gradcast {

class PajeFile {
 public:
  /// Throws Error (1) where such a file cannot be written. Without keep() it is removed.
  explicit PajeFile(const std::filesystem::path& named);

  /// The path to which SimGrid must write.
  std::filesystem::path temporary() const { return file_.name(); }

  /// Gives the file its final name. Throws Error (1) if SimGrid did not write it to the end, which
  /// SimGrid itself does not report.
  void keep();

 private:
  TemporaryFile file_;
};

}  // namespace gradcast
