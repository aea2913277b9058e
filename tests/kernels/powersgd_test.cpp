// PowerSGD, held against Eigen's singular values and products.
#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/compressor.hpp"
#include "kernels/normal_quantile.hpp"

using namespace gradcast;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

const Compressor& powersgd() { return *all_low_rank().front(); }

/// Independent normal elements.
Matrix normal(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Matrix matrix(rows, columns);
  for (Eigen::Index at = 0; at < matrix.size(); ++at)
    matrix.data()[at] =
        normal_quantile((random_key(seed, static_cast<std::uint32_t>(at)) + 0.5) / 0x1p32);
  return matrix;
}

/// A matrix with the given singular values, and singular vectors by chance.
Matrix with_singular_values(Eigen::Index rows, Eigen::Index columns,
                            const std::vector<double>& values, std::uint64_t seed) {
  const auto basis = [](const Matrix& matrix) {
    return Matrix(Eigen::HouseholderQR<Matrix>(matrix).householderQ());
  };
  const Matrix left = basis(normal(rows, rows, seed));
  const Matrix right = basis(normal(columns, columns, seed + 1));
  Matrix sum = Matrix::Zero(rows, columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    sum += values[i] * left.col(at) * right.col(at).transpose();
  }
  return sum;
}

std::vector<float> floats(const Matrix& matrix) {
  std::vector<float> values(static_cast<std::size_t>(matrix.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(matrix.data()[i]);
  return values;
}

Matrix matrix_of(const std::vector<float>& values, Eigen::Index rows) {
  const auto columns = static_cast<Eigen::Index>(values.size()) / rows;
  return Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(values.data(), rows,
                                                                         columns)
      .cast<double>();
}

/// The workers of one tensor.
class Workers {
 public:
  Workers(std::size_t count, MatrixShape shape, std::int64_t rank, Mode mode,
          std::uint64_t seed = 7)
      : settings_{shape, rank, mode, seed},
        numbers_(powersgd().low_rank->numbers(shape, rank, mode)),
        residuals_(count, std::vector<float>(static_cast<std::size_t>(shape.rows * shape.columns))),
        qs_(count, std::vector<float>(static_cast<std::size_t>(numbers_.second))) {}

  /// The gradient that all receive.
  std::vector<float> exchange(const std::vector<std::vector<float>>& gradients) {
    const LowRank& definition = *powersgd().low_rank;
    status_ = 0;
    std::vector<std::vector<float>> sent(residuals_.size());
    for (std::size_t w = 0; w < residuals_.size(); ++w) {
      sent[w].resize(static_cast<std::size_t>(numbers_.first));
      status_ |= definition.first(gradients[w], residuals_[w], settings_, qs_[w], sent[w]);
    }
    p_ = mean(sent);
    std::vector<std::vector<float>> ps(residuals_.size(), p_);
    for (std::size_t w = 0; w < residuals_.size(); ++w)
      definition.second(residuals_[w], settings_, ps[w], qs_[w]);
    if (numbers_.compressed()) p_ = ps[0];
    const std::vector<float> q = mean(qs_);
    std::vector<float> dense(residuals_[0].size());
    for (std::size_t w = 0; w < residuals_.size(); ++w) {
      qs_[w] = q;
      definition.finish(settings_, p_, qs_[w], dense, residuals_[w]);
    }
    return dense;
  }

  const LowRankNumbers& numbers() const { return numbers_; }
  std::uint32_t status() const { return status_; }
  const std::vector<float>& p() const { return p_; }
  std::vector<std::vector<float>>& residuals() { return residuals_; }
  void forget_residuals() {
    for (auto& residual : residuals_) std::fill(residual.begin(), residual.end(), 0.0f);
  }

 private:
  static std::vector<float> mean(const std::vector<std::vector<float>>& all) {
    std::vector<float> sum = all[0];
    for (std::size_t w = 1; w < all.size(); ++w)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += all[w][i];
    for (float& value : sum) value /= static_cast<float>(all.size());
    return sum;
  }

  LowRankSettings settings_;
  LowRankNumbers numbers_;
  std::vector<std::vector<float>> residuals_;
  std::vector<std::vector<float>> qs_;
  std::vector<float> p_;
  std::uint32_t status_ = 0;
};

double largest_of(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(double{value}));
  return largest;
}

constexpr Mode kBoth[] = {Mode::Paper, Mode::Code};

}  // namespace

