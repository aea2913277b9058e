// Two answers to one question: one by physics alone, and one with the software costs that were
// fitted to published runs. Both are given where they decide how money is spent.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "sim/forecast/request.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {

/// A request on a cluster that may have the software of another one.
struct Asked {
  Request request;  // with the stack, where one is meant
  /// The fitted cluster whose software costs, and whose unexplained error, replace those of the
  /// request's cluster; "": they stay. Files of before there were stacks have it so.
  std::string software{};
  /// The stack whose way to send shards holds without its costs: physics alone is the same run.
  std::string ways_of{};
};

struct Estimates {
  Asked physics;
  std::optional<Asked> fitted;
};

/// The software of the second answer where nobody says which: that of stacks in the middle of all
/// that were measured.
inline constexpr const char* kUsualSoftware = "population";

/// True for the name or path of a file that a fit made.
bool is_fitted(const std::string& name);

/// The request by the library that chose the collectives of the runs to which its cluster was
/// fitted, where the request names no collective, and by the version of NCCL where it names none.
/// Throws DataError for a wrong file.
Request with_fitted_collective(Request request, const DataFiles& files);

/// True for the name of a stack, and for a file that is named like one.
bool is_stack(const std::string& name, const DataFiles& files);

/// `physics` is the request itself, without its stack; if its cluster or costs are fitted ones, it
/// has the files from which these were made. `fitted` has the request's own stack, else the stack
/// `software`. If `software` is a fitted cluster, `fitted` has the cluster's own fit if there is
/// one ("10gbe-4x4-fitted" for "10gbe-4x4"), else the request's cluster with the software of
/// `software`; and likewise the cost table's own fit. Paths are recognized by the same "-fitted",
/// and the other file of the pair is looked for beside them. If a fitted cluster has no such file,
/// both answers have its software. "none": physics alone.
Estimates estimates_of(const Request& request, const std::string& software, const DataFiles& files);

/// The name of the software in the second answer: a stack's or a fitted cluster's.
std::string software_of(const Asked& fitted);

/// True if runs with the request's compressor were fitted. The fitted costs then include the time
/// that software takes besides the kernels. Without that time, a compressor would win by what is
/// not known about it. True for dense, which has no costs; false where there is no fitted answer.
bool costs_fitted(const Estimates& estimates, DataFiles& files);
/// The same of a stack, for a run that compresses. The stack was learned from runs with the
/// compressor by the run's implementation, or it knows what encoding takes beside the run's
/// kernels, or operators.
bool costs_fitted(const Stack& stack, const Scenario& scenario);

/// make_scenario, with that software. Throws as it does.
Scenario make_scenario(const Asked& asked, DataFiles& files);

}  // namespace gradcast
