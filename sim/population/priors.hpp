// Beliefs about software stacks before any measured run is looked at.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/plan/scenario_quantity.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {

/// A spread: above 0% and at most 300%. Throws ValueError.
double parse_spread(std::string_view text);

/// Parses "gloo" or "mpi+gloo": parts of the names of stacks. Throws ValueError for an empty part,
/// which every name has.
std::vector<std::string> parse_stack_parts(std::string_view text);

/// True if a stack's name has any of the parts.
bool has_any_part(const std::string& stack, const std::vector<std::string>& parts);

/// A term that stacks may have.
struct TermPrior {
  const ScenarioQuantity* quantity = nullptr;
  std::string compressor;           // of which it is a cost; "": of all, or of none
  std::string implementation;       // of a compressor, beside which it is; "": any
  std::vector<std::string> stacks;  // that have the mechanism, by a part of their names; none: all
  double median = 0;                // of stacks, in the quantity's number
  double spread = 0;                // how sure that is: standard deviation of its logarithm
  double between = 0;               // scale of a half-normal: how far stacks lie apart
  std::string source;

  bool holds_for(const std::string& stack) const;
};

struct StackPriors {
  std::vector<TermPrior> terms;
  double discrepancy = 0;  // half-normal scales of what is left of a cluster, and of a run
  double scatter = 0;
};

/// Reads `traces/stack-priors.csv`: property,compressor,stacks,median,spread,between,source and
/// implementation. Throws DataError.
StackPriors load_stack_priors(const TextFile& file);

/// The priors of the data folder. Throws as DataFiles::read does, too.
StackPriors load_stack_priors(DataFiles& files);

}  // namespace gradcast
