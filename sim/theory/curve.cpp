#include "sim/theory/curve.hpp"

#include <cmath>
#include <set>
#include <utility>

#include "sim/base/table.hpp"
#include "sim/theory/bounds.hpp"
#include "sim/theory/population.hpp"
#include "sim/theory/sample.hpp"
#include "sim/theory/vector_conditions.hpp"

namespace gradcast {
namespace {

/// 0 to d: half of them equally far, half equally far in their logarithms.
std::set<std::int64_t> curve_places(std::int64_t d) {
  constexpr int kHalf = 100;
  std::set<std::int64_t> places;
  for (int i = 0; i <= kHalf; ++i) {
    const double part = static_cast<double>(i) / kHalf;
    places.insert(std::llround(static_cast<double>(d) * part));
    places.insert(std::llround(std::pow(static_cast<double>(d), part)));
  }
  return places;
}

}  // namespace

std::vector<Json> curve_rows(Subject subject, const Drawing& drawing) {
  std::optional<Population> population;
  if (subject.law) {
    population.emplace(*subject.law);
    subject.vector = drawn_from(*subject.law, drawing.elements, drawing.seed);
  }
  const SortedMagnitudes vector(std::move(subject.vector));
  const std::int64_t d = vector.size();
  std::vector<Json> rows;
  for (const std::int64_t k : curve_places(d)) {
    const double q = static_cast<double>(k) / static_cast<double>(d);
    const double left = vector.at(k).left;
    Json row;
    row["distribution"] = subject.name;
    row["elements"] = d;
    row["k"] = k;
    row["q"] = q;
    row["pi_square"] = k < d ? vector.square_below_largest(k) : 0;
    row["line"] = 1 - q;
    row["exact"] = population ? population->at(q).left : left;
    row["sampled_exact"] = population ? Json(left) : Json();
    row["bound_classic"] = bound_left(q, 1);
    row["bound_square"] = bound_left(q, 2);
    row["bound_cube"] = bound_left(q, 3);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string curve_table(const std::vector<Json>& rows) {
  constexpr int kDigits = 6;
  TextTable table{
      {"distribution", "k", "k/d", "pi^2", "1-q", "exact", "sampled", "(1-q)^2", "(1-q)^3"}, {}};
  const auto number = [](const Json& value) {
    return value.is_null() ? "-" : fixed(value.get<double>(), kDigits);
  };
  for (const Json& row : rows)
    table.rows.push_back({row["distribution"].get<std::string>(), row["k"].dump(), number(row["q"]),
                          number(row["pi_square"]), number(row["line"]), number(row["exact"]),
                          number(row["sampled_exact"]), number(row["bound_square"]),
                          number(row["bound_cube"])});
  return to_text(table);
}

}  // namespace gradcast
