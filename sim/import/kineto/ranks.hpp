// The files of several ranks of one run, brought together.
#pragma once
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/kineto/rank.hpp"

namespace gradcast::kineto {

/// Sorts ranks by their numbers. Throws DataError for a rank without one, for one twice, and for
/// runs of other sizes.
void sort_ranks(std::vector<Rank>& ranks);

/// Notes the number of ranks of the run, and what these ranks' files do not say of the others.
void note_world(const std::vector<Rank>& ranks, Imported& imported);

/// Tells moving data from waiting, by the collectives that all ranks have, on clocks that it
/// aligns. Throws DataError for ranks that have no step with the same collectives, and for
/// collectives that no offset of clocks brings together.
void share_collectives(std::vector<Rank>& ranks, Imported& imported);

}  // namespace gradcast::kineto
