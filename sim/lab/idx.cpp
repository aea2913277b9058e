#include "sim/lab/idx.hpp"

#include <cstdint>

#include "sim/base/error.hpp"

namespace gradcast::lab {
namespace {

constexpr std::size_t kMostDimensions = 4;
constexpr std::uint8_t kUnsignedBytes = 8;  // the type's code

std::size_t number_at(std::string_view content, std::size_t place) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<std::uint8_t>(content[place + i]);
  return number;
}

}  // namespace

Idx read_idx(const std::string& file, std::string_view content) {
  const auto fail = [&](const std::string& what) { throw DataError(file, 0, what); };
  if (content.size() < 4 || content[0] != 0 || content[1] != 0)
    fail("not an IDX file: these begin with two zero bytes, a type and a number of dimensions");
  const auto type = static_cast<std::uint8_t>(content[2]);
  if (type != kUnsignedBytes)
    fail("has elements of IDX type " + std::to_string(type) + "; unsigned bytes, type 8, are read");
  const auto dimensions = static_cast<std::size_t>(static_cast<std::uint8_t>(content[3]));
  if (dimensions == 0 || dimensions > kMostDimensions)
    fail("has " + std::to_string(dimensions) + " dimensions; 1 to 4 are read");
  const std::size_t header = 4 + 4 * dimensions;
  if (content.size() < header) fail("ends within its header");
  Idx idx;
  // Each size is below 2^32 and the file below 2^31 bytes, so dividing what is left never
  // overflows.
  std::size_t left = content.size() - header;
  bool fits = true;
  std::size_t product = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t size = number_at(content, 4 + 4 * i);
    idx.sizes.push_back(size);
    fits = fits && size > 0 && product <= left / size;
    if (fits) product *= size;
  }
  if (!fits || product != left)
    fail("has " + std::to_string(left) + " bytes after its header, and its sizes say otherwise");
  idx.bytes = content.substr(header);
  return idx;
}

}  // namespace gradcast::lab
