// The -j flag, the same for every command that works in several processes.
#pragma once
#include "sim/options/flags.hpp"

namespace gradcast {

void add_jobs_flag(Flags& flags);

/// The number of processes: -j, else the number of cores that this process may use.
std::size_t chosen_jobs(const Flags& flags);

}  // namespace gradcast
