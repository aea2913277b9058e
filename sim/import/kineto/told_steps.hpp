// The steps of a rank that the import tells of.
#pragma once
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/kineto/rank.hpp"

namespace gradcast::kineto {

/// Leaves out the used steps whose gradients are not those of most steps: gradients that only add
/// up (no_sync), evaluation. Throws DataError for a trace without gradients.
void drop_odd_steps(Rank& rank, ImportNotes& notes);

/// The steps whose collectives are told. Gradients that add up over several steps
/// (no_sync) are sent in the last of them only: the mean of all steps would be no step's.
std::vector<StepCollectives> sending_steps(const Rank& rank, ImportNotes& notes);

/// Counts the steps, and says which were used and why others were not.
void note_steps(const Rank& rank, Imported& imported);

}  // namespace gradcast::kineto
