// A random scenario in words, to print when a property fails.
#pragma once
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast::scenarios {

inline std::string when(const Period& period) {
  return " at " + to_text(period.at) +
         (period.lasting ? " for " + to_text(*period.lasting) : " for ever");
}

inline std::string described(const Scenario& scenario) {
  std::ostringstream out;
  out << "compressor " << scenario.compressor->name << " mode '" << scenario.mode << "' collective "
      << (scenario.collective != nullptr ? scenario.collective->name : "auto") << " density "
      << scenario.density << " selection " << to_text(scenario.selection) << "\nfusion "
      << to_text(scenario.fusion) << " overlap " << scenario.overlap << " pipeline "
      << scenario.pipeline << " queue " << to_text(scenario.queue) << " streams "
      << scenario.network_streams << " encode " << to_text(scenario.encode_stream) << " slowdown "
      << scenario.encode_slowdown << " wire " << scenario.wire_bytes_per_element
      << " B compressing " << scenario.compressing << " in " << scenario.wire_messages
      << " count spread " << scenario.count_spread << " seed " << scenario.seed
      << "\nsharding " << to_text(scenario.sharding) << " group " << scenario.sharding.group
      << " prefetch " << scenario.prefetch() << " reshard "
      << scenario.sharding.reshard_after_forward << " owners " << scenario.owners_broadcast
      << " micro-steps " << scenario.accumulation << " synchronise "
      << to_text(scenario.synchronise) << "\ncluster";
  for (const ClusterProperty& property : properties_of(scenario.cluster))
    if (property.value != "none" && property.value != "0" && property.value != "0s")
      out << " " << property.name << "=" << property.value;
  const auto list = [&](const char* name, const std::vector<double>& values) {
    if (!values.empty()) out << "\n" << name;
    for (const double value : values) out << " " << number_to_text(value);
  };
  list("nic slowness", scenario.cluster.nic_slowness);
  list("rank speeds", scenario.rank_speeds);
  if (scenario.payload.count > 0) out << "\npayload " << scenario.payload.count << " B";
  for (std::size_t i = 0; i < scenario.model->tensors.size(); ++i)
    out << "\ntensor " << scenario.model->tensors[i].elements << " "
        << to_text(scenario.model->tensors[i].sum_type) << " unit '"
        << scenario.model->tensors[i].unit << "' frozen " << scenario.model->tensors[i].frozen
        << " forward " << number_to_text(scenario.trace->tensors[i].forward.count()) << " backward "
        << number_to_text(scenario.trace->tensors[i].backward.count());
  out << "\nupdate " << number_to_text(scenario.trace->update.count());
  if (!scenario.costs->rows.empty())
    out << "\ncosts of 1,000 elements for 1 worker: encode "
        << number_to_text(scenario.costs->rows[0].encode.count()) << " decode "
        << number_to_text(scenario.costs->rows[0].decode.count()) << ", of 1,000,000: encode "
        << number_to_text(scenario.costs->rows[2].encode.count()) << " decode "
        << number_to_text(scenario.costs->rows[2].decode.count()) << " selected "
        << number_to_text(scenario.costs->rows[2].selected);
  for (const RankEvent& event : scenario.world.ranks)
    out << "\nrank " << event.rank << when(event.period) << " at speed " << event.speed;
  for (const LinkEvent& event : scenario.world.links)
    out << "\nlink " << event.link << when(event.period) << " has " << event.share;
  for (const BackgroundFlow& flow : scenario.world.flows)
    out << "\nflow " << flow.from << " > " << flow.to << when(flow.period) << " at most "
        << number_to_text(flow.most.value) << " B/s";
  out << "\njobs " << scenario.world.concurrent_jobs << "\n";
  return out.str();
}

}  // namespace gradcast::scenarios

namespace gradcast {

/// RapidCheck prints scenarios by this.
inline void showValue(const Scenario& scenario, std::ostream& out) {
  out << "\n" << scenarios::described(scenario);
}

}  // namespace gradcast
