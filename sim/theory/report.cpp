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

}  // namespace gradcast
