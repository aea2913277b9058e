// Does independent pieces of work in several threads, which share what was read and parsed. The
// work must share nothing that changes.
#pragma once
#include <cstddef>
#include <vector>

#include "sim/base/process_pool.hpp"

namespace gradcast {

/// run_in_pool, in `threads` threads. If that is one, the caller does the work. A thread cannot be
/// ended from outside, so a pool that is to stop waits until the items under way are done or leave.
void run_in_threads(std::size_t threads, const std::vector<std::size_t>& items,
                    const PoolWork& pool);

/// Work that takes long calls it now and then, a few times a second. Throws Error (130), which ends
/// the item, if this thread works for a pool of threads that is to stop. Else it does nothing.
void leave_if_stopped();

}  // namespace gradcast
