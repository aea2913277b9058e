// PowerSGD's kernels against the definition, to the rounding that low_rank_encoder.hpp states.
// These cases are the same for CUDA (low_rank_gpu_test.cpp) and for the emulator
// (low_rank_emulated_test.cpp).
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/compressor.hpp"
#include "kernels/normal_quantile.hpp"
#include "tests/kernels/on_device.hpp"

namespace gradcast::cases {

/// A tensor as one worker has it, on the host.
struct LowRankState {
  std::vector<float> gradient, residual, p, q, dense;
  std::uint32_t status = 0;
};

inline std::size_t length(std::int64_t elements) { return static_cast<std::size_t>(elements); }

inline const LowRank& definition() { return *all_low_rank().front()->low_rank; }

/// Normal elements; the residual is a third as large.
inline LowRankState make_state(const LowRankSettings& settings, std::uint64_t seed) {
  const std::int64_t elements = settings.shape.rows * settings.shape.columns;
  const LowRankNumbers numbers = definition().numbers(settings.shape, settings.rank, settings.mode);
  const auto normal = [&](std::uint64_t salt, float scale) {
    std::vector<float> values(length(elements));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = scale * static_cast<float>(normal_quantile(
                              probability_of_draw(salt, static_cast<std::int64_t>(i))));
    return values;
  };
  return {normal(2 * seed + 1, 1), normal(2 * seed + 2, 0.3f),
          std::vector<float>(length(numbers.first)), std::vector<float>(length(numbers.second)),
          std::vector<float>(length(elements))};
}

/// A tensor on a device.
class DeviceLowRank {
 public:
  DeviceLowRank(Device& device, const LowRankSettings& settings, const LowRankState& state,
                std::size_t offset = 0, ValueType type = ValueType::Fp32)
      : settings_(settings),
        gradient_(device, state.gradient.size(), type, offset),
        residual_(device, state.residual.size(), offset),
        p_(device, state.p.size(), offset),
        q_(device, state.q.size(), offset),
        dense_(device, state.dense.size(), type, offset),
        status_(device, 1) {
    put(state);
  }

  LowRankTensor describe() {
    LowRankTensor tensor;
    tensor.gradient = gradient_.read_only();
    tensor.residual = residual_.get();
    tensor.shape = settings_.shape;
    tensor.seed = settings_.seed;
    tensor.p = p_.get();
    tensor.q = q_.get();
    tensor.dense = dense_.get();
    tensor.status = status_.get();
    return tensor;
  }

  void put(const LowRankState& state) {
    gradient_.set(state.gradient);
    residual_.set(state.residual);
    p_.set(state.p);
    q_.set(state.q);
  }

  LowRankState read() {
    return {gradient_.read(), residual_.read(), p_.read(),
            q_.read(),        dense_.read(),    status_.read()[0]};
  }

 private:
  LowRankSettings settings_;
  BandedNumbers gradient_;
  Banded<float> residual_, p_, q_;
  BandedNumbers dense_;
  Banded<std::uint32_t> status_;
};

/// |a - b| <= 2^-18 of `scale`; infinities and NaNs are the same.
inline void require_near(const std::vector<float>& actual, const std::vector<float>& expected,
                         const std::vector<double>& scale) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double apart = std::fabs(double{actual[i]} - double{expected[i]});
    const bool near = is_finite(expected[i])
                          ? apart <= std::ldexp(scale[i], -18) + 1e-37
                          : magnitude_key(actual[i]) == magnitude_key(expected[i]) ||
                                (is_nan(actual[i]) && is_nan(expected[i]));
    if (near) continue;
    FAIL("element " << i << ": " << actual[i] << " in place of " << expected[i] << ", scale "
                    << scale[i]);
  }
}

