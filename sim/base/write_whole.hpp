// All of a buffer into a descriptor.
#pragma once
#include <cstddef>

namespace gradcast {

/// However many calls that takes. False where one fails; errno then says why.
bool write_whole(int descriptor, const void* data, std::size_t size);

}  // namespace gradcast
