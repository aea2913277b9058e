// What a list of weights is taken for, and what is said of it.
#pragma once
#include <string>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/weights/weight.hpp"

namespace gradcast {

/// Throws DataError for GPTQ, AWQ and bitsandbytes checkpoints: their tensors are packed, and are
/// not those that are trained.
void refuse_quantised(const std::vector<Weight>& weights, const std::string& file);

/// Throws DataError for more elements than any network has: with them, counts of FLOPs overflow.
void require_sane_sum(const std::vector<Weight>& weights, const std::string& file);

/// Removes what is not trained; a note for each reason counts and names some.
void drop_untrained(std::vector<Weight>& weights, ImportNotes& notes);

/// A language model without lm_head.weight uses its embedding's table as its head: one gradient.
void note_tied_head(const std::vector<Weight>& weights, ImportNotes& notes);

/// The table that a language model's tokens pick rows of; nullptr where there is none.
const Weight* token_embedding(const std::vector<Weight>& weights);

/// Whether the model has a head of its own.
bool has_head(const std::vector<Weight>& weights);

}  // namespace gradcast
