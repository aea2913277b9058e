// A network as a list of its gradient tensors, in forward order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/number_type.hpp"

namespace gradcast {

struct GradientTensor {
  std::string layer;
  std::string tensor;
  std::int64_t elements = 0;
  double forward_flops =
      0;  // per image, 2 per multiply-accumulate; 0 for a layer's further tensors
  NumberType type = NumberType::Fp32;  // of the parameters, and of their gradients
  /// Types in which backward leaves gradients, and in which they are added up and sent. In a file
  /// both are `type`; a run may have others.
  NumberType gradient_type = NumberType::Fp32;
  NumberType sum_type = NumberType::Fp32;
  /// The unit that is sharded and gathered as one, such as a block of a transformer. Its rows
  /// follow one another. "": the model names none.
  std::string unit{};
  bool frozen = false;  // a parameter that gets no gradient
  /// Its dimensions, outermost first, whose product is `elements`. Empty: the model does not say.
  std::vector<std::int64_t> shape{};
  /// Activations of one sample that the layer's forward keeps for its backward. Like FLOPs, they
  /// stand on a layer's first tensor. Bytes are those of a fixed type: masks, indices, statistics.
  std::int64_t kept_elements = 0;
  std::int64_t kept_bytes = 0;
  std::int64_t unit_input = 0;  // elements of one sample that its unit reads; on the unit's first
  /// Bytes of the layer's buffers, which are no parameters: of floating-point numbers, as the
  /// running statistics of batch normalisation, and of integers, as its count of batches.
  std::int64_t buffer_bytes = 0;
  std::int64_t counter_bytes = 0;
  /// Type of activations. In a file it is `type`; a run may have another.
  NumberType activation_type = NumberType::Fp32;

  /// Its own, those of its gradients in memory, and those of its gradients on the wire.
  Bytes bytes() const { return Bytes{elements * bytes_of(type)}; }
  Bytes gradient_bytes() const { return Bytes{frozen ? 0 : elements * bytes_of(gradient_type)}; }
  Bytes sum_bytes() const { return Bytes{frozen ? 0 : elements * bytes_of(sum_type)}; }

  /// Gives it the buffers of a batch normalisation as PyTorch has them: of each channel a mean and
  /// a variance in fp32, and a count of batches in 64 bits.
  void keep_running_statistics(std::int64_t channels) {
    buffer_bytes = 2 * 4 * channels;
    counter_bytes = 8;
  }
};

struct Model {
  std::string name;
  std::vector<GradientTensor> tensors;  // forward order
  std::string sample{};                 // "token": what batches count, where the file says it

  std::int64_t elements() const;           // parameters
  std::int64_t gradient_elements() const;  // those that are not frozen
  double forward_flops() const;            // per image
  /// Bytes of all buffers by their types, each of which DDP broadcasts together; none of 0 bytes.
  std::vector<Bytes> buffers() const;
  /// Whether every gradient tensor has its dimensions.
  bool has_shapes() const;
  /// Whether the model says what its layers keep for backward.
  bool has_activations() const;
};

/// Dimensions as "64x3x7x7". Throws ValueError.
std::vector<std::int64_t> parse_shape(std::string_view text);
std::string shape_to_text(const std::vector<std::int64_t>& shape);

/// Reads `models/<name>.csv`: layer,tensor,elements,forward_flops, and optionally dtype (fp32),
/// unit, frozen (yes or no), shape, kept_elements, kept_bytes, unit_input, buffer_bytes and
/// counter_bytes; and a comment line `# sample: token`. The model is named after its file. Throws
/// DataError.
Model load_model(const TextFile& file);

/// The text of such a file; `provenance` becomes its comment lines.
std::string model_csv(const Model& model, const std::vector<std::string>& provenance);

}  // namespace gradcast
