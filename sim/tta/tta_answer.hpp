// What `gradcast tta` works out, and its answer in all formats.
#pragma once
#include "sim/answers/answer.hpp"
#include "sim/tta/tta_rows.hpp"

namespace gradcast {

/// Reads the trainings, forecasts and searches. Throws DataError, ValueError and UsageError.
TtaFound find_times_to_accuracy(const TtaAsked& asked, const Engine& engine, DataFiles& files);

/// A CSV file is one table: the curves' or the break-evens', where they were asked for.
Answer tta_answer(const TtaFound& found, bool curve, Format format);

/// The engines that ran it, each once.
std::string engines_of(const TtaFound& found);

}  // namespace gradcast
