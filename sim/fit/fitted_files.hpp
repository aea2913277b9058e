// What a fit found, as files that every command reads: clusters and cost tables.
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

/// `<cluster>-fitted.csv` of every cluster of the fit's runs, and `cost-<...>-fitted.csv` of every
/// cost table that it corrected. Each says in its comments on what it was fitted, and in a value's
/// source its interval. Throws ValueError for what no file can say: a cluster's property that is of
/// some compressors only, and one that two runs of a cluster do not share.
std::vector<FittedFile> fitted_files(const Fit& fit, const std::string& fitted_on,
                                     DataFiles& files);

}  // namespace gradcast
