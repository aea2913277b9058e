#include "sim/tta/time_to_accuracy.hpp"

#include <cmath>

#include "sim/forecast/speedup_interval.hpp"

namespace gradcast {
namespace {

const IterationTime& time_of(const TimedSetup& timed, bool fitted) {
  return fitted ? *timed.fitted : timed.physics;
}

/// Its iteration over dense's. A speedup of almost 0 is no bound of its inverse.
RatioWithInterval iteration_ratio(const IterationTime& its, const IterationTime& dense) {
  RatioWithInterval ratio{its.seconds() / dense.seconds()};
  const auto faster = speedup_interval(its.seconds(), its.evaluation.software_doubt(),
                                       dense.seconds(), dense.evaluation.software_doubt());
  if (faster && faster->low > 0) ratio.interval = {1 / faster->high, 1 / faster->low};
  return ratio;
}

RatioWithInterval product(const RatioWithInterval& one, const RatioWithInterval& other) {
  RatioWithInterval both{one.value * other.value};
  if (one.interval && other.interval) both.interval = product_of(*one.interval, *other.interval);
  return both;
}

/// Several trainings that did not get there ran so much longer than dense needs, that it surely
/// takes more time all the same. One alone may have been unlucky.
bool surely_longer(const IterationsNeeded& its, const IterationsNeeded& dense,
                   const RatioWithInterval& iteration) {
  const auto of_dense = interval_of(dense);
  if (its.reached > 0 || its.seeds < 2 || !of_dense || !iteration.interval) return false;
  return pays_by(RatioInterval{0, of_dense->high / (its.at_least() * iteration.interval->low)}) ==
         Pays::No;
}

AgainstDense held_against(const IterationsNeeded& its, const IterationTime& its_time,
                          const IterationsNeeded& dense, const IterationTime& dense_time) {
  AgainstDense against;
  against.iteration_time = iteration_ratio(its_time, dense_time);
  against.by_iteration = against.iteration_time.pays();
  if (!dense.complete()) return against;
  against.iterations =
      RatioWithInterval{its.at_least() / *dense.median, ratio_interval(its, dense)};
  against.time = product(*against.iterations, against.iteration_time);
  against.needed_iteration_ratio = 1 / against.iterations->value;
  against.by_time = against.time->pays();
  if (surely_longer(its, dense, against.iteration_time)) against.by_time = Pays::No;
  return against;
}

TimeToAccuracy one_time(const TrainedSetup& trained, const TimedSetup& timed, double target,
                        bool fitted) {
  TimeToAccuracy one;
  one.target = target;
  one.fitted = fitted;
  one.needed = iterations_needed(trained, target);
  const IterationTime& iteration = time_of(timed, fitted);
  one.iteration = iteration.seconds();
  one.iteration_interval = iteration.evaluation.interval;
  if (one.needed.median) one.time = one.iteration * *one.needed.median;
  if (!one.needed.complete()) one.at_least = one.iteration * one.needed.at_least();
  const auto iterations = interval_of(one.needed);
  if (iterations && one.iteration_interval) {
    const RatioInterval both = product_of(
        *iterations, {one.iteration_interval->low.count(), one.iteration_interval->high.count()});
    one.interval = {Seconds{both.low}, Seconds{both.high}};
  }
  return one;
}

}  // namespace

std::string pays_word(Pays pays) {
  return pays == Pays::CannotBeTold ? "not sure" : yes_or_no(pays);
}

Pays RatioWithInterval::pays() const {
  if (!interval) return Pays::CannotBeTold;
  return pays_by(
      RatioInterval{1 / interval->high, interval->low > 0 ? 1 / interval->low : INFINITY});
}

RatioInterval product_of(const RatioInterval& one, const RatioInterval& other) {
  return {one.low * other.low, one.high * other.high};
}

std::vector<TimeToAccuracy> times_to_accuracy(const TrainedSetups& setups,
                                              const std::vector<TimedSetup>& timed,
                                              const std::vector<double>& targets) {
  std::vector<TimeToAccuracy> all;
  for (const double target : targets)
    for (const bool fitted : {false, true}) {
      if (fitted && !timed.front().fitted) continue;
      for (std::size_t i = 0; i < setups.all.size(); ++i) {
        TimeToAccuracy one = one_time(setups.all[i], timed[i], target, fitted);
        one.setup = i;
        if (setups.dense() != nullptr && i > 0)
          one.against_dense =
              held_against(one.needed, time_of(timed[i], fitted),
                           iterations_needed(*setups.dense(), target), time_of(timed[0], fitted));
        all.push_back(one);
      }
    }
  return all;
}

}  // namespace gradcast
