// The question for each compressor over one quantity, and its answer.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/breakeven/asked.hpp"
#include "sim/breakeven/contestants.hpp"
#include "sim/breakeven/sentences.hpp"
#include "sim/engine/engine.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// One compressor's question, with its answers.
struct Answered {
  Told told;
  std::string model;
  std::vector<std::pair<std::string, Json>> setting;  // columns that say what was run
};

/// Searches for all compressors. `quiet`: how far it is is not shown. Throws UsageError where
/// nothing has an answer, Error (130) where it is interrupted.
std::vector<Answered> answer_questions(const BreakEvenAsked& asked,
                                       const std::vector<Contestant>& contestants,
                                       const Engine& engine, DataFiles& files, bool quiet);

}  // namespace gradcast
