// The common parts of the sparsifiers' definitions (dense.cpp ... threshold.cpp). They are written
// to be read, not for speed. u is formed in the residual's place, and elements that are sent become
// zero there.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/compressor.hpp"
#include "kernels/definitions.hpp"

namespace gradcast {

/// Throws std::invalid_argument with the compressor's name. This is a defect of the caller, not an
/// error of the user.
void require_mode(std::string_view compressor, bool two_modes, Mode mode);

/// Says of each element, by rising index, whether a selection takes it: all elements whose key is
/// above `key`, and the first `equals` of those with that key.
struct Cut {
  Key key = 0;
  std::int64_t equals = 0;

  bool takes(Key other) {
    if (other != key) return other > key;
    return equals-- > 0;
  }
};

/// Takes the k largest; 1 <= k <= keys.size().
Cut k_largest(std::vector<Key> keys, std::int64_t k);

/// Takes the k largest in magnitude: exact Top-k.
Cut k_largest_magnitudes(std::span<const float> u, std::int64_t k);

/// Takes all keys from `least` on.
Cut all_from(Key least);

/// The number of magnitude keys that are `least` or above.
std::int64_t count_from(std::span<const float> u, Key least);

/// The moments, added in the order that definitions.hpp prescribes.
Moments moments_of(std::span<const float> u, MomentsOf of);

/// Sends the elements that `takes` accepts, up to what the output holds, as values of the output's
/// type. `takes` is called once for each element, by rising index.
template <typename Takes>
Encoded emit(std::span<float> u, const SparseOutput& output, Takes takes) {
  std::size_t sent = 0;
  std::uint32_t status = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (!takes(static_cast<std::uint32_t>(i), u[i])) continue;
    if (sent == output.values.size()) {
      status = kTruncated;
      break;
    }
    output.values[sent] = as_sent(output.type, u[i]);
    output.indices[sent] = static_cast<std::int32_t>(i);
    u[i] = left_of(output.type, u[i], output.values[sent]);
    ++sent;
  }
  return {static_cast<std::int64_t>(sent), status};
}

/// The same, by magnitude.
Encoded emit(std::span<float> u, const SparseOutput& output, Cut cut);

/// Forms u = gradient + residual in the residual's place.
inline std::span<float> form_u(std::span<const float> gradient, std::span<float> residual) {
  for (std::size_t i = 0; i < residual.size(); ++i)
    residual[i] = add_feedback(gradient[i], residual[i]);
  return residual;
}

/// Sends what `select(u)` does, and notes whether u has infinities or NaNs.
template <typename Select>
Encoded noting_unfinite(std::span<float> u, Select select) {
  const bool finite = std::all_of(u.begin(), u.end(), is_finite);
  Encoded encoded = select(u);
  if (!finite) encoded.status |= kNotFinite;
  return encoded;
}

/// Forms u, and applies the rules common to all compressors that take a k. `select(u)` is the
/// compressor's own rule; it is called for 0 < k < elements.
template <typename Select>
Encoded encode_by(std::span<const float> gradient, std::span<float> residual,
                  const Selection& selection, const SparseOutput& output, Select select) {
  return noting_unfinite(form_u(gradient, residual), [&](std::span<float> u) -> Encoded {
    if (selection.k <= 0) return {};
    if (selection.k >= static_cast<std::int64_t>(u.size())) return emit(u, output, all_from(0));
    return select(u);
  });
}

}  // namespace gradcast
