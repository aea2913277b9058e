// The doubt about a forecast, as JSON: a sweep keeps it, so that the verdict on two kept
// forecasts is the one on two fresh ones.
#pragma once
#include "sim/answers/answer.hpp"
#include "sim/forecast/speedup_interval.hpp"

namespace gradcast {

Json to_json(const ForecastDoubt& doubt);

/// Throws nlohmann::json::exception or ValueError for anything that to_json does not write.
ForecastDoubt doubt_from(const Json& json);

}  // namespace gradcast
