// Today's run and every option beside it: forecast, compared per sample, ranked and judged.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/decide/fitting.hpp"
#include "sim/decide/options.hpp"
#include "sim/engine/engine.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/forecast/verdict.hpp"
#include "sim/plan/memory.hpp"

namespace gradcast {

/// The question to `gradcast decide`.
struct DecideAsked {
  Request request{};                       // before defaults; its compressor is none of those below
  std::vector<std::string> compressors{};  // to try; {"all"}: all that the costs have
  std::optional<double> price{};           // of an hour of one GPU, in any currency
  std::optional<double> samples{};         // of an epoch
  std::optional<Bytes> gpu_memory{};       // not given: that of the cluster's usual GPU
  std::size_t jobs = 1;
  bool quiet = true;  // shows no progress
};

/// An option that has a forecast, beside today's run. Both are compared per sample, because options
/// may have other batches or numbers of nodes.
struct WeighedOption {
  Option option{};
  Evaluation forecast{};
  double speedup = 0;                       // samples a second over today's
  std::optional<RatioInterval> interval{};  // 90 %, of the speedup
  Verdict verdict{};
  double gpu_time_ratio = 0;  // GPU seconds a sample over today's
};

struct Decision {
  Request request{};  // today's, with defaults
  Scenario now{};
  Evaluation forecast{};                // today's
  MemoryUse memory{};                   // today's
  std::string assumed{};                // of today's run, in words
  std::vector<WeighedOption> ranked{};  // the fastest per sample first
  std::vector<Option> refused{};        // each says why
  std::string gpu{};                    // whose memory is meant: "a100-80gb"; "": the user's word
  std::optional<Bytes> gpu_memory{};    // none where it is not known
  std::optional<Bytes> usable{};        // of it, by a run
  std::vector<FittingBatch> fitting{};  // the largest batches
};

/// Whether a run is known not to fit in a GPU's usable memory.
bool exceeds_memory(const Decision& decision, Bytes memory);

/// The limit of today's run.
enum class Bound { Compute, Communication, Software, Memory };

/// "compute", "communication", "software", "memory".
std::string_view to_text(Bound bound);

/// Shares of an iteration; together 1. Compute: what one GPU alone takes for its batch.
/// Communication: exposed, as `simulate` has it. Software: the rest, which is overhead, waiting,
/// and compute that is slowed.
struct Shares {
  double compute = 0;
  double communication = 0;
  double software = 0;
};

Shares shares_of(const Evaluation& forecast);

/// Memory if the run needs more than is usable; else the largest share.
Bound bound_of(const Decision& decision);

/// Compares an option with today's run. Both forecasts have answers. `costs_known` is as in
/// `pays_by`.
WeighedOption weigh(Option option, const Evaluation& forecast, const Evaluation& today,
                    bool costs_known);

/// Sorts by the speedup, the largest first; equal ones stay in their order.
void rank(std::vector<WeighedOption>& options);

/// Money or GPU hours of an epoch: GPU seconds a sample times samples, at a price an hour.
double epoch_hours(const Evaluation& forecast, double samples);
double epoch_cost(const Evaluation& forecast, double samples, double price);

/// Forecasts today's run and all options. An option without a forecast is among the refused. Throws
/// ValueError or DataError if today's run itself has none.
Decision decide(const DecideAsked& asked, const Engine& engine, DataFiles& files);

}  // namespace gradcast
