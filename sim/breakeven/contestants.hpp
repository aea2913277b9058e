// The compressors that compete, with the facts known before any forecast.
#pragma once
#include <string>
#include <vector>

#include "sim/breakeven/asked.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// One compressor, or dense.
struct Contestant {
  std::string name;
  Estimates estimates;
  bool costs_fitted = false;   // runs with it were fitted, so that its fitted costs are others
  bool costs_guessed = false;  // they are a GPU's, guessed for a CPU
  std::vector<Schedule> schedules{};  // among which it may choose

  /// Its run by each schedule.
  std::vector<Asked> physics() const;
  std::vector<Asked> fitted() const;  // empty: none
};

/// A contestant with the schedule of the request, or all that there are where the request asks for
/// the best or `fastest` does. Throws what a forecast would.
Contestant contestant_of(const Request& request, const BreakEvenAsked& asked, bool fastest,
                         DataFiles& files);

/// The opponent of the compressors: dense by the best or the same schedule, or a compressor.
Contestant opponent_of(const BreakEvenAsked& asked, DataFiles& files);

/// The compressors asked for. "all" means those that the costs and the collective allow; the others
/// are reported.
std::vector<Contestant> contestants_of(const Flags& flags, const BreakEvenAsked& asked,
                                       DataFiles& files);

/// Throws UsageError where the software asked for is of no fit.
void require_fitted_software(const Flags& flags, const BreakEvenAsked& asked, DataFiles& files);

}  // namespace gradcast
