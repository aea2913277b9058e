// The rows of a sweep as values, and what distinguishes them.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/forecast/verdict.hpp"
#include "sim/report/results.hpp"

namespace gradcast {

/// One of the two forecasts of a point.
struct Estimate {
  std::optional<double> seconds;     // per iteration
  std::optional<double> efficiency;  // 0..1
  std::optional<double> speedup;     // over its dense opponent
  std::optional<double> low;         // interval of seconds, if there is one
  std::optional<double> high;
};

struct AnsweredPoint {
  std::string model;
  std::string
      compressor;  // and its collective, where a compressor is seen with several: "topk (gtopk)"
  std::string bandwidth;       // "10Gbps"
  double bits_per_second = 0;  // 0 where the text is no rate
  double workers = 0;
  double density = 1;
  std::string others;  // other settings that the plan varied: "batch 64, overlap yes"
  Estimate physics;
  Estimate fitted;
  /// True if no run with this compressor was fitted, but runs with others were. It then has no
  /// fitted estimate here.
  bool left_out = false;
  bool against_best = false;  // held against the fastest dense run, else that of its schedule
  /// Does it pay? None for dense, and in files that say nothing of it.
  std::optional<Pays> verdict{};
  std::string measure{};                                // the measurement that would tell
  std::optional<double> speedup_low{}, speedup_high{};  // the verdict's interval
  std::vector<std::pair<std::string, double>> parts;    // seconds, in the iteration's order
  /// The seconds of one of its estimates; of a dense point those of the run that compressors are
  /// held against, which may have another schedule. Needs seconds and, of dense, a speedup.
  double seconds_held(Estimate AnsweredPoint::*which) const;
  /// Its opponent in words: "dense", "the fastest dense run".
  const char* opponent() const { return against_best ? "the fastest dense run" : "dense"; }
  bool dense() const { return compressor == "dense" || compressor.starts_with("dense ("); }
};

/// Points that have an answer, in the order of the rows.
std::vector<AnsweredPoint> points_of(const ResultFile& sweep);

/// "10Gbps" gives 10e9; a text that is not a rate gives 0.
double bits_per_second_of(const std::string& bandwidth);

/// The parts of the iteration, in a row of simulate or sweep, that are not zero.
std::vector<std::pair<std::string, double>> parts_of(const Json& row);

/// Points drawn side by side, each group on a panel: by model, by bandwidth where there are
/// several, and by whatever else was varied.
struct PointGroup {
  std::string title;
  std::vector<const AnsweredPoint*> points;
};
std::vector<PointGroup> groups_of(const std::vector<AnsweredPoint>& points);

/// The density to draw, in figures that are not about density, if compressors have several: the
/// paper's 0.001 if it is there, else the one in the middle. 0 if there is none.
double shown_density(const std::vector<AnsweredPoint>& points);
std::vector<AnsweredPoint> at_density(const std::vector<AnsweredPoint>& points, double density);

/// The largest number of workers that all models, compressors and bandwidths share; the largest of
/// all if they share none; 0 without points.
double largest_common_workers(const std::vector<AnsweredPoint>& points);

/// Each text once, in the order in which they first appear.
std::vector<std::string> distinct(const std::vector<AnsweredPoint>& points,
                                  const std::function<std::string(const AnsweredPoint&)>& of);

}  // namespace gradcast
