// A queue of the emulator whose kernels run by a schedule of one's own.
#pragma once
#include "kernels/device_memory.hpp"
#include "kernels/emulator/emulator.hpp"

namespace gradcast::on_emulator {

std::unique_ptr<DeviceQueue> make_queue(const emulator::Schedule& schedule);

}  // namespace gradcast::on_emulator
