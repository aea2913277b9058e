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

/// The sign by which steps are told apart.
enum class StepsFrom {
  Marks,      // annotations
  Optimizer,  // its calls
  Gradients,  // forward begins again after them
};

struct Steps {
  std::vector<Step> steps;  // by time
  std::uint32_t thread = 0;
  std::uint32_t compute_stream = 0;
  StepsFrom from = StepsFrom::Marks;
  /// One step alone is full: it ends with its last kernel, because no other one follows.
  bool to_last_kernel = false;
};

/// Steps are ProfilerStep#N, else another annotation with a number that repeats, else what lies
/// between the optimizer's calls, else what begins with forward and has gradients. Needs operators
/// in the order of their start. Throws DataError for a trace without work on a GPU or without
/// steps.
Steps find_steps(const Recording& recording);

/// The span on the host after each step's last gradient, in which the parameters are updated. None
/// but for steps that are told by their gradients.
std::vector<Span> update_spans(const Recording& recording, const Steps& steps);

}  // namespace gradcast::kineto
