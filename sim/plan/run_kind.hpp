// Runs of one kind err together. Batch, precision and model decide how much of a GPU's time one
// run's data and kernels take. More ranks change that slowly, and schedules hardly.
#pragma once
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradcast {

/// The kind of a run: its compressor, how long one GPU computes, and on how many ranks.
struct RunKind {
  std::string compressor;  // "": dense
  Seconds compute{0};      // 0: no kind
  int ranks = 1;
};

struct Scenario;
RunKind kind_of(const Scenario& scenario);

/// Share of a run's scatter (in variance) that its kind has, in all runs of the kind. It is about
/// the median over sources that have several kinds: runs of one source and kind lie 1 to 2 % apart,
/// kinds of one source 2 to 4 % (docs/accuracy.md).
inline constexpr double kKindShare = 2.0 / 3;

/// A run scatters by so much of its stack's scatter, which is that of communication and software:
/// one GPU's work, a part `computed` of the time, is known better.
double scatter_share(double computed);

/// Correlation of the errors of two kinds, from 0 to 1: 0.1 where one computes twice as long, 0.87
/// where one has twice the ranks, and 0 for two compressors.
double kind_correlation(const RunKind& one, const RunKind& other);

inline constexpr const char* kKindFactor = "kind_factor";

/// A kind as measured runs have it: their times over what the rest of the stack makes of them.
struct KindFactor {
  RunKind kind;
  double factor = 1;
  double deviation = 0;  // of its logarithm
  /// Kernels of its runs: "gradcast-cpu"; "" for dense runs, and where it is not known.
  std::string implementation{};

  /// "kind_factor at 0.2133 on 16", "kind_factor of topk at 0.2133 on 16"
  std::string name() const;
  /// "compute=0.2133 ranks=16", as a stack's file has it.
  std::string seen() const;
};

/// The factor of any kind, by those that were measured.
struct KindEstimate {
  struct Part {
    const KindFactor* known = nullptr;
    double weight = 0;
  };
  std::vector<Part> parts{};  // log of the factor = sum of weight x log(known factor)
  /// Share of the spread between kinds that stays unknown: 0 for a kind that was measured, 1 for
  /// one that is unlike all of them.
  double unknown = 1;

  double factor() const;
};
KindEstimate kind_estimate(const std::vector<KindFactor>& known, const RunKind& kind);

}  // namespace gradcast
