// Gloo's broadcast, as PyTorch's ZeroRedundancyOptimizer calls it: many in a row.
#pragma once
#include "sim/network/collective.hpp"

namespace gradcast {

/// The root's whole buffer S goes down a binomial tree. A rank that has received sends to all its
/// children at once; the root has ceil(log2 n) of them. A sender is done when its own messages have
/// left, and begins the next broadcast while others are in this one. It is in no table of
/// collectives: only the plan of ZeRO-1 asks for it.
///
/// One of many, from the same root on equal links: at least ceil(log2 n) S / B.
extern const Collective gloo_broadcast;

}  // namespace gradcast
