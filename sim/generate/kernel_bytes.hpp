// What the project's kernels do, as far as costs are derived from it. The bytes are in
// kernels/floor_bytes.hpp.
#pragma once
#include <cstdint>

#include "kernels/floor_bytes.hpp"

namespace gradcast {

/// A tensor of at most this many elements is encoded whole by one block, in one launch.
inline constexpr std::int64_t kWholeTensor = 8192;

}  // namespace gradcast
