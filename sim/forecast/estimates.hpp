// One question, two answers: physics alone, and with the software costs that were fitted to
// published runs. Where money would be spent both are given.
#pragma once
#include <optional>
#include <string>

#include "sim/forecast/request.hpp"

namespace gradcast {

/// A request, on a cluster whose software may be another's.
struct Asked {
  Request request;
  /// A fitted cluster whose software costs, and what its fit left unexplained, take the place of
  /// the request's cluster's; "": they stay.
  std::string software{};
};

struct Estimates {
  Asked physics;
  std::optional<Asked> fitted;
};

/// Whose software a cluster gets that no fit was made on: that of the paper's Table 2.
inline constexpr const char* kUsualSoftware = "10gbe-4x4-fitted";

/// Physics is the request; where its cluster or costs are fitted ones, what these were made from.
/// Fitted is the cluster's own fit where there is one ("10gbe-4x4-fitted" of "10gbe-4x4"), else the
/// request's cluster with the software of `software`; and likewise the cost table's own fit. Paths
/// are told by the same "-fitted", and their other half is looked for beside them; where a fitted
/// cluster's is not there, both answers have its software.
/// "none": physics alone.
Estimates estimates_of(const Request& request, const std::string& software, const DataFiles& files);

/// Whether runs with its compressor were fitted: the fitted costs then have what software takes
/// beside the kernels, and without it a compressor would win by what is not known of it. True of
/// dense, which has no costs; false where there is no fitted answer.
bool costs_fitted(const Estimates& estimates, DataFiles& files);

/// make_scenario, with that software. Throws as it does.
Scenario make_scenario(const Asked& asked, DataFiles& files);

}  // namespace gradcast
