// A fit gives a cluster and a cost table that belong together. The cluster's file names the table's
// content, so that an old one beside a new one is seen.
#pragma once
#include <string>

#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// The comment line of a cluster's file, without "# ". `costs`: the name of the table's file.
std::string fitted_with_line(const std::string& costs, const std::string& sha256);

/// Throws DataError where the cluster was fitted with another content of this very table. `sha256`
/// of the table; "" in a build that has none.
void require_same_fit(const TextFile& cluster, const TextFile& costs, const std::string& sha256);

}  // namespace gradcast
