// The emulator's device memory: the host's, with a list of what is in use.
#pragma once
#include <cstddef>
#include <map>

namespace gradcast::emulator {

/// Aligned to 256 bytes. It holds garbage at first, as a device's does, so that a read before a
/// write shows.
void* allocate(std::size_t bytes);
void release(void* memory);

/// What is in use: address and bytes, a multiple of 4. Host memory that is not in it is the same
/// for all blocks, whatever the memory order.
const std::map<std::byte*, std::size_t>& memory_in_use();

}  // namespace gradcast::emulator
