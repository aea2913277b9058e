// The buckets in which gradients were sent, and how fast each was.
#pragma once
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/kineto/rank.hpp"
#include "sim/import/kineto/sizes.hpp"

namespace gradcast::kineto {

/// Buckets and transfers, by what the all-reduces of gradients say that they sent.
void set_buckets(const std::vector<StepCollectives>& steps, int element_bytes, Imported& imported);

/// Buckets by the gradients between two calls, where NCCL's kernels do not say what they sent.
void set_buckets_by_calls(const StepGradients& step, const Sizes& sizes, Imported& imported);

/// Buckets and transfers where the backward pass sends each gradient by itself.
void set_separate_sends(const Rank& rank, const Sizes& sizes, int element_bytes,
                        Imported& imported);

}  // namespace gradcast::kineto
