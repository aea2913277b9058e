// `gradcast simulate --counts FILE`: takes the numbers of elements that a training sent, not k.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/answers/document.hpp"
#include "sim/base/units.hpp"
#include "sim/engine/engine.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/sent_counts.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast::commands {

/// A file of counts, and the forecasts made with it.
struct CountsUsed {
  std::string file;           // as typed
  std::int64_t elements = 0;  // the trained network's
  std::size_t workers = 0;    // those of the training
  SentShare share;
  // An iteration; nullopt where the run never ends:
  std::optional<Seconds> of_k{};    // if as many travelled as the cost table says, near k
  std::optional<Seconds> at_p10{};  // with the counts of share.p10
  std::optional<Seconds> at_p90{};
};

/// Adds --counts.
void add_counts_flag(Flags& flags);

/// Reads the file of --counts, where there is one, and puts its mean share and, if no --density was
/// given, its density into the request. Throws UsageError for a compressor whose counts these
/// cannot be, DataError for the file.
std::optional<CountsUsed> read_counts(const Flags& flags, Request& request, DataFiles& files);

/// Fills in the forecasts.
void forecast_counts(CountsUsed& used, const Scenario& scenario, const Engine& engine,
                     const NoiseChoice& noise);

/// The columns of the inputs, and those of the results.
Json counts_settings(const CountsUsed& used);
Json counts_numbers(const CountsUsed& used);

/// Notes on the counts for the reader, a line each.
void note_counts(const Flags& flags, const CountsUsed& used, const Scenario& scenario);

}  // namespace gradcast::commands
