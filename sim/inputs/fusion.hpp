// Fusion: gradient tensors that are sent together in a bucket.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// A way to fuse gradients into buckets. In the order of `Kind`: each tensor alone, all in one, by
/// size, as PyTorch's DDP does, as Horovod's cycles find them ready, and as two planners of
/// `merging.hpp` find best.
struct Fusion {
  enum class Kind { Layer, Merged, Size, Ddp, Cycle, MgWfbp, Omgs };
  Kind kind = Kind::Merged;
  Bytes size{};               // of Size; of Ddp: of every bucket but one; of Cycle: the most
  Seconds cycle{0};           // of Cycle
  Bytes first{};              // of Ddp: of the bucket that is made first
  bool finds_unused = false;  // of Ddp: find_unused_parameters=True

  /// Whether the buckets depend on when gradients are ready or on what sending costs.
  bool needs_times() const {
    return kind == Kind::Cycle || kind == Kind::MgWfbp || kind == Kind::Omgs;
  }

  friend bool operator==(const Fusion&, const Fusion&) = default;
};

/// "layer", "merged", "ddp", "ddp:50MiB", "ddp-find-unused", "ddp-find-unused:50MiB",
/// "cycle:5ms,64MiB", "mg-wfbp", "omgs", or a size such as "25MiB". Throws ValueError.
Fusion parse_fusion(std::string_view text);
std::string to_text(const Fusion& fusion);

/// A list "layer,cycle:5ms,64MiB,25MiB..100MiB" at the commas between fusions: a cycle has one of
/// its own.
std::vector<std::string> split_fusions(std::string_view list);

/// Tensors that are sent together, by their place in the model.
struct Bucket {
  std::vector<std::size_t> tensors;  // in backward order
  std::int64_t elements = 0;
  Bytes bytes{};  // uncompressed, in the types in which its tensors are added up

  void add(const Model& model, std::size_t tensor);
};

/// The buckets in the order in which backward fills them, last layer first. A bucket of a given
/// size ends with the tensor that fills it to that size or beyond, as in PyTorch's DDP and the
/// paper's code. DDP's first bucket is of 1 MiB where nobody gives a size; each type of gradients
/// has buckets of its own. After an iteration DDP makes them anew, in the order in which gradients
/// were ready. If it looks for unused parameters they stay as they were made, from the input on:
/// the one of 1 MiB comes last (reducer.cpp of PyTorch 2.13, should_rebuild_buckets). A frozen
/// tensor is in none. Throws std::logic_error for the kinds that need times, which are in
/// `merging.hpp`.
std::vector<Bucket> make_buckets(const Model& model, const Fusion& fusion);

}  // namespace gradcast
