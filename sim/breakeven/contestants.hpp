// The compressors that compete: what is known of each before anything is forecast.
#pragma once
#include <string>
#include <vector>

#include "sim/breakeven/asked.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// One compressor, or dense.
struct Contestant {
  std::string name;
  Estimates estimates;
  bool costs_fitted = false;  // runs with it were fitted, so that its fitted costs are others
};

/// Throws what a forecast would.
Contestant contestant_of(const Request& request, const BreakEvenAsked& asked, DataFiles& files);

/// The compressors asked for. Of `all` those that the costs and the collective allow: the others
/// are told.
std::vector<Contestant> contestants_of(const Flags& flags, const BreakEvenAsked& asked,
                                       DataFiles& files);

/// Throws UsageError where the software asked for is of no fit.
void require_fitted_software(const Flags& flags, const BreakEvenAsked& asked, DataFiles& files);

/// Whose fitted software an answer has.
std::string software_of(const Asked& fitted);

}  // namespace gradcast
