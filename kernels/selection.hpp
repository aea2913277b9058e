// The selection that a compressor is asked to make, and the status that it returns. Both C++ and
// CUDA read this file: C++17.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gradcast {

/// The definition that is meant, if the paper's text and its authors' code differ.
enum class Mode : std::uint8_t {
  Only,   // there is one definition
  Paper,  // as printed: Understanding Top-k Sparsification in Distributed Deep Learning; PowerSGD
  Code,   // as it runs: hclhkbu/GaussianK-SGD@3da1fb3; PyTorch's PowerSGD hook
};

/// A selection to be made of a tensor.
struct Selection {
  // Elements wanted: <= 0 selects none, >= the tensor's elements all of them. With a fixed
  // threshold, about how many pass, or 0 if that is not known. It then sizes buffers, and selects
  // nothing.
  std::int64_t k = 0;
  Mode mode = Mode::Only;
  std::uint64_t seed = 0;       // of what is drawn at random
  std::int64_t candidates = 0;  // rTop-k's r; 0: 5 k
  float threshold = 0;          // of what is sent by a fixed one: |u| > threshold
};

/// Bits of a call's status; 0: selected as defined.
/// More elements were selected than the output holds. The first by index were sent; the others stay
/// in the residual.
inline constexpr std::uint32_t kTruncated = 1;
/// There were infinities or NaNs in u. Codes without scales (casts, natural, signs) do not look.
inline constexpr std::uint32_t kNotFinite = 2;
/// Bits that tell how the kernels found the answer, which is the same in any case. A tile had more
/// candidates than slots; the selection reached below the candidates; there were too few
/// candidates, so all of u was searched.
inline constexpr std::uint32_t kTilesReread = 4;
inline constexpr std::uint32_t kFullReread = 8;
inline constexpr std::uint32_t kGeneric = 16;
/// The bits that are part of the answer. The others say how it was found.
inline constexpr std::uint32_t kResultStatus = kTruncated | kNotFinite;

/// k of a tensor of `elements`, truncated, at least 1, as in the authors' code and most others.
inline std::int64_t wanted_elements(std::int64_t elements, double density) {
  // 1000 x 0.007 is 7.000000000000001 or 6.999999999999999 in doubles: what a person wrote is
  // whole.
  const double wanted = static_cast<double>(elements) * density;
  const double nearest = std::round(wanted);
  const double whole = std::abs(wanted - nearest) <= 1e-9 * nearest ? nearest : std::floor(wanted);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(whole), 1, elements);
}

/// rTop-k's r: the one that was asked for, else 5 k; never below k or above the elements.
inline std::int64_t rtopk_candidates(const Selection& selection, std::int64_t elements) {
  std::int64_t r = selection.candidates > 0 ? selection.candidates : 5 * selection.k;
  if (r < selection.k) r = selection.k;
  return r < elements ? r : elements;
}

}  // namespace gradcast
