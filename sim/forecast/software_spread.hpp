// The error of a forecast because software differs: the terms of its stack, each with its own
// uncertainty, and the error of physics itself. Forecasts that share a term share its error, so
// that a speedup is surer than either of its times.
#pragma once
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/interval.hpp"
#include "sim/plan/joint_terms.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/run_kind.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

/// A term of a stack, with the time that it adds to an iteration at its value. Times are linear in
/// a term, or nearly so, which makes thousands of draws cheap. A compressor's costs may hide behind
/// communication at their values and not above: their times bend there.
struct SpreadTerm {
  std::string name;  // terms of one name are the same software, and err together
  double seconds = 0;
  double deviation = 0;  // of its logarithm
  double presence = 1;   // share of stacks that have it
  bool outside = false;  // not seen under such conditions: not in the forecast, but in the interval
  bool forecast = true;  // in the forecast: neither outside nor of a mechanism that most lack
  /// Part of physics, of which it is not known how long it takes: derived costs of a compressor.
  bool of_physics = false;
  /// Deviation of the logarithm below the value; `deviation` is that above it. 0 means no deviation
  /// for a part of physics, and the same as above for all others.
  double deviation_below = 0;
  /// The term takes so many times its value at most, by physics.
  double most = std::numeric_limits<double>::infinity();
  /// From `bend` times its value on each further multiple adds so many seconds; 0: as before.
  double beyond = 0;
  double bend = 1;

  /// Seconds that it adds at so many times its value.
  double at(double times) const {
    const double more = times - bend;
    return beyond > seconds && more > 0 ? seconds * bend + beyond * more : seconds * times;
  }
};

/// NCCL's choice at its edge may be another one on the machine, whose links it may see otherwise
/// than the cluster's file. Its estimates are taken to be off by a normal deviation of .136 in the
/// logarithm of their ratio, which is a guess: one in twenty is off by 1.25 times. `within`: an
/// estimate of at most so many times the best. `chance`: that all estimates as near as that change
/// places, at the middle of its range.
struct NearChoice {
  double within;
  double chance;
};
inline constexpr std::array<NearChoice, 4> kNearChoices = {
    {{1.06, .414}, {1.12, .263}, {1.18, .152}, {1.25, .076}}};

struct SoftwareSpread {
  double forecast = 0;  // seconds, as it is said: by a known stack, else by physics
  double physics = 0;   // seconds, without any term
  double compute = 0;   // seconds of physics that were measured: one GPU alone
  double least = 0;     // seconds that no run takes less than
  /// Seconds that the run takes more if NCCL takes the algorithms that it nearly took, by how near
  /// they are (kNearChoices); 0: none is, or they change less than 1 %.
  std::array<double, kNearChoices.size()> other_choice{};
  std::vector<SpreadTerm> terms;
  std::string group;  // runs of one group share the discrepancy
  /// Standard deviations of logarithms, as a Stack has them. The discrepancy is of all but compute.
  double discrepancy = 0;
  double discrepancy_below = 0;
  double scatter = 0;
  struct KindError {
    std::string name;
    double deviation = 0;  // of the logarithm of all of the iteration
  };
  std::vector<KindError> kinds{};  // of what is known of runs of this kind
  RunKind kind{};
  /// Variance of the scatter that all runs of this kind share, and nobody knows.
  double kind_variance = 0;
  /// Terms that err together, of all that the stack has, whether this run pays them or not;
  /// nullptr: each errs by itself.
  std::shared_ptr<const JointTerms> joint{};
  double own = 0;      // seconds: this run's kernels and random noise
  double kernels = 0;  // seconds, of `own`: the compressor's kernels, which a dense run has not
  /// The costs of compressing are a GPU's, guessed for a CPU: nothing sure rests on them.
  bool costs_guessed = false;
  /// The run compresses, and each rank sends as many bytes as the gradients have, or more.
  bool saves_nothing = false;
};

/// The number of joint draws, and the degrees of freedom of their Student's t: a spread that is
/// known from a few groups is itself uncertain.
inline constexpr std::size_t kSpreadDraws = 1000;
inline constexpr double kSpreadDegrees = 5;

/// No iteration is done before its GPU has computed it. Two measurements of that work lie up to 3 %
/// apart: of the runs in traces/measured-*.csv the fastest took 0.973 times as long as its GPU
/// alone (torchtitan), 3 of 520 less than 0.99 times.
inline constexpr double kLeastOfCompute = 0.97;

/// True for a run that compresses, where each rank sends as many bytes of each bucket as its
/// gradients have: a cast of what has two bytes already.
bool saves_nothing(const Plan& plan, const Scenario& scenario);

/// True for such a run beside a dense one.
inline bool cannot_pay(const SoftwareSpread& its, const SoftwareSpread& other) {
  return its.saves_nothing && other.kind.compressor.empty();
}
inline bool cannot_pay(const std::optional<SoftwareSpread>& its,
                       const std::optional<SoftwareSpread>& other) {
  return its && other && cannot_pay(*its, *other);
}

/// Times that the run may take, in seconds. Draw i of two forecasts is the same world: what has the
/// same name has the same error there. Joint terms are drawn by a multivariate Student's t, so that
/// each has the same tails alone, and so has every sum of their logarithms. `with_outside`: also
/// the terms that lie outside.
std::vector<double> draws_of(const SoftwareSpread& spread, bool with_outside = false);

/// The interval from the 5th to the 95th percentile. It holds the forecast; where terms lie
/// outside, also physics and what these terms would make of it if they were multiplied on.
ForecastInterval interval_of(const SoftwareSpread& spread);

/// The interval of how many times as fast `one` is as `other`, from joint draws. Runs of one kind
/// share a part of their scatter. A compressor's kernels err in each run that has it, and in no
/// dense run. A run that saves nothing is slower than a dense one, whatever the draws say.
struct RatioInterval {
  double low = 0;
  double high = 0;
};
RatioInterval speedup_interval(const SoftwareSpread& one, const SoftwareSpread& other);

/// The spread of a forecast, by its stack, or without one by the population of stacks. nullopt
/// where there is neither. `jitter`: the deviation of its replicas.
std::optional<SoftwareSpread> spread_of(const Scenario& scenario, const Plan& plan,
                                        const IterationResult& forecast,
                                        Seconds jitter = Seconds{0});

}  // namespace gradcast
