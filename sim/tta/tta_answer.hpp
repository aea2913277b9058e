// Results of `gradcast tta`: as rows of CSV and JSON, as tables for people, and as its answer.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
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

/// Reads the trainings, forecasts and searches. Throws DataError, ValueError and UsageError.
TtaFound find_times_to_accuracy(const TtaAsked& asked, const Engine& engine, DataFiles& files);

/// A CSV file is one table: the curves' or the break-evens', where they were asked for.
Answer tta_answer(const TtaFound& found, bool curve, Format format);

/// The engines that ran it, each once.
std::string engines_of(const TtaFound& found);

}  // namespace gradcast
