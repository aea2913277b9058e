// A network as a list of operators, each with its shapes and its gradient tensors.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/roofline.hpp"
#include "sim/inputs/model.hpp"

namespace gradcast {

/// A rectangular window: kernel and padding as height x width, one stride for both unless the width
/// has one of its own.
struct Window {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t stride = 1;
  std::int64_t pad_height = 0;
  std::int64_t pad_width = 0;
  std::int64_t stride_width = 0;  // 0: the same stride
};

/// A square window.
Window square(std::int64_t size, std::int64_t stride = 1, std::int64_t padding = 0);

/// An activation in the network: its shape, and which one it is.
struct Place {
  Shape shape;
  std::size_t activation = 0;
};

/// Average pooling keeps its input for backward, maximum pooling the places of the maxima too.
enum class Pooling { Maximum, Average };

/// Appends operators one after another, each working on what the one before put out.
///
/// It also counts the activations that PyTorch keeps from forward to backward, each once. The rules
/// are those of tools/autograd/derivatives.yaml (v2.13) for the kernels of a GPU; models/README.md
/// lists them.
class Architecture {
 public:
  /// `type`: the parameters' and their gradients'.
  explicit Architecture(Shape sample, NumberType type = NumberType::Fp32)
      : at_(sample), type_(type) {}

  /// Names the unit of the operators that follow. Sharded training gathers a unit as one.
  void unit(const std::string& name);

  /// `groups`: each reads its share of the channels and makes its share of the output.
  void convolution(const std::string& layer, std::int64_t out_channels, const Window& window,
                   bool bias, std::int64_t groups = 1);
  void batch_norm(const std::string& layer);
  void linear(const std::string& layer, std::int64_t out_features);
  /// The same product at each step of a sequence.
  void linear_of_steps(const std::string& layer, std::int64_t out_features, bool bias);
  /// A row of a table for each step of a sequence, which has one channel: the row's number.
  void embedding(const std::string& layer, std::int64_t rows, std::int64_t features);
  /// Layer `number` of a module over a sequence, with the two biases of PyTorch's.
  void lstm(const std::string& module, int number, std::int64_t hidden);
  /// Each feature of a step is a sum over that step and the next `context` steps, with its own
  /// weights.
  void lookahead(const std::string& layer, std::int64_t context);
  /// LayerNorm; RMSNorm has no bias.
  void layer_norm(const std::string& layer, bool bias);
  /// Each step meets each step of its sequence, in all heads together: query x key and weights x
  /// value. It works on queries, keys and values side by side; the last two may be narrower, where
  /// heads share them. `head_width`: of one head.
  void attention(std::int64_t width, std::int64_t key_value_width, std::int64_t head_width);
  /// GELU and the like, of one value each; SwiGLU makes one of two.
  void activation(std::int64_t out_channels);
  /// A row that is learned and added to each sample (the positions), or put before it (the token
  /// whose output is classified): a tensor without arithmetic.
  void learned_rows(const std::string& tensor, std::int64_t rows);
  /// A product with the table of an embedding, whose gradient it shares: no tensor of its own. Its
  /// arithmetic stands on the tensor before it.
  void tied_linear(std::int64_t out_features);
  /// A bias alone.
  void bias(const std::string& layer);
  /// Goes on with so many steps of the sequence.
  void steps(std::int64_t steps) { with_shape({at_.channels, at_.height, steps}); }
  /// An image's rows become channels, and its columns the steps of a sequence.
  void columns_as_steps();
  void relu();
  void pool(const Window& window, Pooling pooling = Pooling::Maximum);
  /// Pools to so many rows and columns: adaptive and global pooling.
  void pool_to(std::int64_t height, std::int64_t width);
  /// Adds a branch of the same shape.
  void add();
  /// Puts the branches' channels together; they have the height and width of where it stands.
  void concatenate(std::int64_t channels);

  /// Zeroes a share of the values at random. It has no arithmetic and no time here.
  void dropout();
  /// Cross entropy of the values: the end of a head. It has no arithmetic and no time here.
  void loss();

  /// Lets a branch begin where another began: call `here()` there, and `from()` with its result
  /// later.
  Place here() const { return {at_, activation_}; }
  void from(const Place& place);
  /// Goes on with another activation of that shape.
  void with_shape(Shape shape);

  const std::vector<Operator>& operators() const { return operators_; }

 private:
  void convolve(const std::string& layer, const std::vector<std::int64_t>& weights,
                const Window& window, bool bias);
  Operator& append(OperatorKind kind, const std::string& layer, Shape out);
  /// The operator's tensors, with the type and unit of where it stands, and what it keeps.
  void give(Operator& to, std::vector<GradientTensor> tensors, std::int64_t kept_elements,
            std::int64_t kept_bytes = 0);
  /// The first tensor of the last layer that has tensors. Arithmetic and activations of operators
  /// without tensors stand on it.
  GradientTensor& layer_before();
  void charge_layer_before(std::int64_t multiply_accumulates);
  /// Returns the elements of the activation here if nothing has kept it yet, else 0; from now on it
  /// is kept.
  std::int64_t keep_here();

  Shape at_;
  std::size_t activation_ = 0;
  std::vector<bool> kept_{false};  // by activation
  bool unit_begins_ = false;
  std::int64_t unit_input_ = 0;
  NumberType type_;
  std::string unit_;
  std::vector<Operator> operators_;
};

/// Its gradient tensors in forward order.
Model model_of(const std::string& name, const Architecture& architecture);

}  // namespace gradcast
