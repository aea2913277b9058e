#include "sim/lab/bound_checks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/inputs/cost_table.hpp"

namespace gradcast::lab {
namespace {

void check(BoundCount& count, std::span<const float> u, std::int64_t k) {
  const bool finite = std::all_of(u.begin(), u.end(), [](float x) { return std::isfinite(x); });
  const bool any = std::any_of(u.begin(), u.end(), [](float x) { return x != 0; });
  if (!finite || !any) return;
  const SquareShares shares = top_k_shares(u, k);
  const double q = static_cast<double>(k) / static_cast<double>(u.size());
  ++count.checks;
  if (within_bound(q, 2, shares)) return;
  ++count.failures;
  count.worst_excess = std::max(count.worst_excess, shares.left - bound_left(q, 2));
}

}  // namespace

SquareShares top_k_shares(std::span<const float> u, std::int64_t k) {
  std::vector<double> squares(u.begin(), u.end());
  for (double& value : squares) value *= value;  // exact: floats have 24 bits
  const auto end_of_kept = squares.begin() + k;
  std::nth_element(squares.begin(), end_of_kept - 1, squares.end(), std::greater<>());
  double kept = 0;
  double left = 0;
  for (auto it = squares.begin(); it != end_of_kept; ++it) kept += *it;
  for (auto it = end_of_kept; it != squares.end(); ++it) left += *it;
  return {kept / (kept + left), left / (kept + left)};
}

BoundChecks::BoundChecks(const std::vector<ParameterTensor>& tensors, std::size_t workers,
                         double density)
    : counts_(1), workers_(workers), density_(density) {
  counts_[0].tensor = "all";
  for (const ParameterTensor& tensor : tensors) {
    counts_.push_back({tensor.name, static_cast<std::int64_t>(tensor.elements)});
    counts_[0].elements += counts_.back().elements;
  }
}

void BoundChecks::look(const Exchange& exchange) {
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    const std::vector<float> u = exchange.last_u(worker);
    std::size_t first = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const auto elements = static_cast<std::size_t>(counts_[i].elements);
      check(counts_[i], std::span(u).subspan(first, elements),
            wanted_elements(counts_[i].elements, density_));
      if (i > 0) first += elements;
    }
  }
}

}  // namespace gradcast::lab
