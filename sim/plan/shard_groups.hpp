// The groups of ranks that sharding makes.
#pragma once
#include "sim/network/rank_groups.hpp"

namespace gradcast {

/// Neighbours that share a copy: they gather parameters and scatter gradients among themselves.
inline RankGroups shard_groups(int shards) { return {1, shards}; }

/// Ranks that have the same shard of different copies.
inline RankGroups replica_groups(int shards, int ranks) { return {shards, ranks / shards}; }

}  // namespace gradcast