TEST_CASE("PowerSGD is in the table, with two modes and the rank as its parameter", "[kernels]") {
  REQUIRE(all_low_rank().size() == 1);
  CHECK(powersgd().name == "powersgd");
  CHECK(powersgd().family == Family::LowRank);
  CHECK(powersgd().aggregation == Aggregation::AllReduce);
  CHECK(powersgd().two_modes);
  CHECK(powersgd().parameter.name == "rank");
}

// 64 x 48 at rank 2: 128 + 96 numbers. (64 + 48) x 2 x 2 = 448 < 3072, so the hook compresses it
// too. 8 x 8: (8 + 8) x 2 x 2 = 64 is not below 64; the authors' code sends 16 + 16.
TEST_CASE("PowerSGD's modes differ in what they compress", "[kernels]") {
  const auto numbers = powersgd().low_rank->numbers;
  for (const Mode mode : kBoth) {
    CHECK(numbers({64, 48}, 2, mode).first == 128);
    CHECK(numbers({64, 48}, 2, mode).second == 96);
    CHECK(numbers({64, 1}, 2, mode).first == 64);
    CHECK_FALSE(numbers({64, 1}, 2, mode).compressed());
  }
  CHECK(numbers({8, 8}, 2, Mode::Paper).first == 16);
  CHECK(numbers({8, 8}, 2, Mode::Paper).second == 16);
  CHECK(numbers({8, 8}, 2, Mode::Code).first == 64);
  CHECK_FALSE(numbers({8, 8}, 2, Mode::Code).compressed());
  CHECK(numbers({8, 9}, 2, Mode::Code).compressed());   // (8 + 9) x 2 x 2 = 68 < 72
  CHECK(numbers({3, 500}, 8, Mode::Paper).first == 9);  // the rank is 3 at most
  CHECK_THROWS(Workers(1, {8, 8}, 2, Mode::Only).exchange({std::vector<float>(64)}));
}

// One worker. With exact arithmetic a matrix of rank r is its own projection after one iteration,
// as M Q spans its columns. Floats of P and Q: some 1e-6 of the largest singular value.
TEST_CASE("PowerSGD sends a matrix of its rank whole", "[kernels]") {
  for (const Mode mode : kBoth)
    for (const std::int64_t rank : {1, 2, 4}) {
      CAPTURE(static_cast<int>(mode), rank);
      const std::vector<double> values{5, 3, 2, 1};
      const Matrix m = with_singular_values(64, 48, {values.begin(), values.begin() + rank}, 11);
      Workers workers(1, {64, 48}, rank, mode);
      const std::vector<float> got = workers.exchange({floats(m)});
      CHECK((matrix_of(got, 64) - m).norm() <= 5e-6 * m.norm());
      CHECK(matrix_of(workers.residuals()[0], 64).norm() <= 5e-6 * m.norm());
    }
}

TEST_CASE("PowerSGD sends everything where the rank is that of any such matrix", "[kernels]") {
  for (const auto& [rows, columns] : {std::pair{5, 9}, {9, 5}, {7, 7}, {1, 1}, {1, 6}, {2, 3}})
    for (const std::int64_t rank : {9, 1024}) {
      CAPTURE(rows, columns, rank);
      const Matrix m = normal(rows, columns, 3);
      Workers workers(1, {rows, columns}, rank, Mode::Paper);
      CHECK((matrix_of(workers.exchange({floats(m)}), rows) - m).norm() <= 1e-5 * m.norm());
    }
}

// Two calls with the residual kept, three workers. For each worker residual = u - dense, rounded
// once. So the means differ by no more than half a unit of a residual, 2^-24 of it, and the
// rounding of the sums of doubles here.
TEST_CASE("PowerSGD loses nothing: what is not sent stays, of the mean of all workers",
          "[kernels]") {
  for (const Mode mode : kBoth) {
    Workers workers(3, {40, 30}, 2, mode);
    for (std::uint64_t call = 0; call < 3; ++call) {
      CAPTURE(static_cast<int>(mode), call);
      std::vector<std::vector<float>> gradients;
      for (std::uint64_t w = 0; w < 3; ++w)
        gradients.push_back(floats(normal(40, 30, 100 * call + w)));
      const auto before = workers.residuals();
      const std::vector<float> dense = workers.exchange(gradients);
      double worst = 0;
      for (std::size_t i = 0; i < dense.size(); ++i) {
        double had = 0;
        double has = 0;
        double allowed = 1e-15;
        for (std::size_t w = 0; w < 3; ++w) {
          had += double{gradients[w][i] + before[w][i]} / 3;
          has += (double{dense[i]} + workers.residuals()[w][i]) / 3;
          allowed += std::ldexp(std::fabs(workers.residuals()[w][i]), -24) / 3;
        }
        worst = std::max(worst, std::fabs(had - has) / allowed);
      }
      CHECK(worst <= 1);
      CHECK(largest_of(dense) > 0.01);
    }
  }
}

