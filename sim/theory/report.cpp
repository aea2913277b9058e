#include "sim/theory/report.hpp"

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/theory/bounds.hpp"

namespace gradcast {
namespace {

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

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

/// As a whole number where it is large: "250250".
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

}  // namespace gradcast
