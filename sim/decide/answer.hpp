// A decision as tables for people, and as rows for programs.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/answers/document.hpp"
#include "sim/decide/decision.hpp"

namespace gradcast {

/// "gpt2-xl on dgx-a100 (16 nodes of 8 GPUs): what binds, and what is each change worth?"
std::string question_words(const Decision& decision);

/// "compute binds: 94 % of the iteration. ..."
std::string bound_words(const Decision& decision);

/// A row for today's run, one for each option by its rank, then the refused.
std::vector<Json> decide_rows(const Decision& decision, const DecideAsked& asked);

/// `next`: commands that go deeper.
std::string decide_table(const Decision& decision, const DecideAsked& asked,
                         const std::vector<std::string>& next);

/// All three formats. Without a seed.
Answer decide_answer(const Decision& decision, const DecideAsked& asked,
                     const std::vector<std::string>& next);

}  // namespace gradcast
