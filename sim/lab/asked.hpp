// The options of `gradcast train`.
#pragma once
#include <string>
#include <vector>

#include "sim/lab/dataset.hpp"
#include "sim/lab/settings.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::lab {

struct TrainAsked {
  TrainingSettings settings;
  std::string dataset;       // a name, or "" with a folder
  std::string data;          // a folder of IDX files, or a text; "": where Debian puts `dataset`
  std::string checkpoint;    // a file to keep the state in; "": none
  std::string counts;        // a file for the elements sent; "": none
  std::vector<int> observe;  // iterations in which u is looked at, rising
  std::string observations;  // a file for what was seen; "": none
  bool check_bound = false;  // hold Theorem 1 against every u
  std::string record;        // a folder for u itself; "": none
};

Flags train_flags();

/// Throws UsageError.
TrainAsked read_train_asked(const Flags& flags);

/// Throws DataError, and MissingError where the package with the data is not installed.
Dataset read_dataset(const TrainAsked& asked, std::vector<InputFile>& inputs);

}  // namespace gradcast::lab
