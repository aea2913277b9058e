// The part of a request that says who keeps what in which type.
#pragma once
#include "sim/forecast/request.hpp"

namespace gradcast {

/// Gives the scenario its types, its sharding and its order of gradients. Model, trace, cluster,
/// compressor and collective must be there. Throws ValueError for what does not go together.
void set_training(const Request& request, Scenario& scenario);

/// Throws ValueError if all ranks share one copy of a model, so that nothing is left to compress.
void require_compressible(const Request& request, const Scenario& scenario);

}  // namespace gradcast
