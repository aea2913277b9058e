// Curves of `gradcast theory --curve`: Fig. 3 and Fig. 5 of Understanding Top-k Sparsification.
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

/// A column of the curve's rows that is drawn, and what it is called.
struct Curve {
  const char* column;
  const char* name;
  bool reference = false;
};

/// A distribution, or a vector's file without its folders.
std::string subject_name(const Json& row) {
  const std::string name = text_of(row, "distribution");
  return name.substr(name.rfind('/') + 1);
}

/// A panel a distribution.
Figure curves_figure(const ResultFile& theory, Figure figure, const std::vector<Curve>& curves) {
  figure.table.header = {"distribution", "k", "k/d"};
  for (const Curve& curve : curves) figure.table.header.emplace_back(curve.name);
  for (const Json& row : theory.rows) {
    const auto q = number_of(row, "q");
    const std::string distribution = subject_name(row);
    if (!q || *q < 0 || *q > 1) continue;
    if (figure.panels.empty() || figure.panels.back().title != distribution)
      figure.panels.push_back({distribution, {}});
    std::vector<std::string>& cells = figure.table.rows.emplace_back(
        std::vector{distribution, text_of(row, "k"), count_text(*q)});
    for (const Curve& curve : curves) {
      const auto value = number_of(row, curve.column);
      cells.push_back(optional_text(value));
      if (!value) continue;
      FigureSeries& series = series_named(figure.panels.back(), curve.name);
      series.reference = curve.reference;
      series.points.push_back({*q, *value});
      series.points.back().label = std::string(curve.name) + ": " + optional_text(value) +
                                   " at k/d = " + count_text(rounded_to(3, *q));
    }
  }
  figure.summary += cut_to_fit(figure);
  return figure;
}

/// "normal: at none of 200 places; u.npy: at 3 of 180": where a column is above another.
std::string places_above(const ResultFile& theory, const char* column, const char* bound) {
  struct Places {
    std::string distribution;
    std::size_t looked = 0;
    std::size_t above = 0;
  };
  constexpr double kRounding = 1e-12;
  std::vector<Places> places;
  for (const Json& row : theory.rows) {
    const auto value = number_of(row, column);
    const auto limit = number_of(row, bound);
    if (!value || !limit) continue;
    const std::string distribution = subject_name(row);
    if (places.empty() || places.back().distribution != distribution)
      places.push_back({distribution});
    ++places.back().looked;
    if (*value > *limit + kRounding) ++places.back().above;
  }
  std::vector<std::string> texts;
  for (const Places& one : places)
    texts.push_back(one.distribution + ": at " +
                    (one.above == 0 ? "none" : std::to_string(one.above)) + " of " +
                    std::to_string(one.looked) + " places");
  return join(texts, "; ");
}

}  // namespace

std::vector<Figure> theory_figures(const ResultFile& theory) {
  std::vector<Figure> figures;
  figures.push_back(curves_figure(
      theory,
      {"pi-square",
       FigureKind::Lines,
       "Squares of the elements, sorted: pi^2",
       "Each element's square by the largest one, from the largest down. Above the line 1 - i/d it "
       "is, " +
           places_above(theory, "pi_square", "line") +
           ". The paper's proof of Theorem 1 asks that it lie below. That is neither necessary nor "
           "sufficient.",
       {"i / d", AxisScale::Linear},
       {"square by the largest", AxisScale::Linear}},
      {{"pi_square", "pi^2"}, {"line", "1 - i/d", true}}));
  figures.push_back(
      curves_figure(theory,
                    {"bounds",
                     FigureKind::Lines,
                     "What Top-k leaves of u's square, beside the bounds of theory",
                     "What is left exactly is above (1 - k/d)^2, the bound of Theorem 1, " +
                         places_above(theory, "exact", "bound_square") + ".",
                     {"k / d", AxisScale::Linear},
                     {"share of the square that is left", AxisScale::Linear}},
                    {{"exact", "exact"},
                     {"bound_classic", "1 - k/d"},
                     {"bound_square", "(1 - k/d)^2"},
                     {"bound_cube", "(1 - k/d)^3"}}));
  std::erase_if(figures, [](const Figure& figure) { return figure.panels.empty(); });
  return figures;
}

}  // namespace gradcast
