// The iteration of fully sharded data parallelism.
#pragma once
#include "sim/plan/plan.hpp"

namespace gradcast {

/// FSDP and ZeRO-3 (Y. Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data
/// Parallel", VLDB 2023): a unit's parameters are gathered before its forward and, where they were
/// dropped after that, again before its backward; after its backward its gradients are
/// reduce-scattered, and every rank updates its shards. With replicas (hybrid sharding) the sums of
/// a shard are then exchanged among them, dense or compressed.
///
/// Gathers are issued as the program runs: up to `prefetch` units ahead of the one that is
/// computed, and those of backward from its begin on. Gathers and scatters share a communicator and
/// go in the order in which they are issued; the exchange among replicas has one of its own.
/// Without overlap computing waits for all that was sent before it goes on. Parameters are copied
/// out of a gather's buffer before they are computed with, and gradients into a scatter's buffer:
/// both on the compute stream, as FSDP2 has it. On the compute stream a
/// unit is encoded after the backward of the next, while its scatter is on its way, and decoded at
/// the end.
Plan plan_of_fsdp(const Scenario& scenario, const PlanShortcuts& shortcuts);

}  // namespace gradcast
