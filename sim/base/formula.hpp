// A formula over named numbers, as a user's file writes it: "4 * ceil(elements / 32) + 8 * k".
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradcast {

/// Has + - * / and parentheses, the functions ceil, floor, sqrt, min and max, numbers, and the
/// names. It has no loops and calls nothing else, so that a file from anywhere may be read.
class Formula {
 public:
  /// Throws ValueError for what is no formula over these names.
  Formula(std::string_view text, std::span<const std::string_view> names);

  const std::string& text() const { return text_; }
  /// True if the name of that place stands in it.
  bool uses(std::size_t place) const;
  /// The result, by the values in the order of the names. It may be infinite or NaN.
  double of(std::span<const double> values) const;

 private:
  class Parser;
  enum class Kind {
    Number,
    Name,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Ceil,
    Floor,
    Sqrt,
    Min,
    Max
  };
  struct Step {
    Kind kind;
    double number = 0;      // of Number
    std::size_t place = 0;  // of Name
  };

  std::string text_;
  std::vector<Step> steps_;  // in the order of evaluation, operands first
};

}  // namespace gradcast
