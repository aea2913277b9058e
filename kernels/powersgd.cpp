// PowerSGD: of each matrix M = gradient + residual two thin ones, P and Q, by a step of the power
// iteration that begins with the last Q. Vogels, Karimireddy & Jaggi, "PowerSGD: Practical Low-Rank
// Gradient Compression for Distributed Optimization", NeurIPS 2019, Algorithms 1 and 2.
//
// Mode::Paper is epfml/powersgd, the authors' code: every matrix is compressed (low_rank.hpp), and
// 1e-8 is added to a norm before it divides (there of the sum of P, here of its mean). Their Q
// keeps its size, so |P| is as |M|^2: where that nears 1e-8, less of M is sent, until the residual
// has grown. Mode::Code is PyTorch's hook (powerSGD_hook.py): a matrix is compressed only where
// that makes it smaller by more than half, nothing is added, and Q is made orthonormal before it is
// used. Its `start_powerSGD_iter`, the iterations at the beginning that send everything, is the
// caller's matter. So is the average of what is not compressed: there the hook keeps u - mean in
// the residual, which adds up to zero over the workers; here nothing is kept.
//
// The project's own, in both modes:
//  - A column of which at most 2^-20 is left once the columns before it are taken out is rounding
//    alone: it becomes zero. Divided by its norm, as both sources do, it is a direction of chance,
//    and 0 / 0 of a matrix of zeros.
//  - Columns are taken out of the others before the 1e-8 makes them shorter. By the authors' order
//    a part of each stays in the others, which is much of one that is short: P was not orthonormal
//    then, and 21 % of fc3's norm was missing in a first iteration of FNN-3 with rank 200.
//  - A column of Q that is zero or not finite is drawn (normal, by the seed) before Q is used. So a
//    Q of zeros begins, and neither a matrix of zeros nor a NaN stays for ever.
//  - An infinity or NaN of one worker makes all that is received of the tensor NaN, so that who
//    looks for it skips the step. The residuals are zeros after it.
//  - All sums are of doubles, by rising index, and rounded once. PyTorch makes more than two
//    columns orthonormal by Householder's reflections: the same P P^T, but for rounding and for
//    matrices of lower rank.
// The paper has rank 2 for ResNet-18 and 4 for the LSTM; the hook's default is 1.
#include <algorithm>
#include <cmath>

#include "kernels/normal_quantile.hpp"
#include "kernels/reference.hpp"

