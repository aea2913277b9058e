// Tells whether a file is still as it was when it was read.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

namespace gradcast {

/// The system's knowledge of a file or a folder, and when it was asked. Times are nanoseconds.
struct FileStamp {
  std::uint64_t device{};
  std::uint64_t number{};
  std::int64_t bytes{};
  std::int64_t written{};
  std::int64_t altered{};
  std::int64_t asked{};

  bool same_file(const FileStamp& other) const;

  /// True where the file was written so shortly before the question that a later write may have
  /// left it the same times: clocks of file systems have steps.
  bool is_young() const;
};

/// Nothing where there is no regular file and no folder.
std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

}  // namespace gradcast
