// A file whole, for tests of what was packed.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "sim/base/block_reader.hpp"

inline std::string read_unpacked(const std::filesystem::path& path,
                                 std::size_t most_bytes = gradcast::kLongestTextFile) {
  gradcast::BlockReader file(path, most_bytes);
  std::string text;
  for (std::string_view block = file.next(); !block.empty(); block = file.next()) text += block;
  return text;
}