namespace gradcast::compressors {
namespace {

struct Sizes {
  std::size_t rows;
  std::size_t columns;
  std::size_t rank;
};

Sizes sizes_of(const LowRankSettings& settings) {
  const MatrixShape& shape = settings.shape;
  return {static_cast<std::size_t>(shape.rows), static_cast<std::size_t>(shape.columns),
          static_cast<std::size_t>(rank_of(shape, settings.rank))};
}

bool compressed(const LowRankSettings& settings) {
  return low_rank_numbers(settings.shape, settings.rank, settings.mode).compressed();
}

/// Gram and Schmidt, column after column: each is divided by its norm, and taken out of the rest.
/// The factor norm / (norm + epsilon) is applied at the end.
void orthogonalise(std::span<float> matrix, std::size_t rank, double epsilon) {
  const std::size_t rows = matrix.size() / rank;
  std::vector<double> m(matrix.begin(), matrix.end());
  const auto product = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += m[i * rank + a] * m[i * rank + b];
    return sum;
  };
  std::vector<double> whole(rank);
  for (std::size_t c = 0; c < rank; ++c) whole[c] = std::sqrt(product(c, c));
  std::vector<double> share_kept(rank);
  for (std::size_t c = 0; c < rank; ++c) {
    const double norm = std::sqrt(product(c, c));
    share_kept[c] = norm / (norm + epsilon);
    const bool rounding = is_rounding(norm, whole[c]);
    for (std::size_t i = 0; i < rows; ++i)
      m[i * rank + c] = rounding ? 0.0 : m[i * rank + c] / norm;
    for (std::size_t other = c + 1; other < rank; ++other) {
      const double share = product(c, other);
      for (std::size_t i = 0; i < rows; ++i) m[i * rank + other] -= share * m[i * rank + c];
    }
  }
  for (std::size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = m[i] == 0 ? 0.0f : static_cast<float>(m[i] * share_kept[i % rank]);
}

/// Whether a column had to be drawn.
bool draw_missing_columns(std::span<float> q, std::size_t rank, std::uint64_t seed) {
  bool drawn = false;
  for (std::size_t c = 0; c < rank; ++c) {
    bool zero = true;
    bool finite = true;
    for (std::size_t at = c; at < q.size(); at += rank) {
      zero = zero && q[at] == 0.0f;
      finite = finite && is_finite(q[at]);
    }
    if (!zero && finite) continue;
    drawn = true;
    for (std::size_t at = c; at < q.size(); at += rank)
      q[at] = static_cast<float>(
          normal_quantile(probability_of_draw(seed, static_cast<std::int64_t>(at))));
  }
  return drawn;
}

std::uint32_t first(std::span<const float> gradient, std::span<float> residual,
                    const LowRankSettings& settings, std::span<float> q, std::span<float> sent) {
  require_mode("powersgd", true, settings.mode);
  std::uint32_t status = 0;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    residual[i] = add_feedback(gradient[i], residual[i]);
    if (!is_finite(residual[i])) status = kNotFinite;
  }
  const std::span<const float> u = residual;
  if (!compressed(settings)) {
    std::copy(u.begin(), u.end(), sent.begin());
    std::fill(residual.begin(), residual.end(), 0.0f);
    return status;
  }
  const auto [rows, columns, rank] = sizes_of(settings);
  const bool drawn = draw_missing_columns(q, rank, settings.seed);
  if (drawn || settings.mode == Mode::Code) orthogonalise(q, rank, epsilon_of(settings.mode));
  std::vector<double> sums(rank);
  for (std::size_t i = 0; i < rows; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t c = 0; c < rank; ++c)
        sums[c] += static_cast<double>(u[i * columns + j]) * static_cast<double>(q[j * rank + c]);
    for (std::size_t c = 0; c < rank; ++c) sent[i * rank + c] = static_cast<float>(sums[c]);
  }
  return status;
}

void second(std::span<const float> u, const LowRankSettings& settings, std::span<float> p,
            std::span<float> q) {
  if (!compressed(settings)) return;
  const auto [rows, columns, rank] = sizes_of(settings);
  orthogonalise(p, rank, epsilon_of(settings.mode));
  std::vector<double> sums(q.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t c = 0; c < rank; ++c)
        sums[j * rank + c] +=
            static_cast<double>(u[i * columns + j]) * static_cast<double>(p[i * rank + c]);
  for (std::size_t at = 0; at < q.size(); ++at) q[at] = static_cast<float>(sums[at]);
}

void finish(const LowRankSettings& settings, std::span<const float> p, std::span<const float> q,
            std::span<float> dense, std::span<float> residual) {
  if (!compressed(settings)) {
    std::copy(p.begin(), p.end(), dense.begin());
    return;
  }
  const auto [rows, columns, rank] = sizes_of(settings);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < rank; ++c)
        sum += static_cast<double>(p[i * rank + c]) * static_cast<double>(q[j * rank + c]);
      const std::size_t at = i * columns + j;
      dense[at] = static_cast<float>(sum);
      residual[at] = residual_of(residual[at], dense[at]);
    }
}

constexpr LowRank low_rank{
    .numbers = low_rank_numbers, .first = first, .second = second, .finish = finish};

}  // namespace

extern constinit const Compressor powersgd{
    .name = "powersgd",
    .summary = "two thin matrices whose product is near",
    .family = Family::LowRank,
    .aggregation = Aggregation::AllReduce,
    .source = "Vogels et al., NeurIPS 2019; PyTorch powerSGD_hook",
    .parameter = {.name = "rank",
                  .meaning = "columns of the thin matrices",
                  .usual = 2,
                  .least = 1,
                  .most = 1024},
    .two_modes = true,
    .low_rank = &low_rank,
};

}  // namespace gradcast::compressors
