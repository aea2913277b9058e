// The doubt about a forecast, as JSON: a sweep keeps it and processes send it to each other, so
// that the verdict on two such forecasts is the one on two fresh ones.
#pragma once
#include "sim/answers/document.hpp"
#include "sim/forecast/speedup_interval.hpp"

namespace gradcast {

Json to_json(const ForecastDoubt& doubt);

/// Throws nlohmann::json::exception or ValueError for anything that to_json does not write.
ForecastDoubt doubt_from(const Json& json);

}  // namespace gradcast
