// Makes figures from results. Figures show only what the results hold; each has its table and a
// sentence.
#pragma once
#include <span>
#include <vector>

#include "sim/report/figure.hpp"
#include "sim/report/points.hpp"
#include "sim/report/results.hpp"

namespace gradcast {

/// All figures in the order of a report: the answer first, then where time goes, then how far to
/// trust it. Identifiers are unique.
std::vector<Figure> figures_of(std::span<const ResultFile> results);

/// Each function below makes figures of one kind, or none if a result does not hold enough for one.
/// `points` are those of a sweep.
std::vector<Figure> scaling_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> winner_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> option_figures(const ResultFile& decided);
std::vector<Figure> winner_map_figures(const ResultFile& breakeven);
std::vector<Figure> stretch_figures(const ResultFile& breakeven);
std::vector<Figure> upgrade_figures(const ResultFile& sweep);
std::vector<Figure> breakdown_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> speedup_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> density_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> simulated_figures(const std::vector<const ResultFile*>& simulated);
std::vector<Figure> error_figures(const ResultFile& compared);
/// `rows` are those of `collectives`.
std::vector<Figure> collective_figures(const std::vector<Json>& rows);
std::vector<Figure> kernel_figures(const ResultFile& calibrated);
std::vector<Figure> timeline_figures(const ResultFile& timeline);
std::vector<Figure> accuracy_figures(const ResultFile& tta);
std::vector<Figure> convergence_figures(const std::vector<const ResultFile*>& trained);
std::vector<Figure> u_figures(const std::vector<const ResultFile*>& trained);
std::vector<Figure> theory_figures(const ResultFile& theory_curve);

/// "fit, leaving out one model at a time": which comparison this is.
std::string compared_words(const ResultFile& compared);

/// The most that is drawn. The table has everything.
inline constexpr std::size_t kMostPanels = 24;
inline constexpr std::size_t kMostBars = 40;  // per panel

/// The series of that name. It is added if it is not there yet.
FigureSeries& series_named(FigurePanel& panel, const std::string& name);

/// Puts the series of every panel into the order of `names`.
void order_series(Figure& figure, const std::vector<std::string>& names);

/// Cuts what is too much to draw. Returns the sentence for the summary, " 12 more panels are in the
/// table alone.", or "" if nothing was cut.
std::string cut_to_fit(Figure& figure);

/// "0.4647", three or four digits; "1.83x"; "47 %" of a share.
std::string seconds_text(double seconds);
std::string times_text(double times);
std::string share_text(double share);
/// "16"
std::string count_text(double count);
/// The text of a number; "" if there is none.
std::string optional_text(const std::optional<double>& number);

}  // namespace gradcast
