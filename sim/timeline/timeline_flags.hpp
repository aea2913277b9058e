// The flags that write a run down as a trace, for those who want to see it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/options/flags.hpp"
#include "sim/options/noise_flags.hpp"
#include "sim/plan/scenario.hpp"
#include "sim/timeline/rank_choice.hpp"

namespace gradcast {

void add_timeline_flags(Flags& flags);

struct TimelineChoice {
  std::filesystem::path timeline;  // "" for none
  std::filesystem::path paje;      // "" for none
  RankChoice ranks;
};

/// Throws UsageError for names and ranks that are none, and for a Paje trace of an engine that is
/// not SimGrid's; MissingError where this build lacks zlib or SimGrid for it.
TimelineChoice read_timeline(const Flags& flags, const Engine& engine);

/// What is to be shown, and what it is an answer to.
struct TimelineRun {
  const Scenario& scenario;
  const Plan& plan;
  const Engine& engine;
  const NoiseChoice& noise;
  const std::vector<InputFile>& inputs;
  const Json& seed;
};

/// Runs it once more, now observed (of several replicas the first), and writes what was asked for,
/// each file whole or not at all; nothing of a run that never ends. Returns what the user should be
/// told. Throws UsageError for ranks that are not there.
std::vector<std::string> write_timeline(const Flags& flags, const TimelineChoice& choice,
                                        const TimelineRun& run);

}  // namespace gradcast
