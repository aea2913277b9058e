// The groups of ranks that sharding makes, and what each rank of one has.
#pragma once
#include "sim/network/collective.hpp"
#include "sim/network/rank_groups.hpp"

namespace gradcast {

/// Neighbours that share a copy: they gather parameters and scatter gradients among themselves.
inline RankGroups shard_groups(int shards) { return {1, shards}; }

/// Ranks that have the same shard of different copies.
inline RankGroups replica_groups(int shards, int ranks) { return {shards, ranks / shards}; }

/// The largest of the shards of some bytes.
inline Bytes shard_of(Bytes whole, int shards) { return chunk(whole, 0, shards); }

}  // namespace gradcast
