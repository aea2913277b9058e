#include "sim/base/sha256_of_file.hpp"

#include <fstream>

#include "sim/base/sha256.hpp"

namespace gradcast {

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 sum;
  std::string block(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    sum.add(std::string_view(block).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  return sum.finish();
}

}  // namespace gradcast
