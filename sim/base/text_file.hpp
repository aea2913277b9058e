// Whole files: read with a clear error, written whole or not at all.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace gradcast {

struct TextFile {
  std::filesystem::path path;
  std::string content;
};

/// Far above any file of ours; what is longer (/dev/zero) must not eat the memory.
inline constexpr std::size_t kLongestTextFile = std::size_t{1} << 30;

/// Without a byte-order mark. Throws DataError when the file cannot be read, is no text or has more
/// than `most_bytes`.
TextFile read_text_file(const std::filesystem::path& path,
                        std::size_t most_bytes = kLongestTextFile);

/// Where a name leads: links are followed, also to a file that is not there yet. Throws Error (1)
/// for links in a circle.
std::filesystem::path follow_links(std::filesystem::path path);

/// Writes to a temporary name beside the named file and renames: a reader sees the old file or the
/// new one. A link stays a link. A name that is there and is no regular file (a pipe, /dev/full) is
/// written straight.
/// Throws Error (1) when the disk is full or the folder refuses.
void write_text_file(const std::filesystem::path& named, std::string_view content);

/// To standard output; throws Error (1) when it does not arrive (a full disk behind `>`).
void write_stdout(std::string_view content);

}  // namespace gradcast
