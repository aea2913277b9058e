// The gain of a faster network or more nodes without compression, by model.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/forecast/verdict.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/task.hpp"

namespace gradcast {

/// One dense run held against the smallest of its axis: the slowest network, or the fewest nodes.
struct Upgrade {
  std::string model;          // with what else the sweep varies: "resnet-50, batch 64"
  bool network = true;        // else: nodes
  std::string from;           // "10Gbps", or "4" nodes
  std::string to;             // "25Gbps", or "16"
  int workers = 0;            // GPUs after the upgrade
  std::string nic_bandwidth;  // after the upgrade
  double gain = 0;            // samples a second over those before
  std::optional<RatioInterval> interval{};  // 90 %, of the gain
  /// Only networks have one. More nodes always give more samples, at more cost.
  std::optional<Verdict> verdict{};
};

/// Networks are compared on the most nodes, nodes by the slowest network. Uses the forecast with
/// software if there is one. `rows` are those of sweep_rows().
std::vector<Upgrade> upgrades_of(const SweepTasks& tasks, const std::vector<Json>& rows,
                                 const Evaluations& done);

Json upgrades_json(const std::vector<Upgrade>& upgrades);

/// A sentence for the next faster network, one for the fastest, and one for the most nodes; each
/// says the gain of every model.
std::vector<std::string> upgrade_sentences(const std::vector<Upgrade>& upgrades);

}  // namespace gradcast
