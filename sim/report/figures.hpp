// Results become figures: only what the results hold, each with its table and a sentence.
#pragma once
#include <vector>

#include "sim/report/figure.hpp"
#include "sim/report/points.hpp"
#include "sim/report/results.hpp"

namespace gradcast {

/// In the order of a report: the answer first, then where time goes, then how far to trust it.
/// Identifiers are unique.
std::vector<Figure> figures_of(const std::vector<ResultFile>& results);

/// What follows makes figures of one kind each; none where a result does not hold enough for one.
/// `points` are those of a sweep.
std::vector<Figure> scaling_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> winner_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> winner_map_figures(const ResultFile& breakeven);
std::vector<Figure> breakdown_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> speedup_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> density_figures(const std::vector<AnsweredPoint>& points);
std::vector<Figure> simulated_figures(const std::vector<const ResultFile*>& simulated);
std::vector<Figure> error_figures(const ResultFile& compared);
std::vector<Figure> kernel_figures(const ResultFile& calibrated);
std::vector<Figure> timeline_figures(const ResultFile& timeline);

/// "fit, leaving out one model at a time": which comparison this is.
std::string compared_words(const ResultFile& compared);

/// So much is drawn at most; the table has all.
inline constexpr std::size_t kMostPanels = 24;
inline constexpr std::size_t kMostBars = 40;  // of a panel

/// The series of that name, made where it is not there yet.
FigureSeries& series_named(FigurePanel& panel, const std::string& name);

/// Series in the order of `names` on every panel, whichever was met first.
void order_series(Figure& figure, const std::vector<std::string>& names);

/// Cuts what is too much to draw; " 12 more panels are in the table alone." to be added to the
/// summary, "" where nothing was cut.
std::string cut_to_fit(Figure& figure);

/// "0.4647", three or four digits; "1.83x"; "47 %" of a share.
std::string seconds_text(double seconds);
std::string times_text(double times);
std::string share_text(double share);
/// "16"
std::string count_text(double count);
/// The text of a number, "" without one.
std::string optional_text(const std::optional<double>& number);

}  // namespace gradcast
