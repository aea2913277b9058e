// Reads a file in blocks, so that its length does not matter to memory.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/gzip.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/open_file.hpp"

namespace gradcast {

class BlockReader {
 public:
  /// A gzip file is unpacked on the way, whatever its name. Throws DataError for a file that cannot
  /// be read.
  explicit BlockReader(const std::filesystem::path& path,
                       std::size_t most_bytes = kLongestTextFile);

  /// The next block; empty at the end. It is valid until the next call. Throws DataError for a file
  /// that cannot be read on, is damaged, or has more than the most bytes (after unpacking), and
  /// MissingError for gzip in a build without zlib.
  std::string_view next();

  const std::string& path() const { return path_; }

 private:
  bool read_block();
  std::string_view counted(std::string_view text);

  std::string path_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;  // handed out
  OpenFile file_;
  std::string block_;
  std::string_view left_;  // of the block
  bool begun_ = false;
  std::unique_ptr<Gunzip> gunzip_;
};

/// All bytes of a file, as BlockReader has them. A file that does not begin with `begin` is not
/// read to its end: /dev/zero has none.
std::string bytes_of_file(const std::filesystem::path& path, std::string_view begin,
                          std::size_t most_bytes = kLongestTextFile);

}  // namespace gradcast
