// Which gradient tensors are sent together.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// How gradients are fused into buckets: each tensor alone, all in one, by size, or as a planner of
/// `merging.hpp` finds best.
struct Fusion {
  enum class Kind { Layer, Merged, Size, MgWfbp, Omgs };
  Kind kind = Kind::Merged;
  Bytes size{};  // of Kind::Size
};

/// "layer", "merged", "mg-wfbp", "omgs", or a size such as "25MiB". Throws ValueError.
Fusion parse_fusion(std::string_view text);
std::string to_text(const Fusion& fusion);

/// Tensors that are sent together, by their place in the model.
struct Bucket {
  std::vector<std::size_t> tensors;  // in backward order
  std::int64_t elements = 0;

  void add(const Model& model, std::size_t tensor);
  Bytes bytes() const;  // uncompressed
};

/// The buckets in the order in which backward fills them, last layer first. A bucket of a given
/// size ends with the tensor that fills it to that size or beyond, as in PyTorch's DDP and the
/// paper's code. Throws std::logic_error for the kinds that need times, which are in `merging.hpp`.
std::vector<Bucket> make_buckets(const Model& model, const Fusion& fusion);

}  // namespace gradcast
