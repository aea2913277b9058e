// Workers that make many forecasts at the same time: threads where the engine allows it, else
// processes.
#pragma once
#include <cstddef>
#include <vector>

#include "sim/base/process_pool.hpp"
#include "sim/engine/engine.hpp"

namespace gradcast {

enum class Workers { Threads, Processes };

/// Threads, but for an engine that keeps state which threads cannot share, as SimGrid does. It also
/// reads its own platform files for the other engines.
Workers workers_for(const Engine& engine, bool platform_files);

/// run_in_pool or run_in_threads, by `workers`.
void run_forecasts(Workers workers, std::size_t jobs, const std::vector<std::size_t>& items,
                   const PoolWork& pool);

}  // namespace gradcast
