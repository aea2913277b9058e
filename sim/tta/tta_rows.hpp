// What was found, as rows of CSV and JSON and as tables for people.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/tta/accuracy_break_even.hpp"
#include "sim/tta/time_to_accuracy.hpp"

namespace gradcast {

/// All that an answer of `gradcast tta` is made of.
struct TtaFound {
  TrainedSetups setups;
  std::vector<TimedSetup> timed;
  std::vector<TimeToAccuracy> times;
  std::optional<Quantity> over{};
  std::vector<AccuracyBreakEven> break_evens{};
};

std::vector<Json> time_rows(const TtaFound& found);
std::string time_table(const TtaFound& found);

std::vector<Json> break_even_rows(const TtaFound& found);
std::string break_even_table(const TtaFound& found);

/// The accuracy of each evaluation over the seconds that the forecasts give its iterations.
std::vector<Json> curve_rows(const TtaFound& found);
std::string curve_table(const TtaFound& found);

}  // namespace gradcast
