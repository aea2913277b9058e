// Comments of a fitted cluster's file say two things of the fit: the content of the cost table that
// belongs to it, so that an old one beside a new one is seen, and the library that chose the runs'
// collectives, without which the fitted numbers mean something else.
#pragma once
#include <string>
#include <vector>

#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// The comment line of a cluster's file, without "# ". `costs`: the name of the table's file.
std::string fitted_with_line(const std::string& costs, const std::string& sha256);

/// The comment lines of a library's rule, like "collective: nccl" and "nccl: 2.18", without "# ".
/// An empty version of NCCL has no line.
std::vector<std::string> fitted_collective_lines(const std::string& collective,
                                                 const std::string& nccl);

/// The values of these lines in a cluster's file; "" where there are none.
struct FittedCollective {
  std::string collective;
  std::string nccl;
};
FittedCollective fitted_collective(const TextFile& cluster);

/// Throws DataError where the cluster was fitted with another content of this very table. `sha256`
/// of the table; "" in a build that has none.
void require_same_fit(const TextFile& cluster, const TextFile& costs, const std::string& sha256);

}  // namespace gradcast
