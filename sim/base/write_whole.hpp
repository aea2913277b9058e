// Writes all of a buffer to a file descriptor.
#pragma once
#include <cstddef>

namespace gradcast {

/// Calls write() as often as needed. False where a call fails; errno then says why.
bool write_whole(int descriptor, const void* data, std::size_t size);

}  // namespace gradcast
