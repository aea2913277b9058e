#include "sim/options/jobs_flag.hpp"

#include <sched.h>

#include <algorithm>

#include "sim/base/units.hpp"

namespace gradcast {
namespace {

constexpr int kMostJobs = 1024;

int parse_jobs(std::string_view text) { return parse_count_to(kMostJobs, text); }

}  // namespace

void add_jobs_flag(Flags& flags) {
  flags.add("j,jobs", "processes or threads (default: as many as there are cores); changes no answer");
}

std::size_t chosen_jobs(const Flags& flags) {
  if (flags.given("jobs")) return static_cast<std::size_t>(flags.value("jobs", parse_jobs));
  cpu_set_t cores;
  const bool known = ::sched_getaffinity(0, sizeof cores, &cores) == 0;
  return known ? static_cast<std::size_t>(std::clamp(CPU_COUNT(&cores), 1, kMostJobs)) : 1;
}

}  // namespace gradcast
