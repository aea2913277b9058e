// Writes the results of a fit as clusters and cost tables, which every command reads.
#pragma once
#include <string>
#include <vector>

#include "sim/fit/fit.hpp"

namespace gradcast {

/// A file to be written, under the data folder's own folders: "platforms/x-fitted.csv".
struct FittedFile {
  std::string path;
  std::string content;
};

/// Adds the file of measured times that a cluster's file names by a relative path, if there is one,
/// at the same place beside the cluster's copy in platforms/; clusters that share it, once. Throws
/// ValueError where that place lies outside.
void add_times_beside(std::vector<FittedFile>& made, const TextFile& cluster, DataFiles& files);

/// `<cluster>-fitted.csv` of every cluster of the fit's runs, and `cost-<...>-fitted.csv` of every
/// cost table that it corrected. Values that were not estimated stay as in the cluster's file or
/// the table. The comments of each say on what it was fitted, and the source of a value gives its
/// interval. Throws ValueError for results that a file cannot express: a property of a cluster that
/// applies to some compressors only, or one in which two runs of a cluster differ.
std::vector<FittedFile> fitted_files(const Fit& fit, const std::string& fitted_on,
                                     DataFiles& files);

}  // namespace gradcast
