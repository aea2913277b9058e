// The verdict on a choice: does it surely pay, surely not, or can it not be told? Every table,
// sentence, picture and JSON document takes its verdict from this file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/forecast/speedup_interval.hpp"

namespace gradcast {

enum class Pays { Yes, No, CannotBeTold };

/// "surely pays", "surely does not pay", "cannot be told".
std::string to_text(Pays pays);
/// Reads such a text back; none for any other text.
std::optional<Pays> pays_in(const std::string& text);
/// "yes" and "no"; "" where it cannot be told.
std::string yes_or_no(Pays pays);

/// Gains below these are called none: nobody measures or rewrites anything for 1 %, and nobody buys
/// hardware for less than 5 %.
inline constexpr double kWorthwhileSpeedup = 1.01;
inline constexpr double kWorthBuyingSpeedup = 1.05;

/// The rule. A choice pays only if the whole 90 % interval of its speedup lies above 1, and does
/// not only if the interval lies below `worth`. Without an interval it cannot be told.
/// `costs_known`: false if the forecast lacks software costs of the choice. Such costs can only
/// make it slower, so it may be sure that it does not pay, but never that it pays.
Pays pays_by(const std::optional<RatioInterval>& speedup, bool costs_known = true,
             double worth = 1);

/// The rule for two forecasts. Where the costs of the choice are guessed (SoftwareSpread), they
/// count as not known; where those of the other run are, nothing can be told.
Pays pays_by(const std::optional<RatioInterval>& speedup, const ForecastDoubt& its,
             const ForecastDoubt& other, bool costs_known = true, double worth = 1);

/// The verdict on having a choice of two: it surely pays if one of them does, and surely does not
/// only if neither does.
Pays either_of(Pays one, Pays other);

struct Verdict {
  Pays pays = Pays::CannotBeTold;
  std::optional<RatioInterval> speedup{};  // its 90 % interval
  std::string measure{};  // what would narrow it most: "a dense run on this cluster"; "" if sure
};

/// "surely pays", or "cannot be told: measure a dense run on this cluster".
std::string words_of(const Verdict& verdict);

/// A forecast as a verdict needs it.
struct Judged {
  Seconds iteration{0};
  const ForecastDoubt& doubt;
};

/// The verdict on `its` against `other`. `name` says in a word what `its` run differs by:
/// "gaussian", "twice the network".
Verdict verdict_on(const std::string& name, const Judged& its, const Judged& other,
                   bool costs_known = true);

/// "a dense run on this cluster", "one run with topk on this cluster".
std::string run_with(const std::string& name);

/// "the kernels of int8 on this CPU (gradcast calibrate --device cpu)"
std::string measure_on_cpu(const std::string& compressor);

/// The guessed costs of either run, as measure_on_cpu has it; "" where none are guessed.
std::string guessed_measure(const ForecastDoubt& its, const ForecastDoubt& other);

/// The run to measure first: it would settle most of what widens the interval of the speedup.
std::string measure_first(const std::string& name, const Judged& its, const Judged& other,
                          const std::string& others_name = "dense");

/// The names in a comma-separated list of software terms, each once.
std::vector<std::string> terms_in(const std::string& list);
/// "no data for 3 software costs here"; "" for an empty list.
std::string no_data_words(const std::string& terms);

}  // namespace gradcast
