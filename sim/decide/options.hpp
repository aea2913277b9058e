// The options of somebody who trains on a cluster: each is today's run with one change.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/forecast/request.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

/// Kind of change. Network: faster or more links. Compressor: what DDP calls a communication hook.
enum class Change { Network, Nodes, Batch, Schedule, Sharding, Recompute, Compressor };

/// "network", "nodes", "batch", "schedule", "sharding", "recompute", "compressor".
std::string_view to_text(Change change);

struct Option {
  std::string name;  // "network x 2 (2 x 192Gbps)"
  Change change = Change::Network;
  /// Today's request with the change, before defaults are filled in.
  Request request{};
  /// Flags of `simulate` that make the change: {"nodes", "32"}.
  std::vector<std::pair<std::string, std::string>> flags{};
  std::string refused{};  // why it is no option here; "" where it is one
};

/// The compressors that are tried where nobody names any: one of each kind that frameworks offer.
std::vector<std::string> usual_compressors();

/// The request without compressing: what is said of a compressor alone is left out.
Request dense_request(Request request);

/// Gives an option another batch. A compute time that was asked for grows with it, but for the
/// update.
void set_batch(Option& option, int batch, const Scenario& now);

/// Gives an option that shards a stack whose software can: PyTorch's FSDP2 in place of its DDP.
/// Another stack that lacks the sharding refuses the option. Stacks that nobody named fit already.
void set_software(Option& option, DataFiles& files);

/// All options of a run. `asked` is the request before defaults, with what is said of compressors,
/// `today` the same with them, and `now` its scenario. Throws ValueError for an unknown compressor.
std::vector<Option> options_of(const Request& asked, const Request& today, const Scenario& now,
                               const std::vector<std::string>& compressors, DataFiles& files);

}  // namespace gradcast
