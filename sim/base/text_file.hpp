// Reads whole files, with a clear error. Writes files whole or not at all.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/limits.hpp"

namespace gradcast {

struct TextFile {
  std::filesystem::path path;
  std::string content;
};

/// The content, without a byte-order mark. Throws DataError when the file cannot be read, is not
/// text or has more than `most_bytes`.
TextFile read_text_file(const std::filesystem::path& path,
                        std::size_t most_bytes = kLongestTextFile);

/// Throws DataError where the content has a NUL byte, which text has not: code that reads lines as
/// C strings would end them there.
void require_text(const TextFile& file);

/// The path that a name leads to: links are followed, also to a file that does not exist yet.
/// Throws Error (1) for links in a circle.
std::filesystem::path follow_links(std::filesystem::path path);

/// Writes to a temporary name beside the named file and renames: a reader sees the old file or the
/// new one. A link stays a link. An existing name that is not a regular file (a pipe, /dev/full) is
/// written directly. Throws Error (1) when the disk is full or the folder refuses.
void write_text_file(const std::filesystem::path& named, std::string_view content);

/// Writes files that belong together: all under temporary names, then all renamed, in their order.
/// Only a crash between two names leaves some of them old, and then those that come last. Throws
/// Error (1) as write_text_file does.
void write_text_files(const std::vector<TextFile>& files);

/// Writes to standard output, or to the thread's caller. Throws Error (1) when that fails (a full disk behind `>`).
void write_stdout(std::string_view content);

/// Writes all of a buffer to a file descriptor: calls write() as often as needed. False where a
/// call fails; errno then says why.
bool write_whole(int descriptor, const void* data, std::size_t size);

}  // namespace gradcast
