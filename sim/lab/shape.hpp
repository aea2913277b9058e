// The shape of what flows between layers: of one sample.
#pragma once
#include <cstddef>

namespace gradcast::lab {

/// `channels` planes of `height` x `width`, one after another. A vector of n is n channels of 1
/// x 1.
struct Shape {
  int channels = 1;
  int height = 1;
  int width = 1;

  std::size_t size() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
  bool operator==(const Shape&) const = default;
};

}  // namespace gradcast::lab
