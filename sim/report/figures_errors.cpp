// Forecasts against measurements, from compare and fit.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/compare/comparison.hpp"
#include "sim/report/figures.hpp"

namespace gradcast {
namespace {

std::string argument_of(const ResultFile& result, const std::string& flag) {
  const auto argv = result.document.find("argv");
  if (argv != result.document.end() && argv->is_array())
    for (std::size_t i = 0; i + 1 < argv->size(); ++i)
      if ((*argv)[i] == flag && (*argv)[i + 1].is_string())
        return (*argv)[i + 1].get<std::string>();
  return "";
}

std::string percent(double value) { return fixed(value, 1) + " %"; }

std::string configuration(const Json& row) {
  std::string words = text_of(row, "model") + ", " + text_of(row, "compressor");
  if (const std::string ranks = text_of(row, "ranks"); !ranks.empty())
    words += ", " + ranks + (ranks == "1" ? " rank" : " ranks");
  if (const std::string bandwidth = text_of(row, "nic_bandwidth"); !bandwidth.empty())
    words += ", " + bandwidth;
  return words;
}

struct Compared {
  double measured;
  double predicted;
  double error_percent;
};

std::optional<Compared> compared_in(const Json& row) {
  const auto measured = positive_of(row, "measured_seconds");
  const auto predicted = positive_of(row, "predicted_seconds");
  if (!measured || !predicted) return std::nullopt;
  return Compared{*measured, *predicted, 100 * (*predicted / *measured - 1)};
}

/// "MAPE 3.3 %, median 2.4 %, ...", as `compare` counts them.
std::string error_words(const std::vector<double>& errors) {
  const ErrorSummary summary = summarize_errors(errors);
  return "MAPE " + percent(summary.mean_absolute) + ", median " + percent(summary.median_absolute) +
         ", 90th percentile " + percent(summary.p90_absolute) + ", worst " +
         with_sign(summary.worst, 1) + " %, n = " + std::to_string(summary.rows);
}

Figure scatter_figure(const ResultFile& compared) {
  Figure figure{"errors-" + compared.command,
                FigureKind::Scatter,
                "Forecast against measurement: " + compared_words(compared),
                "",
                {"measured (s)", AxisScale::Log10},
                {"forecast (s)", AxisScale::Log10}};
  figure.guides = {5, 10};
  figure.table.header = {"run",    "measured (s)", "forecast (s)", "error (%)", "interval from (s)",
                         "to (s)", "source"};
  FigurePanel panel;
  std::vector<double> errors;
  std::string worst;
  double largest = 0;
  std::size_t outside = 0;
  for (const Json& row : compared.rows) {
    const auto pair = compared_in(row);
    if (!pair) continue;
    FigurePoint point{pair->measured, pair->predicted};
    point.low = positive_of(row, "interval_low_seconds");
    point.high = positive_of(row, "interval_high_seconds");
    point.label = configuration(row) + ": measured " + seconds_text(pair->measured) +
                  " s, forecast " + seconds_text(pair->predicted) + " s (" +
                  with_sign(pair->error_percent, 1) + " %)";
    if (const std::string why = text_of(row, "outside"); !why.empty()) {
      // As in `compare`: a row that the model does not claim is not an error of the model.
      point.muted = true;
      point.label += ", not counted: " + why;
      ++outside;
    } else {
      if (std::abs(pair->error_percent) >= largest) {
        largest = std::abs(pair->error_percent);
        worst = configuration(row);
      }
      errors.push_back(pair->error_percent);
    }
    figure.table.rows.push_back({configuration(row), seconds_text(pair->measured),
                                 seconds_text(pair->predicted), with_sign(pair->error_percent, 1),
                                 optional_text(point.low), optional_text(point.high),
                                 text_of(row, "source")});
    series_named(panel, text_of(row, "compressor")).points.push_back(point);
  }
  if (errors.empty()) return figure;
  figure.panels.push_back(std::move(panel));
  figure.summary = error_words(errors) + " (" + worst +
                   "). On the diagonal a forecast is exact; guides are 5 and 10 % off.";
  if (outside > 0)
    figure.summary += " " + std::to_string(outside) + (outside == 1 ? " run" : " runs") +
                      " outside the model (pale) not counted.";
  return figure;
}

/// Rows of one panel, with a name each.
struct NamedRows {
  std::string title;
  std::vector<const Json*> rows;
  std::vector<std::string> names;
};

/// ", overlap", ", batch 64", ", 25Gbps"
std::string setting(const Json& row, const std::string& field) {
  const std::string value = text_of(row, field);
  if (value.empty()) return "";
  if (field == "overlap") return value == "yes" ? ", overlap" : ", no overlap";
  return (field == "batch" || field == "accumulation" ? ", " + field + " " : ", ") + value;
}

/// Names of rows: `first`, the ranks, and whatever else is needed to distinguish them: "topk x16,
/// 25Gbps".
void name_rows(NamedRows& panel, const std::string& first) {
  for (const Json* row : panel.rows) {
    const std::string ranks = text_of(*row, "ranks");
    panel.names.push_back(text_of(*row, first) + (ranks.empty() ? "" : " x" + ranks));
  }
  const auto distinct = [](const std::vector<std::string>& names) {
    return std::set<std::string>(names.begin(), names.end()).size();
  };
  for (const char* field : {"nic_bandwidth", "fusion", "overlap", "density", "batch", "mode",
                            "accumulation", "cluster", "source"}) {
    std::vector<std::string> longer = panel.names;
    for (std::size_t i = 0; i < longer.size(); ++i) longer[i] += setting(*panel.rows[i], field);
    if (distinct(longer) > distinct(panel.names)) panel.names = std::move(longer);
  }
  std::set<std::string> taken;
  for (std::string& name : panel.names) {
    const std::string base = name;
    for (int i = 2; !taken.insert(name).second; ++i) name = base + " #" + std::to_string(i);
  }
}

/// The rows that `wanted` accepts, by the panel that `title` names.
std::vector<NamedRows> panels_of(const ResultFile& compared, const char* title, const char* first,
                                 const std::function<bool(const Json&)>& wanted) {
  std::vector<NamedRows> panels;
  std::map<std::string, std::size_t> known;
  for (const Json& row : compared.rows) {
    if (!wanted(row)) continue;
    const auto [found, fresh] = known.try_emplace(text_of(row, title), panels.size());
    if (fresh) panels.push_back({found->first, {}, {}});
    panels[found->second].rows.push_back(&row);
  }
  for (NamedRows& panel : panels) name_rows(panel, first);
  return panels;
}

/// Does the forecast rank compressors as the measurements do?
Figure measured_speedup_figure(const ResultFile& compared) {
  Figure figure{"measured-speedup-" + compared.command,
                FigureKind::Bars,
                "Speedup over dense, measured and forecast: " + compared_words(compared),
                "",
                {"", AxisScale::Category},
                {"speedup over dense", AxisScale::Linear}};
  figure.table.header = {"compressor", "run", "measured", "forecast"};
  std::size_t right = 0;
  const auto wanted = [](const Json& row) {
    return positive_of(row, "measured_speedup") && positive_of(row, "predicted_speedup") &&
           text_of(row, "compressor") != "dense" && text_of(row, "compressing") != "no";
  };
  for (const NamedRows& group : panels_of(compared, "compressor", "model", wanted)) {
    FigurePanel& panel = figure.panels.emplace_back(FigurePanel{group.title, {}});
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const auto add = [&](const char* name, double speedup) {
        FigurePoint point;
        point.x_text = group.names[i];
        point.y = speedup;
        point.label =
            group.title + ", " + group.names[i] + ", " + name + ": " + times_text(speedup);
        series_named(panel, name).points.push_back(point);
      };
      const double measured = *positive_of(*group.rows[i], "measured_speedup");
      const double predicted = *positive_of(*group.rows[i], "predicted_speedup");
      add("measured", measured);
      add("forecast", predicted);
      figure.table.rows.push_back(
          {group.title, group.names[i], fixed(measured, 3), fixed(predicted, 3)});
      if ((measured > 1) == (predicted > 1)) ++right;
    }
  }
  figure.summary = "In " + std::to_string(right) + " of " +
                   std::to_string(figure.table.rows.size()) +
                   " runs the forecast says rightly whether compression paid.";
  figure.summary += cut_to_fit(figure);
  return figure;
}

const std::vector<std::pair<std::string, std::string>> kExplained = {
    {"computing", "computing_seconds"},
    {"codec", "codec_seconds"},
    {"exposed communication", "exposed_communication_seconds"},
    {"overhead and wait", "overhead_and_wait_seconds"},
    {"unexplained", "unexplained_seconds"}};

/// Bars of the measured time: the parts that the forecast explains, and the rest.
Figure explained_figure(const ResultFile& compared) {
  Figure figure{"explained-" + compared.command,
                FigureKind::Bars,
                "Where measured time goes, by the forecast: " + compared_words(compared),
                "",
                {"", AxisScale::Category},
                {"iteration (s)", AxisScale::Linear}};
  figure.stacked = true;
  figure.table.header = {"model",
                         "bar",
                         "computing (s)",
                         "codec (s)",
                         "exposed communication (s)",
                         "overhead and wait (s)",
                         "unexplained (s)",
                         "measured (s)"};
  double unexplained = 0;
  double measured = 0;
  const auto wanted = [](const Json& row) { return compared_in(row).has_value(); };
  for (const NamedRows& group : panels_of(compared, "model", "compressor", wanted)) {
    FigurePanel& panel = figure.panels.emplace_back(FigurePanel{group.title, {}});
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const Json& row = *group.rows[i];
      const double whole = compared_in(row)->measured;
      std::vector<std::string> line{group.title, group.names[i]};
      for (const auto& [name, key] : kExplained) {
        const auto seconds = number_of(row, key);
        line.push_back(seconds ? seconds_text(*seconds) : "");
        // A forecast that is too slow explains more than the measured time, so nothing is left to
        // draw.
        if (!seconds || *seconds <= 1e-9) continue;
        FigurePoint part;
        part.x_text = group.names[i];
        part.y = *seconds;
        part.label = group.names[i] + ": " + name + " " + seconds_text(*seconds) + " s of " +
                     seconds_text(whole) + " measured";
        series_named(panel, name).points.push_back(part);
      }
      line.push_back(seconds_text(whole));
      figure.table.rows.push_back(line);
      unexplained += std::max(0.0, number_of(row, "unexplained_seconds").value_or(0));
      measured += whole;
    }
  }
  std::erase_if(figure.panels, [](const FigurePanel& panel) { return panel.series.empty(); });
  if (figure.panels.empty()) return figure;
  order_series(figure, {"computing", "codec", "exposed communication", "overhead and wait"});
  figure.summary = "Of all measured time " + share_text(unexplained / measured) +
                   " is left unexplained by forecasts that are too fast.";
  figure.summary += cut_to_fit(figure);
  return figure;
}

}  // namespace

std::string compared_words(const ResultFile& compared) {
  std::string words = compared.command;
  if (const std::string measured = argument_of(compared, "--measured"); !measured.empty())
    words += ", " + measured.substr(measured.rfind('/') + 1);
  if (compared.command != "fit") return words;
  const std::string left_out = argument_of(compared, "--leave-one-out");
  return words + (left_out.empty() ? ", of the rows that it was fitted to"
                                   : ", leaving out one " + left_out + " at a time");
}

std::vector<Figure> error_figures(const ResultFile& compared) {
  std::vector<Figure> figures{scatter_figure(compared), measured_speedup_figure(compared),
                              explained_figure(compared)};
  std::erase_if(figures, [](const Figure& figure) { return figure.panels.empty(); });
  return figures;
}

}  // namespace gradcast
