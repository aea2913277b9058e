// Parts of the time of a step's window, on the GPU.
#pragma once
#include <vector>

#include "sim/import/kineto/steps.hpp"

namespace gradcast::kineto {

/// Times in one window. window = compute + exposed + idle = busy + host + wait + other.
struct WindowTimes {
  Nanoseconds window = 0;
  Nanoseconds compute = 0;  // a compute kernel runs, on whichever stream
  Nanoseconds exposed = 0;  // a collective runs and no compute kernel does
  Nanoseconds idle = 0;
  Nanoseconds busy = 0;   // the compute stream has work
  Nanoseconds host = 0;   // it has none, and the next is not launched yet
  Nanoseconds wait = 0;   // the next is launched, and a collective runs
  Nanoseconds other = 0;  // the next is launched, and no collective runs
  Nanoseconds forward = 0, backward = 0, copy_back = 0, update = 0, zero = 0;  // work, by phase
  Nanoseconds recomputed = 0;                                                  // a part of backward
};

/// Times of each used step, in their order. Needs phases.
std::vector<WindowTimes> times_of_windows(const Recording& recording, const Steps& steps);

/// The time from a launch to the kernel's begin, where the compute stream waited for that launch:
/// the median over the used windows. 0 where it never waited.
Nanoseconds launch_latency(const Recording& recording, const Steps& steps);

/// The operations that touch a window begin here; Recording::gpu is sorted by start. One that began
/// earlier than `longest` before the window does not reach it.
std::size_t first_touching(const Recording& recording, const Span& window, Nanoseconds longest);

/// The longest operation of the recording.
Nanoseconds longest_operation(const Recording& recording);

}  // namespace gradcast::kineto
