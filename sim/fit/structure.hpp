// A structure says what a fit may change, and why. It is written down before the fit is made.
#pragma once
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/plan/scenario_quantity.hpp"

namespace gradcast {

/// The measured runs to which a parameter applies. Every column that is named must have one of its
/// values; if a column is named twice, both conditions must hold. Empty: all runs.
struct FitScope {
  struct Condition {
    std::string column;               // compressor, cluster, density, stack, ...
    std::vector<std::string> values;  // none: `each`, which for_runs replaces
  };
  std::vector<Condition> conditions;

  /// Throws std::logic_error if a condition is `each`.
  bool holds(const MeasuredRun& run) const;
};

/// "compressor=dgc+gaussian cluster=ddl-10gbe"; "cluster=each" stands for a scope of each cluster;
/// "" is all. Throws ValueError.
FitScope parse_fit_scope(std::string_view text);

struct FitParameter {
  const ScenarioQuantity* quantity = nullptr;
  std::string applies_to;  // as written
  FitScope scope;
  double start = 0;  // the source's value; it stays if the runs do not determine it
  double least = 0;  // physical bounds
  double most = 0;
  std::string source;  // source of start and bounds: never the runs that are fitted

  /// "encode_per_call (compressor=dgc)"
  std::string name() const;
};

/// The differences whose sum of squares a fit makes small: in seconds, or as shares of the measured
/// time.
enum class FitErrors { Absolute, Relative };

struct FitStructure {
  std::string name;
  FitErrors errors = FitErrors::Relative;
  std::string reason;
  std::vector<FitParameter> parameters;
  std::size_t line = 0;  // line of its file
};

/// The structures of a file. The first is the one that is claimed; the others were tried too.
struct FitStructures {
  std::string path;
  std::vector<FitStructure> structures;

  /// Throws ValueError, with a suggestion. "" is the first.
  const FitStructure& find(const std::string& name) const;
};

/// The structures for these runs: a parameter of `column=each` becomes one parameter for each value
/// that the runs have there, in their order.
FitStructures for_runs(FitStructures all, const std::vector<MeasuredRun>& runs);

/// Reads `traces/fit-<source>.csv`: structure,errors,parameter,applies_to,start,least,most,source;
/// `# <structure>: why` comment lines give the reasons. Throws DataError.
FitStructures load_fit_structures(const TextFile& file);

}  // namespace gradcast
