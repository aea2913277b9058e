// Reads the lists that traces write as text: Python's, with '...', or JSON's, with "...".
#include <array>
#include <charconv>

#include "sim/import/execution/execution_trace.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kNumbersOfTensor = 5;  // and the device

/// Numbers and texts of a nested list, one list at a time.
class ListReader {
 public:
  explicit ListReader(std::string_view text) : text_(text) {}

  /// Calls `closed(numbers, texts, argument, depth)` for each list that ends.
  template <class Closed>
  void each_list(Closed closed) {
    for (at_ = 0; at_ < text_.size();) {
      const char letter = text_[at_];
      if (letter == '[') {
        ++depth_;
        numbers_ = 0;
        texts_ = 0;
        nested_ = false;
        ++at_;
      } else if (letter == ']') {
        if (depth_ > 0) {
          closed(*this);
          --depth_;
        }
        nested_ = true;
        numbers_ = texts_ = 0;
        ++at_;
      } else if (letter == ',') {
        if (depth_ == 1) ++argument_;
        ++at_;
      } else if (letter == '\'' || letter == '"') {
        const std::size_t end = text_.find(letter, at_ + 1);
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
        ++texts_;
      } else if (letter == '-' || (letter >= '0' && letter <= '9')) {
        take_number();
      } else {
        ++at_;
      }
    }
  }

  std::int64_t number(std::size_t place) const { return kept_[place]; }
  std::size_t numbers() const { return numbers_; }
  std::size_t texts() const { return texts_; }
  int argument() const { return argument_; }
  int depth() const { return depth_; }
  bool nested() const { return nested_; }  // a list ended inside this one

 private:
  void take_number() {
    std::int64_t number = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    at_ += end == begin ? 1 : static_cast<std::size_t>(end - begin);
    if (error != std::errc{}) number = -1;
    // "3.5": the rest is another number, so that no such list is taken for a tensor.
    if (numbers_ < kept_.size()) kept_[numbers_] = number;
    ++numbers_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::array<std::int64_t, kNumbersOfTensor> kept_{};
  std::size_t numbers_ = 0;
  std::size_t texts_ = 0;
  int argument_ = 0;
  int depth_ = 0;
  bool nested_ = false;
};

}  // namespace

void append_tensors(std::string_view values, std::string_view shapes,
                    std::vector<TensorInput>& tensors) {
  const std::size_t before = tensors.size();
  ListReader reader(values);
  reader.each_list([&](const ListReader& list) {
    if (list.numbers() != kNumbersOfTensor || list.texts() != 1 || list.nested()) return;
    constexpr std::int64_t kMostElements = std::int64_t{1} << 36;
    constexpr std::int64_t kMostBytes = 16;
    TensorInput tensor{list.number(0),
                       list.number(1),
                       list.number(3),
                       list.number(4),
                       list.argument(),
                       list.depth() > 2,
                       0};
    if (tensor.elements < 0 || tensor.elements > kMostElements || tensor.element_bytes < 1 ||
        tensor.element_bytes > kMostBytes)
      return;
    tensors.push_back(tensor);
  });
  // Only of inputs that are tensors themselves: a list's shapes are not needed.
  ListReader sizes(shapes);
  sizes.each_list([&](const ListReader& list) {
    if (list.depth() != 2 || list.nested() || list.numbers() == 0) return;
    for (std::size_t i = before; i < tensors.size(); ++i)
      if (!tensors[i].in_list && tensors[i].argument == list.argument())
        tensors[i].first_size = list.number(0);
  });
}

}  // namespace gradcast
