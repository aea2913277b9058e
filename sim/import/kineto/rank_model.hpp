// The model and the iteration trace that one rank's file gives.
#pragma once
#include "sim/import/imported.hpp"
#include "sim/import/kineto/rank.hpp"
#include "sim/import/readers.hpp"

namespace gradcast::kineto {

/// Sets the model, the trace and, where the collectives do not say them, the buckets. Needs the
/// times. Without sizes of gradients there is no model. Throws DataError for --params that do not
/// fit.
void set_model(const Rank& rank, const ImportOptions& options, int element_bytes,
               Imported& imported);

/// The type of gradients and parameters of the model.
void set_element_type(int element_bytes, Imported& imported);

/// Sets the run's shards and the types of gathered and scattered elements, and notes facts that no
/// forecast takes. Needs the model.
void set_sharding(const Rank& rank, Imported& imported);

}  // namespace gradcast::kineto
