// The accuracy of forecasts on clusters and stacks that nobody fitted: each group of runs, forecast
// by what all other groups say, beside physics alone; and the judgement as people and programs read
// it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/population/known_terms.hpp"
#include "sim/population/posterior.hpp"

namespace gradcast {

/// The quality of intervals. The score (alpha = 0.1, on the logarithm of time; Gneiting and Raftery
/// 2007) is the width, and 20 times a measurement's distance outside: low is good.
struct IntervalScore {
  double coverage_percent = 0;
  double width_percent = 0;  // median, of the forecast
  double score = 0;
};

struct JudgedGroup {
  std::string name;
  std::string stack;
  bool stack_seen = false;  // by another group
  std::size_t rows = 0;
  double error_percent = 0;    // mean absolute, of forecasts without this group
  double bias_percent = 0;     // mean of the same, with its sign: below 0 is too fast
  double physics_percent = 0;  // of physics alone
  IntervalScore intervals;
  IntervalScore unnamed;    // of physics, where no more is known of its stack than its transport
  IntervalScore residuals;  // of physics with the other groups' residuals
};

struct Judgement {
  std::vector<JudgedGroup> groups;

  // Means over groups, which weigh alike.
  double mean(double JudgedGroup::*of) const;
  double mean(IntervalScore JudgedGroup::*intervals, double IntervalScore::*of) const;
};

/// Judges groups by the stacks that `compare` forecasts with, in `threads` threads. `known` holds
/// for these stacks, too. `seed`: of their estimates; the project's own have 1. `progress`: called
/// with how many groups are done.
Judgement judge_groups(const std::vector<SourceGroup>& groups, const StackPriors& priors,
                       const std::vector<KnownTerm>& known, std::uint64_t seed, std::size_t threads,
                       const std::function<void(std::size_t)>& progress);

std::string judgement_table(const Judgement& judgement);
std::vector<Json> judgement_rows(const Judgement& judgement);
/// Means over groups, which weigh alike.
Json judgement_summary(const Judgement& judgement);

}  // namespace gradcast
