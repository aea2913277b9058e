// What a command line of `gradcast tta` asks for.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/breakeven/quantity.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/options/flags.hpp"
#include "sim/tta/accuracy_targets.hpp"

namespace gradcast {

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