// Without feedback the power iteration goes on from call to call. Singular values 10, 8, then 4 and
// less: each call shrinks the error of the space by (4 / 8)^2, so 20 calls leave 1e-12 of it.
TEST_CASE("PowerSGD's warm start finds the best matrix of its rank", "[kernels]") {
  const std::vector<double> values{10, 8, 4, 3, 2, 1, 0.5};
  const Matrix m = with_singular_values(50, 40, values, 21);
  const Eigen::JacobiSVD<Matrix> svd(m, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Matrix best = svd.matrixU().leftCols(2) * svd.singularValues().head(2).asDiagonal() *
                      svd.matrixV().leftCols(2).transpose();
  const double least = (m - best).norm();
  REQUIRE(least == Approx(std::sqrt(16 + 9 + 4 + 1 + 0.25)));
  for (const Mode mode : kBoth) {
    CAPTURE(static_cast<int>(mode));
    Workers workers(1, {50, 40}, 2, mode);
    const Matrix once = matrix_of(workers.exchange({floats(m)}), 50);
    for (int call = 0; call < 19; ++call) {
      workers.forget_residuals();
      workers.exchange({floats(m)});
    }
    workers.forget_residuals();
    const Matrix got = matrix_of(workers.exchange({floats(m)}), 50);
    CHECK((m - once).norm() > 1.01 * least);
    CHECK((m - got).norm() == Approx(least).epsilon(1e-5));
    CHECK((got - best).norm() <= 1e-5 * best.norm());
  }
}

// Several workers receive the projection of their mean gradient, as the paper's lemma 3 says: mean
// P = mean M Q, and so is mean Q. The first call is compared with Eigen's products and
// Householder's reflections.
TEST_CASE("PowerSGD receives the projection of the mean gradient", "[kernels]") {
  for (const Mode mode : kBoth) {
    std::vector<std::vector<float>> gradients;
    Matrix mean = Matrix::Zero(30, 24);
    for (std::uint64_t w = 0; w < 4; ++w) {
      const Matrix m = normal(30, 24, w + 50);
      mean += m / 4;
      gradients.push_back(floats(m));
    }
    Workers workers(4, {30, 24}, 3, mode);
    const Matrix dense = matrix_of(workers.exchange(gradients), 30);
    const Matrix p = matrix_of(workers.p(), 30);
    CHECK((p.transpose() * p - Matrix::Identity(3, 3)).norm() <= 1e-6);
    CHECK((dense - p * p.transpose() * mean).norm() <= 1e-5 * mean.norm());
    // Alone, the mean gives the same.
    Workers alone(1, {30, 24}, 3, mode);
    CHECK((matrix_of(alone.exchange({floats(mean)}), 30) - dense).norm() <= 1e-5 * mean.norm());
    // P spans mean M x the Q of the seed: a Householder basis of it projects alike.
    Workers seed(1, {24, 24}, 3, mode);
    if (mode == Mode::Paper) {
      // For the identity, P is Q itself made orthonormal: the Q that was drawn.
      seed.exchange({floats(Matrix::Identity(24, 24))});
      const Matrix q = matrix_of(seed.p(), 24);
      const Eigen::HouseholderQR<Matrix> qr(mean * q);
      const Matrix basis = Matrix(qr.householderQ()).leftCols(3);
      CHECK((dense - basis * basis.transpose() * mean).norm() <= 1e-5 * mean.norm());
    }
  }
}

TEST_CASE("PowerSGD is not stopped by a matrix of zeros, or of a lower rank", "[kernels]") {
  for (const Mode mode : kBoth) {
    CAPTURE(static_cast<int>(mode));
    Workers workers(2, {20, 30}, 3, mode);
    const std::vector<float> zeros(600);
    CHECK(largest_of(workers.exchange({zeros, zeros})) == 0);
    CHECK(workers.status() == 0);
    // The matrix has rank 1, so two columns of P are rounding: they may not add what is not there.
    const Matrix one = with_singular_values(20, 30, {4}, 31);
    for (int call = 0; call < 3; ++call) {
      const Matrix got = matrix_of(workers.exchange({floats(one), floats(one)}), 20);
      CHECK((got - one).norm() <= 5e-6 * one.norm());
    }
    // And of rank 3 it is whole again: the columns were drawn anew.
    const Matrix three = with_singular_values(20, 30, {4, 3, 2}, 41);
    const Matrix got = matrix_of(workers.exchange({floats(three), floats(three)}), 20);
    CHECK((got - three).norm() <= 2e-5 * three.norm());
  }
}

// Singular values from 1 to 1e-5, and ninth columns of P for eight of them.
TEST_CASE("PowerSGD's columns are orthonormal, or zero, where little is left of them",
          "[kernels]") {
  const Matrix m = with_singular_values(10, 40, {1, 0.3, 0.1, 1e-2, 1e-3, 1e-4, 3e-5, 1e-5}, 81);
  for (const Mode mode : kBoth)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(static_cast<int>(mode), seed);
      Workers workers(1, {10, 40}, mode == Mode::Paper ? 10 : 3, mode, seed);
      const Matrix got = matrix_of(workers.exchange({floats(m)}), 10);
      const Matrix p = matrix_of(workers.p(), 10);
      const Matrix products = p.transpose() * p;
      for (Eigen::Index a = 0; a < products.rows(); ++a)
        for (Eigen::Index b = 0; b < products.cols(); ++b)
          if (a != b) REQUIRE(std::fabs(products(a, b)) <= 1e-6);
      if (mode == Mode::Paper) CHECK((got - m).norm() <= 1e-5 * m.norm());
    }
}

