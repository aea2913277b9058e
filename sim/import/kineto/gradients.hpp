// The gradients of each step: in which order they are done, which operator they belong to, what
// their forward and backward take.
#pragma once
#include <string>
#include <vector>

#include "sim/import/kineto/steps.hpp"

namespace gradcast::kineto {

struct Gradient {
  std::int64_t recorded = -1;  // elements, where shapes were recorded
  std::int64_t room = -1;      // elements that DDP's copy into the bucket had room for
  std::size_t group = 0;       // those that one node of the backward pass yields
  int bucket = 0;              // how many buckets DDP had handed over before
};

/// The gradients that one node yields, in the node's order: weight, bias.
struct GradientGroup {
  Nanoseconds over = 0;      // what is launched from here on is the next group's
  Nanoseconds backward = 0;  // work on the GPU
  int layer = -1;            // a number of StepGradients::layers; -1: no operator is known
  std::string node;          // "Convolution"
};

/// An operator of the forward pass that has gradients.
struct ForwardLayer {
  Nanoseconds start = 0;
  Nanoseconds forward = 0;  // its work on the GPU, and that of what has no gradients behind it
  std::int64_t batch = -1;  // the first dimension of its input; -1: not recorded
  std::string name;         // "conv2d"
};

struct StepGradients {
  std::vector<Gradient> gradients;            // in the order in which they were done
  std::vector<GradientGroup> groups;          // likewise
  std::vector<ForwardLayer> layers;           // in forward order
  Nanoseconds forward = 0;                    // all work of the forward pass
  std::vector<std::int64_t> copied_back;      // bytes, in order
  std::vector<std::int64_t> optimizer_rooms;  // elements, of its elementwise kernels in order

  /// Whether the operator of every group is known.
  bool layers_known() const;
};

/// Of each used step, in their order. Needs phases.
std::vector<StepGradients> gradients_of_steps(const Recording& recording, const Steps& steps);

}  // namespace gradcast::kineto
