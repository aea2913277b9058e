// The gradients of each step: in which order they are done, which operator they belong to, what
// their forward and backward take.
#pragma once
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "sim/import/kineto/steps.hpp"

namespace gradcast::kineto {

/// Earliest date at which a part of a step can begin, as far as the host decides. Its operations
/// run one after another, each no earlier than its launch: as if all of them began no earlier than
/// this date.
class LaunchDate {
 public:
  void take(const GpuOperation& operation) {
    date_ = std::max(date_, operation.launched - before_);
    before_ += operation.end - operation.start;
    any_ = true;
  }
  /// Adds the operations that come after these, as one part with them.
  void take(const LaunchDate& next) {
    if (!next.any_) return;
    date_ = std::max(date_, next.date_ - before_);
    before_ += next.before_;
    any_ = true;
  }
  bool any() const { return any_; }
  Nanoseconds date() const { return date_; }

 private:
  Nanoseconds date_ = std::numeric_limits<Nanoseconds>::min() / 2;
  Nanoseconds before_ = 0;  // work of the operations so far
  bool any_ = false;
};

struct Gradient {
  std::int64_t recorded = -1;  // elements, where shapes were recorded
  std::int64_t room = -1;      // elements that DDP's copy into the bucket had room for
  std::size_t group = 0;       // those that one node of the backward pass yields
  int bucket = 0;              // how many buckets DDP had handed over before
  Nanoseconds done = 0;
};

/// Gradients that are scattered as one, and whose parameters are gathered as one.
struct SentUnit {
  std::string name;                    // "layers.0"; "": the trace does not say
  std::int64_t elements = -1;          // with padding; -1: not said
  std::vector<std::size_t> gradients;  // in the order in which they were done
};

/// The gradients that one node yields, in the node's order: weight, bias.
struct GradientGroup {
  Nanoseconds over = 0;      // what is launched from here on is the next group's
  Nanoseconds backward = 0;  // work on the GPU, with what of forward is computed again
  LaunchDate launch{};       // of that work
  int layer = -1;            // a number of StepGradients::layers; -1: no operator is known
  std::string node;          // "Convolution"
};

/// An operator of the forward pass that has gradients.
struct ForwardLayer {
  Nanoseconds start = 0;
  Nanoseconds forward = 0;  // its work on the GPU, and that of what has no gradients behind it
  LaunchDate launch{};
  std::int64_t batch = -1;  // the first dimension of its input; -1: not recorded
  std::string name;         // "conv2d"
};

struct StepGradients {
  std::vector<Gradient> gradients;            // in the order in which they were done
  std::vector<GradientGroup> groups;          // likewise
  std::vector<ForwardLayer> layers;           // in forward order
  Nanoseconds forward = 0;                    // all work of the forward pass
  std::int64_t batch = -1;                    // of the first operator that has samples as input
  Span window{};                              // of the step
  Nanoseconds next_launch = 0;                // of the next step's first kernel
  LaunchDate update_launch{};                 // of the optimizer, and of copying out of buckets
  std::vector<std::int64_t> copied_back;      // bytes, in order
  std::vector<std::int64_t> optimizer_rooms;  // elements, of its elementwise kernels in order
  std::vector<SentUnit> units;                // of a fully sharded run, in order of sending

  /// Whether the operator of every group is known.
  bool layers_known() const;
};

/// Whether every used step sends each gradient by itself inside the backward pass, before the first
/// one is handed over (AccumulateGrad), as a backward pass does that was compiled with its
/// all-reduces. Then backward ends where the first is sent, and what its thread launches from there
/// on only copies gradients: those operations lose the phase of the backward pass. Needs phases.
bool separate_compiled_sends(Recording& recording, const Steps& steps);

/// Gradients of each used step, in their order. Needs phases.
std::vector<StepGradients> gradients_of_steps(const Recording& recording, const Steps& steps);

}  // namespace gradcast::kineto
