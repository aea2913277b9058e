// The rank that updates each parameter, if parameters are not cut into shards.
#pragma once
#include <cstddef>
#include <vector>

#include "sim/inputs/model.hpp"

namespace gradcast {

/// Tensors of each rank, in the order in which the rank broadcasts them.
using ParameterOwners = std::vector<std::vector<std::size_t>>;

/// Partition of PyTorch's ZeroRedundancyOptimizer: from the largest parameter to the smallest, each
/// goes to the rank that has the fewest elements so far. It is given frozen parameters too
/// (torch/distributed/optim/zero_redundancy_optimizer.py, _partition_parameters).
ParameterOwners parameter_owners(const Model& model, int ranks);

/// The share of the whole update that falls to the rank with most of it.
double largest_update(const Model& model, const ParameterOwners& owners);

}  // namespace gradcast
