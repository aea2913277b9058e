#include "sim/theory/report.hpp"

#include <cmath>
#include <set>
#include <utility>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/theory/bounds.hpp"
#include "sim/theory/population.hpp"
#include "sim/theory/subject.hpp"
#include "sim/theory/vector_conditions.hpp"

namespace gradcast {
namespace {

Json verdict_row(const BoundVerdict& verdict, const AtDensity& at) {
  const LorenzCheck& lorenz = verdict.lorenz;
  const auto where_it_fails = [&](double value) { return lorenz.holds ? Json() : Json(value); };
  Json row;
  row["distribution"] = verdict.name;
  row["elements"] = verdict.elements;
  row["density"] = at.density;
  row["k"] = at.k;
  row["q"] = at.q;
  row["exact"] = at.exact.left;
  row["sampled_exact"] = or_null(at.sampled);
  row["bound_classic"] = bound_left(at.q, 1);
  row["bound_square"] = bound_left(at.q, 2);
  row["bound_cube"] = bound_left(at.q, 3);
  row["holds_classic"] = within_bound(at.q, 1, at.exact);
  row["holds_square"] = within_bound(at.q, 2, at.exact);
  row["holds_cube"] = within_bound(at.q, 3, at.exact);
  row["lorenz_holds"] = lorenz.holds;
  row["lorenz_first_density"] = where_it_fails(lorenz.first_q);
  row["lorenz_worst_density"] = where_it_fails(lorenz.worst_q);
  row["lorenz_worst_excess"] = where_it_fails(lorenz.worst_excess);
  row["sampled_lorenz_holds"] = or_null(verdict.sampled_lorenz);
  row["below_line_holds"] = verdict.below_line;
  row["sufficient_holds"] = verdict.sufficient;
  row["cube_sufficient_holds"] = or_null(verdict.cube_sufficient);
  row["kurtosis"] = or_null(verdict.kurtosis);
  row["theorem2_classic"] = iterations_order(at.q);
  row["theorem2_square"] = iterations_order(at.q * (2 - at.q));
  row["theorem2_exact"] = iterations_order(at.exact.kept);
  return row;
}

std::string yes_or_no(bool holds) { return holds ? "yes" : "NO"; }

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

struct CounterExample {
  const char* law;
  double density;
};

/// The first three are normal, the fourth is a normal around 0 whose tails are clipped, and of the
/// last all magnitudes are equal.
constexpr CounterExample kCounterExamples[] = {{"normal:8,1", 0.001},
                                               {"normal:5,1", 0.1},
                                               {"normal:3,1", 0.5},
                                               {"clipped-normal:1", 0.01},
                                               {"signs", 0.001}};

}  // namespace

std::vector<Json> verdict_rows(const BoundVerdict& verdict) {
  std::vector<Json> rows;
  for (const AtDensity& at : verdict.at) rows.push_back(verdict_row(verdict, at));
  return rows;
}

std::string verdict_table(const std::vector<BoundVerdict>& verdicts) {
  constexpr int kDigits = 6;
  TextTable table{{"distribution", "density", "k", "exact", "sampled", "1-q", "(1-q)^2", "(1-q)^3",
                   "square holds", "at every q", "under line", "sufficient", "kurtosis"},
                  {}};
  for (const BoundVerdict& verdict : verdicts)
    for (const AtDensity& at : verdict.at)
      table.rows.push_back(
          {verdict.name, number_to_text(at.density), std::to_string(at.k),
           fixed(at.exact.left, kDigits), at.sampled ? fixed(*at.sampled, kDigits) : "-",
           fixed(bound_left(at.q, 1), kDigits), fixed(bound_left(at.q, 2), kDigits),
           fixed(bound_left(at.q, 3), kDigits), yes_or_no(within_bound(at.q, 2, at.exact)),
           yes_or_no(verdict.lorenz.holds), yes_or_no(verdict.below_line),
           yes_or_no(verdict.sufficient), verdict.kurtosis ? fixed(*verdict.kurtosis, 2) : "-"});
  return to_text(table);
}

namespace {

std::string three_digits(double value) { return number_to_text(rounded_to(3, value)); }

/// "0.511", but near 1 "1 - 0.00012".
std::string density_text(double q) {
  return q > 0.99 ? "1 - " + three_digits(1 - q) : three_digits(q);
}

/// The order as a whole number where it is large: "250250".
std::string order_text(double delta) {
  constexpr int kOrderDigits = 6;
  return number_to_text(rounded_to(kOrderDigits, iterations_order(delta)));
}

std::string lorenz_sentence(const BoundVerdict& verdict) {
  const LorenzCheck& lorenz = verdict.lorenz;
  if (lorenz.holds)
    return verdict.name + ": at every density, Top-k leaves at most (1 - k/d)^2 of the square" +
           (verdict.cube_sufficient.value_or(false)
                ? "; even (1 - k/d)^3, as the density of |u| never rises."
                : ".");
  return verdict.name + ": Top-k leaves more than (1 - k/d)^2 of the square from the density " +
         density_text(lorenz.first_q) + " on; at " + density_text(lorenz.worst_q) +
         " it leaves most beyond it, by " + three_digits(lorenz.worst_excess) + ".";
}

}  // namespace

std::vector<std::string> verdict_sentences(const BoundVerdict& verdict) {
  std::vector<std::string> sentences{lorenz_sentence(verdict)};
  if (verdict.at.empty()) return sentences;
  const AtDensity& at = verdict.at.front();
  sentences.push_back(verdict.name + ": at the density " + number_to_text(at.density) +
                      ", Theorem 2's order of iterations is " + order_text(at.q) +
                      " with 1 - k/d, " + order_text(at.q * (2 - at.q)) + " with (1 - k/d)^2, " +
                      order_text(at.exact.kept) +
                      " with what Top-k leaves here. Orders compare; they count no iterations.");
  return sentences;
}

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

std::vector<BoundVerdict> counter_examples(const Drawing& drawing) {
  std::vector<BoundVerdict> verdicts;
  for (const CounterExample& example : kCounterExamples)
    verdicts.push_back(judge(read_subject(example.law), {&example.density, 1}, drawing));
  return verdicts;
}

std::vector<std::string> counter_example_sentences() {
  return {
      "Theorem 1 claims that Top-k leaves at most (1 - k/d)^2 of the square of any u whose "
      "distribution is bell-shaped.",
      "As printed it is false: its proof takes for granted that the sorted squares lie under the "
      "line 1 - i/d, which a bell shape does not give (far from 0, or with clipped tails, "
      "magnitudes are nearly equal), and which is neither sufficient nor necessary.",
      "What is true: the bound holds at every k exactly when the Lorenz curve of u^2 lies under "
      "p^2, so it holds where |u|_(i)^2 / (2 (d - i) + 1) never rises; and where the density of "
      "|u| never rises, as of a normal around 0, even (1 - k/d)^3 holds."};
}

}  // namespace gradcast
