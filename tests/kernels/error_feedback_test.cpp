// The purpose of the residual: elements not sent now are sent later, so that SGD still arrives.
#include <cmath>

#include "tests/kernels/cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

double norm(const std::vector<float>& x) {
  double squares = 0;
  for (const float value : x) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

/// SGD on f(x) = |x|^2 / 2, whose gradient is x: the compressor sees rate x gradient + residual.
/// Gives |x| after `steps`, of |x| = 1 at the start.
double distance_after(int steps, const Method& method, bool feedback) {
  constexpr float kRate = 0.002f;
  constexpr std::int64_t kElements = 500;
  std::vector<float> x = make_vectors(Input::normal, kElements, 4).gradient;
  const double start = norm(x);
  Vectors step{std::vector<float>(kElements), std::vector<float>(kElements)};
  for (int i = 0; i < steps; ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) step.gradient[j] = kRate * x[j];
    const Selection selection{5, method.mode, static_cast<std::uint64_t>(i), 0};
    const Answer answer = reference_answer(method, step, selection);
    step.residual = answer.residual;
    if (!feedback) step.residual.assign(step.residual.size(), 0.0f);
    for (std::size_t j = 0; j < answer.indices.size(); ++j)
      x[static_cast<std::size_t>(answer.indices[j])] -= answer.values[j];
  }
  return norm(x) / start;
}

}  // namespace

// Dense SGD would be at (1 - 0.002)^2000 = e^-4.00 = 0.018 of the start.
TEST_CASE("with its residual a compressor that sends one in 100 still arrives where SGD does",
          "[kernels]") {
  for (const Method& method : all_methods()) {
    if (!method.compressor->exact_count) continue;
    INFO(name_of(method));
    CHECK(distance_after(2000, method, true) < 0.05);
  }
}

// Rand-k without it moves each element once in 100 steps: (1 - 0.002)^20 = 0.961 of the start.
TEST_CASE("without its residual Rand-k hardly moves", "[kernels]") {
  const Method randk{find_compressor("randk"), Mode::Only};
  CHECK(distance_after(2000, randk, false) == Approx(0.961).margin(0.01));
}
