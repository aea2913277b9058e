#include "sim/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace gradcast {
namespace {

/// The middle value, or the mean of the two in the middle.
double median(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// The smallest value that at least `share` of the sorted values do not exceed.
double nearest_rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

const ComparedRun* dense_of(const std::vector<ComparedRun>& runs, const ComparedRun& like) {
  for (const ComparedRun& other : runs)
    if (other.run.compressor == "dense" && same_setup(other.run, like.run)) return &other;
  return nullptr;
}

/// "topk", or "topk 0.01 code" where its set-up has runs of it at several densities and modes.
std::string label_of(const std::vector<ComparedRun>& runs, const MeasuredRun& run) {
  bool densities = false;
  bool modes = false;
  for (const ComparedRun& other : runs) {
    if (!same_setup(other.run, run) || other.run.compressor != run.compressor) continue;
    densities = densities || other.run.density != run.density;
    modes = modes || other.run.mode != run.mode;
  }
  return run.compressor + (densities ? " " + number_to_text(run.density) : "") +
         (modes ? " " + run.mode : "");
}

}  // namespace

double ComparedRun::error_percent() const {
  return 100 * ((predicted() - run.iteration) / run.iteration);
}

Seconds ComparedRun::unexplained() const { return run.iteration - predicted(); }

double ComparedRun::measured_efficiency() const { return run.compute / run.iteration; }

double ComparedRun::predicted_efficiency() const { return run.compute / predicted(); }

ErrorSummary summarize_errors(const std::vector<double>& errors_percent) {
  if (errors_percent.empty()) throw std::logic_error("no errors to summarize");
  const auto count = static_cast<double>(errors_percent.size());
  std::vector<double> absolute;
  ErrorSummary summary;
  summary.rows = errors_percent.size();
  for (const double error : errors_percent) {
    absolute.push_back(std::abs(error));
    if (std::abs(error) > std::abs(summary.worst)) summary.worst = error;
  }
  std::sort(absolute.begin(), absolute.end());
  summary.mean_absolute = std::accumulate(absolute.begin(), absolute.end(), 0.0) / count;
  summary.median_absolute = median(absolute);
  summary.p90_absolute = nearest_rank(absolute, 0.9);
  summary.bias = std::accumulate(errors_percent.begin(), errors_percent.end(), 0.0) / count;
  return summary;
}

void add_speedups(std::vector<ComparedRun>& runs) {
  for (ComparedRun& run : runs) {
    const ComparedRun* dense = dense_of(runs, run);
    if (dense == nullptr || run.run.payload.count > 0) continue;
    run.measured_speedup = dense->run.iteration / run.run.iteration;
    run.predicted_speedup = dense->predicted() / run.predicted();
  }
}

std::vector<SpeedupPair> speedups_of_fastest(const std::vector<ComparedRun>& runs) {
  std::vector<SpeedupPair> pairs;
  std::vector<const MeasuredRun*> told;  // set-ups that are done
  for (const ComparedRun& first : runs) {
    const auto same = [&](const MeasuredRun* run) { return same_setup(*run, first.run); };
    if (std::any_of(told.begin(), told.end(), same)) continue;
    told.push_back(&first.run);
    const ComparedRun* fastest = &first;
    for (const ComparedRun& run : runs)
      if (same_setup(run.run, first.run) && run.run.iteration < fastest->run.iteration)
        fastest = &run;
    for (const ComparedRun& run : runs)
      if (same_setup(run.run, first.run) && label_of(runs, run.run) != label_of(runs, fastest->run))
        pairs.push_back({run.run.source, run.run.model, label_of(runs, fastest->run),
                         label_of(runs, run.run), run.run.iteration / fastest->run.iteration,
                         run.predicted() / fastest->predicted()});
  }
  return pairs;
}

}  // namespace gradcast
