// Rows of a sweep as values, and what tells them apart.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/results.hpp"

namespace gradcast {

/// One of the two forecasts of a point.
struct Estimate {
  std::optional<double> seconds;     // of an iteration
  std::optional<double> efficiency;  // 0..1
  std::optional<double> speedup;     // over dense
  std::optional<double> low;         // of seconds, where there is an interval
  std::optional<double> high;

  /// Half the interval's width, as a share of the forecast; nullopt without one.
  std::optional<double> half_width() const;
};

struct AnsweredPoint {
  std::string model;
  std::string
      compressor;  // and its collective, where a compressor is seen with several: "topk (gtopk)"
  std::string bandwidth;       // "10Gbps"
  double bits_per_second = 0;  // 0 where the text is no rate
  double workers = 0;
  double density = 1;
  std::string others;  // what else the plan varied: "batch 64, overlap yes"
  Estimate physics;
  Estimate fitted;
  /// No run with the compressor was fitted, while others' were: it has no fitted estimate here.
  bool left_out = false;
  std::string agree;                                  // "yes", "no" or ""
  std::vector<std::pair<std::string, double>> parts;  // seconds, in the iteration's order
  bool dense() const { return compressor == "dense" || compressor.starts_with("dense ("); }
};

/// Points that have an answer, in the order of the rows.
std::vector<AnsweredPoint> points_of(const ResultFile& sweep);

/// Of "10Gbps" 10e9; 0 of what is no rate.
double bits_per_second_of(const std::string& bandwidth);

/// The parts of the iteration in a row of simulate or sweep that are not nought.
std::vector<std::pair<std::string, double>> parts_of(const Json& row);

/// Points drawn side by side, each group on a panel: by model, by bandwidth where there are
/// several, and by whatever else was varied.
struct PointGroup {
  std::string title;
  std::vector<const AnsweredPoint*> points;
};
std::vector<PointGroup> groups_of(const std::vector<AnsweredPoint>& points);

/// Of compressors at several densities one is drawn, where density is not what is looked at: the
/// paper's 0.001 where it is there, else the one in the middle. 0 where there is none.
double shown_density(const std::vector<AnsweredPoint>& points);
std::vector<AnsweredPoint> at_density(const std::vector<AnsweredPoint>& points, double density);

/// The number of workers that all models, compressors and bandwidths share and that is largest; the
/// largest of all where they share none; 0 without points.
double largest_common_workers(const std::vector<AnsweredPoint>& points);

/// Each text once, in the order of first sight.
std::vector<std::string> distinct(const std::vector<AnsweredPoint>& points,
                                  const std::function<std::string(const AnsweredPoint&)>& of);

}  // namespace gradcast
