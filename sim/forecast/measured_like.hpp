// The published measurement of the very run that a request asks for.
#pragma once
#include <optional>

#include "sim/forecast/request.hpp"
#include "sim/inputs/measured.hpp"

namespace gradcast {

/// The measured run of a request, if one of the project's measured files has it. Every choice of
/// the request counts, except for those that measured_like.cpp puts aside. `plan` is the request's.
std::optional<MeasuredRun> measured_like(const Request& request, const Scenario& scenario,
                                         const Plan& plan, const DataFiles& files);

}  // namespace gradcast
