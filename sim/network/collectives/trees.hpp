// Trees up which parts of a buffer are summed, and down which the sums come back, in chunks. A
// double binary tree is two of them.
#pragma once
#include <vector>

#include "sim/network/collective.hpp"

namespace gradcast::collectives {

/// An edge of the tree of one part.
struct TreeEdge {
  int part;
  int child;
  int parent;
  int depth;  // of the child; roots have 0
};

/// Both trees over `ranks` ranks, with the parts 0 and 1. Empty for one rank.
std::vector<TreeEdge> double_tree(int ranks);

/// All-reduce of a buffer in `parts` equal parts, each up and down the tree of its edges. In a
/// round every level passes the chunk that it received in the round before, all levels in lockstep.
std::vector<Phase> up_and_down(std::vector<TreeEdge> edges, int parts, Bytes payload);

/// Messages of `bytes` up a binomial tree, a level after another, and down again. A rank's lowest
/// bit is the distance to its parent. Upwards they are added, and all ranks begin a level together:
/// one that is early would only share its parent's link.
std::vector<Phase> up_and_down_binomial(int ranks, Bytes bytes);

}  // namespace gradcast::collectives
