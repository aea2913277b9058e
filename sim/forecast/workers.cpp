#include "sim/forecast/workers.hpp"

#include "sim/base/thread_pool.hpp"

namespace gradcast {

Workers workers_for(const Engine& engine, bool platform_files) {
  return engine.in_threads && !platform_files ? Workers::Threads : Workers::Processes;
}

void run_forecasts(Workers workers, std::size_t jobs, const std::vector<std::size_t>& items,
                   const PoolWork& pool) {
  (workers == Workers::Threads ? run_in_threads : run_in_pool)(jobs, items, pool);
}

}  // namespace gradcast
