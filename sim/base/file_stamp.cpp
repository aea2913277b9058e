#include "sim/base/file_stamp.hpp"

#include <sys/stat.h>

#include <chrono>

namespace gradcast {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

}  // namespace

bool FileStamp::same_file(const FileStamp& other) const {
  return device == other.device && number == other.number && bytes == other.bytes &&
         written == other.written && altered == other.altered;
}

bool FileStamp::is_young() const {
  // Linux stamps files by a clock that steps once a tick, of 1 to 10 ms.
  return altered > asked - kSecond / 10;
}

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return std::nullopt;
  return FileStamp{found.st_dev,
                   found.st_ino,
                   found.st_size,
                   nanoseconds(found.st_mtim),
                   nanoseconds(found.st_ctim),
                   now};
}

}  // namespace gradcast
