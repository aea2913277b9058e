// Table of the tensor that each block of a launch has. It is plain arithmetic, done once on the
// host.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/device/dialect.cuh"
#include "kernels/value_type.hpp"

namespace gradcast::GRADCAST_DEVICE {

inline void require_elements(std::int64_t elements) {
  if (elements < 1 || elements > INT32_MAX)
    throw std::invalid_argument("a tensor has 1 to 2147483647 elements, not " +
                                std::to_string(elements));
}

inline bool is_aligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % 16 == 0;
}
/// Four neighbours can be read and written at once.
template <class Memory>
bool is_aligned(const NumbersIn<Memory>& numbers) {
  return elements_past_alignment(numbers) == 0;
}

/// Numbers of the blocks that a tensor gets, `count` of them; returns the first.
inline std::int32_t append_blocks(std::vector<std::int32_t>& table, std::int64_t count,
                                  std::size_t segment) {
  const auto first = static_cast<std::int32_t>(table.size());
  table.resize(table.size() + static_cast<std::size_t>(count), static_cast<std::int32_t>(segment));
  return first;
}

}  // namespace gradcast::GRADCAST_DEVICE
