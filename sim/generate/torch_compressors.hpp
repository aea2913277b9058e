// The compressors of the paper's authors, each as the PyTorch operators that it runs and the
// elements that it selects of normally distributed input (hclhkbu/GaussianK-SGD@3da1fb3:
// compression.py, distributed_optimizer.py).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/generate/torch_operators.hpp"

namespace gradcast {

struct TorchEncoding {
  std::vector<OperatorCall> calls;
  double selected = 0;  // expected, of independent normal elements
};

struct TorchCompressor {
  std::string_view name;
  std::string_view mode;     // "code": as the repository runs it; "paper": as the paper says it
  double published_density;  // at which the encoding's time was published; 0 for none
  double max_density;        // above it, the code raises an error
  TorchEncoding (*encode)(std::int64_t elements, double density);
};

/// In compressors.def order, without `dense`, which encodes nothing and so costs nothing.
std::span<const TorchCompressor> torch_compressors();

/// Top-k runs these beside torch.topk: residual, magnitudes, the sort of the selected, and their
/// way out of the residual. Its `encode` leaves them out, for torch.topk of 1.1 takes a thousand
/// times as long.
std::vector<OperatorCall> beside_topk(std::int64_t elements, double selected);

/// The operators that sum up what `workers` workers selected: synchronize() of the authors'
/// optimizer.
std::vector<OperatorCall> torch_decoding(std::int64_t elements, double selected, int workers);

Seconds time_of(std::span<const OperatorCall> calls, const PublishedGpu& device = kV100);

}  // namespace gradcast
