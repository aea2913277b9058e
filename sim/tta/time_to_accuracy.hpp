// Iterations to an accuracy times seconds an iteration, beside dense.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/forecast/verdict.hpp"
#include "sim/tta/iteration_times.hpp"
#include "sim/tta/iterations_needed.hpp"

namespace gradcast {

/// The verdict as documents of `tta` have it: "yes", "no", "not sure".
std::string pays_word(Pays pays);

/// A number with its interval of kIntervalLevel, where that is known.
struct RatioWithInterval {
  double value = 0;
  std::optional<RatioInterval> interval{};

  /// A ratio of times: below 1 it pays.
  Pays pays() const;
};

/// Comparison of one setup with dense.
struct AgainstDense {
  RatioWithInterval iteration_time;  // its seconds an iteration over dense's
  /// nullopt unless all of dense's trainings reached the target. A lower bound if some of the
  /// setup's did not.
  std::optional<RatioWithInterval> iterations{};
  std::optional<RatioWithInterval> time{};  // to the accuracy
  /// The setup pays if its iteration is shorter than this share of dense's.
  std::optional<double> needed_iteration_ratio{};
  Pays by_iteration = Pays::CannotBeTold;
  Pays by_time = Pays::CannotBeTold;
};

/// One setup, one target, one estimate.
struct TimeToAccuracy {
  std::size_t setup = 0;  // its place
  double target = 0;      // percent
  bool fitted = false;
  IterationsNeeded needed;
  Seconds iteration{0};
  std::optional<ForecastInterval> iteration_interval{};
  std::optional<Seconds> time{};  // nullopt where no training got there
  std::optional<ForecastInterval> interval{};
  /// Time that is not enough: trainings that did not get there ran so long.
  std::optional<Seconds> at_least{};
  std::optional<AgainstDense> against_dense{};  // not of dense, nor where there is none
};

/// The ends of two intervals multiplied: wide on purpose. If both are of 90 % and independent, the
/// product is inside more often than that.
RatioInterval product_of(const RatioInterval& one, const RatioInterval& other);

/// All of them: by target, estimate (physics first), setup.
std::vector<TimeToAccuracy> times_to_accuracy(const TrainedSetups& setups,
                                              const std::vector<TimedSetup>& timed,
                                              const std::vector<double>& targets);

}  // namespace gradcast
