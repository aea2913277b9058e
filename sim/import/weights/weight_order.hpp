// The order in which a network uses its weights, inferred from their names: a checkpoint lists them
// by name, and gradients become ready in the opposite order of use.
#pragma once
#include <string>
#include <vector>

#include "sim/import/weights/weight.hpp"

namespace gradcast {

/// Sorts by these rules, from the first part of a name to its last: embeddings before all else, the
/// last normalisation and the head behind it; an encoder before a decoder; in a transformer's block
/// attention (norm, q, k, v, output) before the feed-forward part (norm, gate, up, down); numbers
/// by their value ("layers.2" before "layers.10"), and of one number the convolution before its
/// normalisation; a weight before its bias.
void sort_in_forward_order(std::vector<Weight>& weights);

}  // namespace gradcast
