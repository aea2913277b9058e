// The emulator's device memory: the host's, with a list of what is in use; and a queue whose
// kernels run by a schedule of one's own.
#pragma once
#include <cstddef>
#include <map>
#include <memory>

#include "kernels/device_memory.hpp"
#include "kernels/emulator/emulator.hpp"

namespace gradcast::emulator {

/// Aligned to 256 bytes. It holds garbage at first, as a device's does, so that a read before a
/// write shows.
void* allocate(std::size_t bytes);
void release(void* memory);

/// Memory in use: address and bytes, a multiple of 4. Host memory outside it is the same for all
/// blocks, whatever the memory order.
const std::map<std::byte*, std::size_t>& memory_in_use();

}  // namespace gradcast::emulator

namespace gradcast::on_emulator {

std::unique_ptr<DeviceQueue> make_queue(const emulator::Schedule& schedule);

}  // namespace gradcast::on_emulator
