// Flags of `gradcast tta`, and the accuracies at which it compares.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/breakeven/quantity.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/options/flags.hpp"
#include "sim/tta/trained_setups.hpp"

namespace gradcast {

/// A target as it was asked for.
struct AccuracyTarget {
  bool below_best = false;  // so many points below the best, else so many percent
  double value = 0;
};

/// "80,85", "best-1": one point below the best that dense reached, or any where there is no dense.
/// Throws ValueError.
std::vector<AccuracyTarget> parse_targets(std::string_view text);

/// The targets in percent: rising, each once. Throws ValueError where one is not above 0.
std::vector<double> percent_of(const std::vector<AccuracyTarget>& targets,
                               const TrainedSetups& setups);

void add_tta_flags(Flags& flags);

struct TtaAsked {
  Request request;  // compressor, mode, density and batch are those of the trainings
  std::vector<std::string> trainings;  // files
  std::vector<AccuracyTarget> targets;
  Against against = Against::Best;  // by which schedule dense runs
  std::string software;             // "none": physics alone
  std::optional<Quantity> over;
  std::optional<double> from;
  std::optional<double> to;
  bool curve = false;
  std::size_t jobs = 1;
};

/// Throws UsageError.
TtaAsked read_tta(const Flags& flags);

}  // namespace gradcast
