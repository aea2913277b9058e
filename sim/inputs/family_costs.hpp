// The costs of a compressor that nobody timed: those of its family.
#pragma once
#include "kernels/compressor.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {

/// The implementation that such rows name.
inline constexpr const char* kOfFamily = "family";

/// A table of the compressor alone, from the rows that `table` has of its family: at each point the
/// geometric mean of the family's times. Its factors are the family's spread. Throws DataError
/// where the table has no compressor of the family.
CostTable family_costs(const CostTable& table, const Compressor& compressor);

}  // namespace gradcast
