// SHA-256 of a file that may be longer than memory.
#pragma once
#include <filesystem>
#include <string>

namespace gradcast {

/// Of the file as it lies there, packed or not: what `sha256sum` prints; "" in a build without
/// OpenSSL.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace gradcast
