// Which cost table answers where nobody names one: it follows the GPU of the trace.
#pragma once
#include <string>

#include "sim/forecast/request.hpp"

namespace gradcast {

/// The authors' operators on the paper's V100.
inline constexpr const char* kPaperCosts = "cost-v100-pytorch-1.1";
/// The project's kernels, derived from those that ran on a simulated V100.
inline constexpr const char* kDerivedCosts = "cost-v100-derived";

/// The request with a cost table, where it names none. A trace of a V100, and one of a GPU that
/// traces/devices.csv does not know, has the paper's. A trace of another GPU has kDerivedCosts,
/// scaled to that GPU (or to the one that the request names); but the paper's are scaled where the
/// request asks for what they alone have, another implementation than the project's or mode paper.
/// A trace that cannot be read leaves the paper's: make_scenario then says what is wrong. Throws
/// DataError for a wrong traces/devices.csv.
Request with_usual_costs(Request request, DataFiles& files);

/// "derived for h100-sxm from the simulated V100: not measured", of costs that are scaled to a
/// device; "" where they are as they were found.
std::string scaled_costs_words(const std::string& costs, const std::string& device);

}  // namespace gradcast
