// Which gradient tensors travel together.
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

/// Tensors that travel together, by their place in the model.
struct Bucket {
  std::vector<std::size_t> tensors;  // in backward order
  std::int64_t elements = 0;

  void add(const Model& model, std::size_t tensor);
  Bytes bytes() const;  // uncompressed
};

/// Buckets in the order backward fills them, last layer first. A bucket of a size is closed by the
/// tensor that fills it to that size or beyond, as PyTorch's DDP and the paper's authors do. Throws
/// std::logic_error for the kinds that need times: `merging.hpp` has them.
std::vector<Bucket> make_buckets(const Model& model, const Fusion& fusion);

}  // namespace gradcast
