// The measured runs from which stacks are estimated, in groups that share lab, cluster and
// software.
#pragma once
#include <string>
#include <vector>

#include "sim/fit/row_model.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// Runs of one lab on one family of clusters by one stack. Whole groups are left out.
struct SourceGroup {
  std::string name;
  std::string stack;  // without "stack-"
  std::vector<FitRow> rows;
  std::vector<std::vector<double>> situations;  // by row: situation_numbers(), in their order
};

std::vector<const SourceGroup*> all_but(const std::vector<SourceGroup>& groups,
                                        std::size_t left_out);

/// Reads `traces/stack-groups.csv` (measured,source,group) and the runs that it names, without
/// those that the model does not claim. Throws DataError, also where the runs of a group name
/// several stacks or none.
std::vector<SourceGroup> load_source_groups(DataFiles& files);

}  // namespace gradcast
