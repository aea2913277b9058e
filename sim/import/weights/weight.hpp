// Tensors as a checkpoint or a graph has them: name and shape, never values. The functions tell
// which tensors of a list are trained, note the others, and refuse lists that are no plain model.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// A tensor as a checkpoint or a graph has it: its name and shape, never its values.
struct Weight {
  std::string name;                 // "model.layers.0.mlp.up_proj.weight"
  std::vector<std::int64_t> shape;  // empty for a single number
  std::string type;                 // "BF16", as safetensors calls it
  std::int64_t bytes = 0;           // of its values in the file; 0: not known
  // Bytes of its layer's running statistics, on one of the layer's tensors (GradientTensor).
  std::int64_t buffer_bytes = 0;
  std::int64_t counter_bytes = 0;

  /// The product of the shape, which the readers have checked against overflow.
  std::int64_t elements() const;
};

/// The product of a shape. Throws ValueError for a size below 0, and where no model file could hold
/// the product (more than 2^31 - 1 elements) or a file no such tensor.
std::int64_t elements_of(const std::vector<std::int64_t>& shape);

/// The weight's gradient, without arithmetic, with its layer's buffers. A single number is a vector
/// of one.
GradientTensor gradient_of(const std::string& layer, const Weight& weight);

/// The name without its last part: "fc.weight" is of the layer "fc". A name of one part is a layer.
std::string layer_of(const std::string& weight);

/// The last part of a name: "weight".
std::string leaf_of(const std::string& weight);

/// Reason why a tensor of a checkpoint is not trained ("running_mean": a statistic, ...); "" if it
/// is.
std::string why_not_trained(const Weight& weight);

/// Throws DataError for GPTQ, AWQ and bitsandbytes checkpoints: their tensors are packed, and are
/// not those that are trained.
void refuse_quantised(const std::vector<Weight>& weights, const std::string& file);

/// Throws DataError for an adapter (LoRA): its tensors are trained beside a model that is frozen
/// and not in the file.
void refuse_adapters(const std::vector<Weight>& weights, const std::string& file);

/// Throws DataError for more elements than any network has: with them, counts of FLOPs overflow.
void require_sane_sum(const std::vector<Weight>& weights, const std::string& file);

/// Removes what is not trained; a note for each reason counts and names some. Running statistics
/// are buffers, whose bytes stay on a tensor of their layer, or on the first tensor.
void drop_untrained(std::vector<Weight>& weights, ImportNotes& notes);

/// A language model without lm_head.weight uses its embedding's table as its head: one gradient.
void note_tied_head(const std::vector<Weight>& weights, ImportNotes& notes);

/// The table that a language model's tokens pick rows of; nullptr where there is none.
const Weight* token_embedding(const std::vector<Weight>& weights);

/// Whether the model has a head of its own.
bool has_head(const std::vector<Weight>& weights);

}  // namespace gradcast
