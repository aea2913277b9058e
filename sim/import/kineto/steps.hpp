// The steps of a run, and their windows on the GPU.
#pragma once
#include <string>
#include <vector>

#include "sim/import/kineto/recording.hpp"

namespace gradcast::kineto {

/// One iteration. The host marks it; the GPU runs behind the host, so that its window differs.
struct Step {
  std::string name;  // "ProfilerStep#4"
  Span host;
  Span window{};  // its first kernel on the compute stream to the next step's; where full
  Nanoseconds next_launch = 0;  // of the next step's first kernel
  bool full = false;            // both are there
  bool used = false;
};

struct Steps {
  std::vector<Step> steps;  // by time
  std::uint32_t thread = 0;
  std::uint32_t compute_stream = 0;
  bool by_optimizer = false;  // nothing marks them but the optimizer's calls
};

/// Steps are ProfilerStep#N, else another annotation with a number that repeats, else what lies
/// between the optimizer's calls. Needs operators in the order of their start. Throws DataError for
/// a trace without work on a GPU, without steps, with one, or without a full window.
Steps find_steps(const Recording& recording);

}  // namespace gradcast::kineto
