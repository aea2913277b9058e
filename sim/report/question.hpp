// The title of a report: the question that its results answer.
#pragma once
#include <string>
#include <vector>

#include "sim/report/results.hpp"

namespace gradcast {

/// The question of the first result that asks one: what to change, where compression pays, when an accuracy
/// is reached, how long an iteration takes, how far forecasts are off.
std::string question_of(const std::vector<ResultFile>& results);

}  // namespace gradcast