/// For each of the m x n sums of the product a b, the sum of the magnitudes of its terms. a [m x k]
/// and b [k x n] are functions.
template <class A, class B>
std::vector<double> magnitudes(std::int64_t m, std::int64_t k, std::int64_t n, A a, B b) {
  std::vector<double> sums(length(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t x = 0; x < k; ++x)
      for (std::int64_t j = 0; j < n; ++j) sums[length(i * n + j)] += std::fabs(a(i, x) * b(x, j));
  return sums;
}

inline auto rows_of(const std::vector<float>& matrix, std::int64_t columns) {
  return [&matrix, columns](std::int64_t i, std::int64_t j) {
    return double{matrix[length(i * columns + j)]};
  };
}

inline auto transposed(const std::vector<float>& matrix, std::int64_t columns) {
  return [&matrix, columns](std::int64_t i, std::int64_t j) {
    return double{matrix[length(j * columns + i)]};
  };
}

/// The definition's three calls beside a device's, each on what the definition left.
class LowRankPair {
 public:
  LowRankPair(Device& device, const LowRankSettings& settings, const LowRankState& state,
              std::size_t offset = 0)
      : settings_(settings), state_(state), there_(device, settings, state, offset) {}

  LowRankTensor describe() { return there_.describe(); }
  void set_seed(std::uint64_t seed) { settings_.seed = seed; }

  void require_first() {
    state_.status =
        definition().first(state_.gradient, state_.residual, settings_, state_.q, state_.p);
    const LowRankState got = there_.read();
    REQUIRE(got.status == state_.status);
    REQUIRE(first_difference(state_.residual, got.residual) == -1);
    const auto [rows, columns] = settings_.shape;
    if (!compressed()) {
      REQUIRE(first_difference(state_.p, got.p) == -1);
      return;
    }
    // Made orthonormal in doubles, whose sums are in another order: an ulp of a float.
    require_near(got.q, state_.q, std::vector<double>(state_.q.size(), 0x1p-4));
    require_near(got.p, state_.p,
                 magnitudes(rows, columns, rank(), rows_of(state_.residual, columns),
                            rows_of(state_.q, rank())));
    there_.put(state_);
  }

  void require_second() {
    definition().second(state_.residual, settings_, state_.p, state_.q);
    const LowRankState got = there_.read();
    if (!compressed()) return;
    const auto [rows, columns] = settings_.shape;
    require_near(got.p, state_.p, std::vector<double>(state_.p.size(), 0x1p-4));
    require_near(got.q, state_.q,
                 magnitudes(columns, rows, rank(), transposed(state_.residual, columns),
                            rows_of(state_.p, rank())));
    there_.put(state_);
  }

  /// The residual is exact, by what the device says that was received.
  void require_finish() {
    const std::vector<float> u = state_.residual;
    definition().finish(settings_, state_.p, state_.q, state_.dense, state_.residual);
    const LowRankState got = there_.read();
    if (!compressed()) {
      REQUIRE(first_difference(state_.dense, got.dense) == -1);
      REQUIRE(first_difference(state_.residual, got.residual) == -1);
      return;
    }
    const auto [rows, columns] = settings_.shape;
    require_near(
        got.dense, state_.dense,
        magnitudes(rows, rank(), columns, rows_of(state_.p, rank()), transposed(state_.q, rank())));
    std::vector<float> stays(u.size());
    for (std::size_t i = 0; i < u.size(); ++i) stays[i] = residual_of(u[i], got.dense[i]);
    REQUIRE(first_difference(stays, got.residual) == -1);
    there_.put(state_);
  }

  const LowRankState& state() const { return state_; }
  void set_gradient(const std::vector<float>& gradient) {
    state_.gradient = gradient;
    there_.put(state_);
  }

 private:
  bool compressed() const {
    return definition().numbers(settings_.shape, settings_.rank, settings_.mode).compressed();
  }
  std::int64_t rank() const { return rank_of(settings_.shape, settings_.rank); }

  LowRankSettings settings_;
  LowRankState state_;
  DeviceLowRank there_;
};

/// Iterations of all tensors by one encoder. One worker: its P and Q are the mean.
class LowRankRun {
 public:
  LowRankRun(Device& device, std::int64_t rank, Mode mode)
      : device_(device), rank_(rank), mode_(mode) {}

  LowRankPair& add(const MatrixShape& shape, std::uint64_t seed, std::size_t offset = 0) {
    const LowRankSettings settings{shape, rank_, mode_, seed};
    return add(settings, make_state(settings, seed), offset);
  }
  LowRankPair& add(const LowRankSettings& settings, const LowRankState& state,
                   std::size_t offset = 0) {
    pairs_.push_back(std::make_unique<LowRankPair>(device_, settings, state, offset));
    return *pairs_.back();
  }

  void iterate() {
    if (!encoder_) {
      std::vector<LowRankTensor> tensors;
      for (const auto& pair : pairs_) tensors.push_back(pair->describe());
      encoder_ = device_.make_low_rank_encoder(rank_, mode_, tensors, {});
    }
    call([&](void* stream) { encoder_->first(stream); });
    for (const auto& pair : pairs_) pair->require_first();
    call([&](void* stream) { encoder_->second(stream); });
    for (const auto& pair : pairs_) pair->require_second();
    call([&](void* stream) { encoder_->finish(stream); });
    for (const auto& pair : pairs_) pair->require_finish();
  }

  LowRankEncoder& encoder() { return *encoder_; }

 private:
  template <class Call>
  void call(Call enqueue) {
    enqueue(device_.queue->stream());
    device_.queue->wait();
  }

  Device& device_;
  std::int64_t rank_;
  Mode mode_;
  std::vector<std::unique_ptr<LowRankPair>> pairs_;
  std::unique_ptr<LowRankEncoder> encoder_;
};

inline constexpr Mode kLowRankModes[] = {Mode::Paper, Mode::Code};

/// A gradient of 16 bits gives the same bits as a copy of it in fp32, and what is received is
/// rounded once. Shapes: strips that are short and not, quads and not, a vector, several parts.
inline void check_low_rank_types(Device& device) {
  for (const ValueType type : {ValueType::Fp16, ValueType::Bf16})
    for (const std::int64_t rank : {1, 4, 40})
      for (const MatrixShape& shape : {MatrixShape{64, 147}, {31, 513}, {600, 81}, {128, 1}}) {
        INFO(name_of(type) << ", rank " << rank << ", " << shape.rows << " x " << shape.columns);
        const LowRankSettings settings{shape, rank, Mode::Paper, 5};
        LowRankState state = make_state(settings, 5);
        state.gradient = in_type(state.gradient, type);
        const auto iterated = [&](ValueType its_type) {
          DeviceLowRank tensor(device, settings, state, 0, its_type);
          const auto encoder =
              device.make_low_rank_encoder(rank, settings.mode, {tensor.describe()}, {});
          encoder->first(device.queue->stream());
          encoder->second(device.queue->stream());
          encoder->finish(device.queue->stream());
          device.queue->wait();
          return tensor.read();
        };
        const LowRankState wide = iterated(ValueType::Fp32);
        const LowRankState narrow = iterated(type);
        REQUIRE(first_difference(wide.residual, narrow.residual) == -1);
        REQUIRE(first_difference(wide.p, narrow.p) == -1);
        REQUIRE(first_difference(wide.q, narrow.q) == -1);
        REQUIRE(first_difference(in_type(wide.dense, type), narrow.dense) == -1);
      }
}

/// Shapes for each kind of cut: less than a strip, a strip and more, warps abreast, several parts
/// of P and of Q. Some are a model's: a first convolution, a wide and a tall one, a bias.
inline constexpr MatrixShape kLowRankShapes[] = {
    {1, 1},    {1, 7},    {5, 9},    {64, 147}, {33, 65}, {31, 513}, {3, 1025},
    {2, 4099}, {257, 64}, {600, 31}, {128, 1},  {10, 84}, {513, 40}};

inline void check_low_rank_shapes(Device& device, std::span<const std::int64_t> ranks) {
  for (const Mode mode : kLowRankModes)
    for (const std::int64_t rank : ranks)
      for (const MatrixShape& shape : kLowRankShapes) {
        INFO("mode " << static_cast<int>(mode) << ", rank " << rank << ", " << shape.rows << " x "
                     << shape.columns);
        LowRankRun run(device, rank, mode);
        run.add(shape, 7);
        run.iterate();
        run.iterate();  // Q is kept
      }
}

/// A list in one set of launches: matrices, vectors, and what does not pay.
inline void check_low_rank_batch(Device& device) {
  for (const Mode mode : kLowRankModes) {
    LowRankRun run(device, 2, mode);
    std::uint64_t seed = 0;
    for (const MatrixShape& shape : kLowRankShapes) {
      run.add(shape, seed, 4 * static_cast<std::size_t>(seed % 4));
      ++seed;
    }
    for (int iteration = 0; iteration < 3; ++iteration) run.iterate();
  }
}

/// An infinity or a NaN makes all that is received NaN, and is forgotten; zeros are no trouble, and
/// neither are equal columns, of which one is rounding alone.
inline void check_low_rank_degenerate(Device& device) {
  const MatrixShape shape{20, 30};
  for (const Mode mode : kLowRankModes)
    for (const std::int64_t rank : {1, 2, 5}) {
      INFO("mode " << static_cast<int>(mode) << ", rank " << rank);
      LowRankRun run(device, rank, mode);
      LowRankPair& pair = run.add(shape, 3);
      const std::vector<float> good = pair.state().gradient;
      run.iterate();
      for (const float bad :
           {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        std::vector<float> broken = good;
        broken[77] = bad;
        pair.set_gradient(broken);
        run.iterate();
        REQUIRE(pair.state().status == kNotFinite);
        REQUIRE(std::isnan(pair.state().dense[0]));
        pair.set_gradient(good);
        run.iterate();
        REQUIRE(pair.state().status == 0);
      }
      pair.set_gradient(std::vector<float>(good.size(), 0.0f));
      for (int iteration = 0; iteration < 3; ++iteration) run.iterate();
      pair.set_gradient(std::vector<float>(good.size(), 1.0f));  // rank 1
      run.iterate();
    }
}

/// Matrices whose P and Q several blocks make orthonormal. The first Q is drawn by one block, so
/// that the second iteration is the first with a factor for `apply_factor`. A P of zeros has none.
inline void check_low_rank_of_several_blocks(Device& device) {
  LowRankRun run(device, 32, Mode::Code);
  run.add({257, 300}, 9);
  const LowRankSettings settings{{257, 100}, 32, Mode::Code, 10};
  LowRankState zeros = make_state(settings, 10);
  std::ranges::fill(zeros.gradient, 0.0f);
  std::ranges::fill(zeros.residual, 0.0f);
  run.add(settings, zeros);
  run.iterate();
  run.iterate();
}

}  // namespace gradcast::cases
