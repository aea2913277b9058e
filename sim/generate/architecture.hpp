// A network as a list of operators, each with its shapes and its gradient tensors.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/roofline/operator.hpp"
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

/// Appends operators one after another, each working on what the one before put out.
class Architecture {
 public:
  explicit Architecture(Shape sample) : at_(sample) {}

  void convolution(const std::string& layer, std::int64_t out_channels, const Window& window,
                   bool bias);
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
  /// An image's rows become channels, and its columns the steps of a sequence.
  void columns_as_steps();
  void relu();
  void pool(const Window& window);
  /// To so many rows and columns: adaptive and global pooling.
  void pool_to(std::int64_t height, std::int64_t width);
  /// Adds a branch of the same shape.
  void add();
  /// Puts the branches' channels together; they have the height and width of where it stands.
  void concatenate(std::int64_t channels);

  /// Lets a branch begin where another began: call `here()` there, and `from()` with its result
  /// later.
  Shape here() const { return at_; }
  void from(Shape shape) { at_ = shape; }

  const std::vector<Operator>& operators() const { return operators_; }

 private:
  Operator& append(OperatorKind kind, const std::string& layer, Shape out);

  Shape at_;
  std::vector<Operator> operators_;
};

/// Its gradient tensors in forward order.
Model model_of(const std::string& name, const Architecture& architecture);

}  // namespace gradcast
