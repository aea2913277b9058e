// Writes protobuf's wire format, for tests that need such files.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

inline std::string varint(std::uint64_t number) {
  std::string bytes;
  while (number >= 0x80) {
    bytes += static_cast<char>(number | 0x80);
    number >>= 7;
  }
  return bytes + static_cast<char>(number);
}

inline std::string number_field(int field, std::int64_t number) {
  return varint(static_cast<std::uint64_t>(field) << 3) +
         varint(static_cast<std::uint64_t>(number));
}

/// A text, bytes, or a message inside another.
inline std::string bytes_field(int field, std::string_view bytes) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(bytes.size()) +
         std::string(bytes);
}