TEST_CASE("PowerSGD's state survives an infinity and a NaN", "[kernels]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Mode mode : kBoth)
    for (const auto& [bad, rank] : {std::pair{infinity, 1}, {infinity, 2}, {nan, 1}, {nan, 2}}) {
      CAPTURE(static_cast<int>(mode), bad, rank);
      Workers workers(2, {20, 30}, rank, mode);
      const std::vector<double> values{4, 3};
      const Matrix m = with_singular_values(20, 30, {values.begin(), values.begin() + rank}, 51);
      workers.exchange({floats(m), floats(m)});
      std::vector<float> broken = floats(m);
      broken[77] = bad;
      const std::vector<float> got = workers.exchange({broken, floats(m)});
      CHECK(workers.status() == kNotFinite);
      CHECK(std::all_of(got.begin(), got.end(), [](float value) { return std::isnan(value); }));
      for (const auto& residual : workers.residuals()) CHECK(largest_of(residual) == 0);
      const Matrix again = matrix_of(workers.exchange({floats(m), floats(m)}), 20);
      CHECK(workers.status() == 0);
      CHECK((again - m).norm() <= 1e-5 * m.norm());
    }
}

TEST_CASE("PowerSGD sends a vector, and a matrix that does not pay, as the mean", "[kernels]") {
  for (const MatrixShape shape : {MatrixShape{6, 1}, MatrixShape{2, 3}}) {
    Workers workers(2, shape, 2, Mode::Code);
    workers.residuals()[0][2] = 2.0f;
    const std::vector<float> got = workers.exchange({{1, 2, 3, 4, 5, 6}, {3, 2, 1, 0, -1, -2}});
    CHECK(got == std::vector<float>{2, 2, 3, 2, 2, 2});
    for (const auto& residual : workers.residuals()) CHECK(residual == std::vector<float>(6));
  }
}

// 1e-8 beside |P|, which of a first call is as |M|: of a matrix that small, half is sent.
TEST_CASE("PowerSGD's authors divide by a little more than a norm, and PyTorch does not",
          "[kernels]") {
  const Matrix m = with_singular_values(20, 30, {1e-8}, 61);
  const auto share = [&](Mode mode) {
    Workers workers(1, {20, 30}, 1, mode);
    return matrix_of(workers.exchange({floats(m)}), 20).norm() / m.norm();
  };
  CHECK(share(Mode::Code) == Approx(1).epsilon(1e-4));
  CHECK(share(Mode::Paper) < 0.5);
}

// Q is as large as M, 1e-25, and M Q would be 1e-50: no float. PyTorch's Q is orthonormal before.
TEST_CASE("PowerSGD goes on with very small matrices in PyTorch's mode", "[kernels]") {
  const Matrix m = with_singular_values(20, 30, {2e-25, 1e-25}, 71);
  Workers workers(1, {20, 30}, 2, Mode::Code);
  workers.exchange({floats(m)});
  workers.forget_residuals();
  workers.exchange({floats(m)});
  CHECK(matrix_of(workers.p(), 20).norm() == Approx(std::sqrt(2)).epsilon(1e-5));
  // The residual of a third is rounding.
  CHECK(matrix_of(workers.residuals()[0], 20).norm() <= 1e-5 * m.norm());
}
