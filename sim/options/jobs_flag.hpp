// The -j flag, the same for every command that works in several processes.
#pragma once
#include "sim/options/flags.hpp"

namespace gradcast {

void add_jobs_flag(Flags& flags);

/// Processes: -j, else as many as this one may use cores.
std::size_t chosen_jobs(const Flags& flags);

}  // namespace gradcast
