#include "sim/engine/playback/representatives.hpp"

#include <algorithm>
#include <numeric>

namespace gradcast {
namespace {

using Numbers = std::vector<std::size_t>;

Numbers all_of(const Phase& phase) {
  Numbers all(phase.messages.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Numbers of_first_node(const Phase& phase, const Topology& topology) {
  Numbers sent;
  for (std::size_t i = 0; i < phase.messages.size(); ++i)
    if (phase.messages[i].from < topology.gpus_per_node) sent.push_back(i);
  return sent;
}

/// In max-min sharing of equal messages, those on the busiest link have equal parts of it, whatever
/// the others do.
Numbers on_busiest_link(const Phase& phase, const Topology& topology) {
  std::vector<double> bytes(topology.links.size());
  std::vector<std::uint32_t> links;
  std::vector<std::size_t> ends;  // of each message's, in links
  for (const Message& message : phase.messages) {
    const std::size_t begin = links.size();
    topology.route(message.from, message.to, links);
    for (std::size_t i = begin; i < links.size(); ++i)
      bytes[links[i]] += static_cast<double>(message.bytes.count);
    ends.push_back(links.size());
  }
  std::size_t busiest = 0;
  const auto seconds = [&](std::size_t link) {
    const bool shared = topology.links[link].shared;
    return shared ? bytes[link] / topology.links[link].bandwidth.value : 0;
  };
  for (std::size_t link = 1; link < bytes.size(); ++link)
    if (seconds(link) > seconds(busiest)) busiest = link;
  if (seconds(busiest) == 0) return all_of(phase);  // nothing is shared
  Numbers on_it;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ends.size(); begin = ends[i++])
    if (std::find(links.begin() + static_cast<std::ptrdiff_t>(begin),
                  links.begin() + static_cast<std::ptrdiff_t>(ends[i]),
                  static_cast<std::uint32_t>(busiest)) !=
        links.begin() + static_cast<std::ptrdiff_t>(ends[i]))
      on_it.push_back(i);
  return on_it;
}

}  // namespace

std::vector<std::size_t> representatives(const Phase& phase, const Topology& topology,
                                         Company company) {
  if (company == Company::Folded) return of_first_node(phase, topology);
  if (company == Company::Anyone) return all_of(phase);
  if (phase.rotational && topology.nodes_alike) return of_first_node(phase, topology);
  if (company == Company::None) return on_busiest_link(phase, topology);
  return all_of(phase);
}

}  // namespace gradcast
