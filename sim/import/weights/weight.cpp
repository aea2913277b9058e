#include "sim/import/weights/weight.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

struct BufferName {
  std::string_view ending;  // of a tensor's name, whole parts of it
  std::string_view why;
};

constexpr std::string_view kStatistic = "running statistics";
constexpr std::string_view kTable = "tables of positions";
constexpr std::string_view kMask = "masks";
constexpr std::string_view kScale = "scales of quantised weights";

/// What PyTorch modules keep beside their parameters (register_buffer), by the names that
/// torch.nn, torchvision and transformers give it.
constexpr std::array kBufferNames = {
    BufferName{"running_mean", kStatistic},
    BufferName{"running_var", kStatistic},
    BufferName{"num_batches_tracked", kStatistic},
    BufferName{"position_ids", kTable},
    BufferName{"token_type_ids", kTable},
    BufferName{"inv_freq", kTable},
    BufferName{"cos_cached", kTable},
    BufferName{"sin_cached", kTable},
    BufferName{"relative_position_index", kTable},
    BufferName{"relative_coords_table", kTable},
    BufferName{"masked_bias", kMask},
    BufferName{"attn_mask", kMask},
    BufferName{"causal_mask", kMask},
    BufferName{"weight_scale", kScale},
    BufferName{"weight_scale_inv", kScale},
    BufferName{"input_scale", kScale},
};

bool ends_with_part(const std::string& name, std::string_view ending) {
  return name.ends_with(ending) &&
         (name.size() == ending.size() || name[name.size() - ending.size() - 1] == '.');
}

/// GPT-2 and its kin keep the triangle of ones that hides later tokens as `attn.bias`, whose shape
/// is 1 x 1 x n x n. A bias has one dimension.
bool is_causal_triangle(const Weight& weight) {
  return leaf_of(weight.name) == "bias" && weight.shape.size() == 4 && weight.shape[0] == 1 &&
         weight.shape[1] == 1 && weight.shape[2] == weight.shape[3];
}

/// Gradients are floating point. (F8 is what some checkpoints store of weights that are.)
bool is_whole_number(const std::string& type) {
  return type == "BOOL" || type.starts_with('I') || type.starts_with('U');
}

}  // namespace

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) throw ValueError("a size of " + std::to_string(size));
    if (size == 0) return 0;
  }
  for (const std::int64_t size : shape) {
    if (size > kMost / product)
      throw ValueError("more than " + std::to_string(kMost) + " elements, the most of a tensor");
    product *= size;
  }
  return product;
}

std::int64_t Weight::elements() const { return elements_of(shape); }

GradientTensor gradient_of(const std::string& layer, const Weight& weight) {
  GradientTensor gradient{layer, weight.name, weight.elements(), 0};
  gradient.shape = weight.shape;
  if (gradient.shape.empty()) gradient.shape = {1};
  return gradient;
}

std::string layer_of(const std::string& weight) {
  const std::size_t dot = weight.rfind('.');
  return dot == std::string::npos || dot == 0 ? weight : weight.substr(0, dot);
}

std::string leaf_of(const std::string& weight) { return weight.substr(weight.rfind('.') + 1); }

std::string why_not_trained(const Weight& weight) {
  const auto* named = std::find_if(
      kBufferNames.begin(), kBufferNames.end(),
      [&](const BufferName& each) { return ends_with_part(weight.name, each.ending); });
  if (named != kBufferNames.end()) return std::string(named->why);
  if (is_causal_triangle(weight)) return std::string(kMask);
  if (is_whole_number(weight.type)) return "whole numbers, which have no gradient";
  if (weight.elements() == 0) return "empty tensors";
  return "";
}

}  // namespace gradcast
