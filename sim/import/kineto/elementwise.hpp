// How many elements an elementwise kernel of PyTorch goes over, by its launch.
#pragma once
#include <cstdint>
#include <string_view>

namespace gradcast::kineto {

/// The elements for which a kernel of so many blocks and threads a block has room: it has at least
/// as many, less what a block takes. -1 for a kernel that is not elementwise.
std::int64_t elementwise_elements(std::string_view kernel, std::int64_t blocks,
                                  std::int64_t threads);

/// What a block takes at most: 128 threads with 4 elements each
/// (ATen/native/cuda/thread_constants.h). The true count is less than this below the room.
inline constexpr std::int64_t kElementsOfBlock = 512;

}  // namespace gradcast::kineto
