// NCCL's trees, the NVLink switch and CollNet, as loads on links.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/network/nccl.hpp"
#include "sim/network/nccl_walk.hpp"

namespace gradcast {
namespace {

using streams::append_walk;
using streams::for_each_rank;
using streams::local_rank;
using streams::tree_steps;

Bytes share(Bytes whole, double part) {
  return {static_cast<std::int64_t>(std::ceil(part * static_cast<double>(whole.count)))};
}

/// Adds up what goes to the same rank.
class LoadOfRank {
 public:
  LoadOfRank(Phase& phase, int from) : phase_(phase), from_(from), first_(phase.messages.size()) {}

  void add(int to, Bytes bytes) {
    if (to == from_) return;
    for (std::size_t i = first_; i < phase_.messages.size(); ++i)
      if (phase_.messages[i].to == to) {
        phase_.messages[i].bytes = phase_.messages[i].bytes + bytes;
        return;
      }
    phase_.messages.push_back({from_, to, bytes});
  }

 private:
  Phase& phase_;
  int from_;
  std::size_t first_;
};

/// The share of a node's tree traffic with nodes 2^level away, of `levels` levels.
double share_of_level(int level, int levels) {
  return level + 1 == levels ? std::ldexp(1, -level) : std::ldexp(1, -level - 1);
}

void add_between(LoadOfRank& load, const RankLayout& layout, int node, int i, Bytes payload) {
  const int nodes = layout.nodes();
  if (nodes == 1) return;
  const double each = (nodes == 2 ? .5 : 1.) / layout.gpus_of(node);  // in each direction
  const int levels = std::bit_width(static_cast<unsigned>(nodes - 1));
  for (int level = 0; level < levels; ++level) {
    const Bytes bytes = share(payload, each * share_of_level(level, levels));
    const int distance = 1 << level;
    load.add(local_rank(layout, (node + distance) % nodes, i), bytes);
    load.add(local_rank(layout, (node - distance + nodes) % nodes, i), bytes);
  }
}

/// The network's switches add up: a node sends its sum up once and receives that of all. The switch
/// of some nodes sends on what one node sends, as the last of them does here, to the next switch's
/// first.
void add_to_switches(LoadOfRank& load, const RankLayout& layout, int node, int i,
                     const CollectiveLoad& whole) {
  // A link time above 1 stands for what is lost inside nodes.
  load.add(local_rank(layout, (node + 1) % layout.nodes(), i),
           streams::alone(share(whole.payload, 1. / layout.gpus_of(node)), whole.protocol));
}

/// All ranks send at once. `add` adds what a rank sends.
template <class Add>
Phase flow_of(const RankLayout& layout, Add add) {
  Phase flow{.reducing_rounds = 1, .rotational = layout.even()};
  for_each_rank(layout, [&](int node, int i, int rank) {
    LoadOfRank own(flow, rank);
    add(own, node, i);
  });
  return flow;
}

/// A walk of empty messages, and after it the load. `inside` and `between` are the numbers of the
/// walk's steps inside a node and between nodes. The load's own step is the last one of the walk.
template <class Add>
std::vector<Phase> streamed(const RankLayout& layout, const CollectiveLoad& load, int inside,
                            int between, Add add) {
  std::vector<Phase> phases;
  if (layout.ranks() == 1) return phases;
  append_walk(phases, layout, true, between == 0 ? inside - 1 : inside);
  const Bytes piece{load.protocol.piece.count / layout.most_gpus()};
  append_walk(phases, layout, false, between - 1, streams::alone(piece, load.protocol));
  phases.push_back(flow_of(layout, add));
  return phases;
}

/// `add` adds what a rank sends to others of its node and to the network's switches. The only step
/// between nodes is all in the walk: what a GPU sends there ends before what it sends inside, so
/// that this step would hide behind those bytes.
template <class Add>
std::vector<Phase> through_switches(const RankLayout& layout, const CollectiveLoad& load,
                                    int inside, Add add) {
  if (layout.nodes() == 1) return streamed(layout, load, inside, 0, add);
  std::vector<Phase> phases;
  append_walk(phases, layout, true, inside);
  append_walk(phases, layout, false, 1);
  phases.push_back(flow_of(layout, add));
  phases.back().follows_walk = true;
  return phases;
}

/// The same for an all-reduce, whose sums of each node go to the network's switches.
template <class Add>
std::vector<Phase> summed_by_switches(const RankLayout& layout, const CollectiveLoad& load,
                                      int inside, Add add) {
  return through_switches(layout, load, inside, [&](LoadOfRank& own, int node, int i) {
    add(own, node, i);
    add_to_switches(own, layout, node, i, load);
  });
}

void add_chain(LoadOfRank& load, const RankLayout& layout, int node, int i, Bytes payload) {
  const int gpus = layout.gpus_of(node);
  const Bytes of_chain = share(payload, (gpus - 1.) / gpus);
  load.add(local_rank(layout, node, i + 1), of_chain);
  load.add(local_rank(layout, node, i + gpus - 1), of_chain);
}

void add_switch(LoadOfRank& load, const RankLayout& layout, int node, int i, Bytes payload) {
  load.add(local_rank(layout, node, i + 1), share(payload, 1 + 1. / layout.gpus_of(node)));
}

/// Steps along the chains inside nodes, there and back.
int chain_steps(const RankLayout& layout) { return 2 * (layout.most_gpus() - 1); }

std::vector<Phase> tree_phases(const RankLayout& layout, const CollectiveLoad& load) {
  return streamed(layout, load, chain_steps(layout), tree_steps(layout.nodes()),
                  [&](LoadOfRank& own, int node, int i) {
                    add_chain(own, layout, node, i, load.payload);
                    add_between(own, layout, node, i, load.payload);
                  });
}

std::vector<Phase> nvls_tree_phases(const RankLayout& layout, const CollectiveLoad& load) {
  return streamed(layout, load, 1, tree_steps(layout.nodes()),
                  [&](LoadOfRank& own, int node, int i) {
                    add_switch(own, layout, node, i, load.payload);
                    add_between(own, layout, node, i, load.payload);
                  });
}

std::vector<Phase> nvls_phases(const RankLayout& layout, const CollectiveLoad& load) {
  return summed_by_switches(layout, load, 1, [&](LoadOfRank& own, int node, int i) {
    add_switch(own, layout, node, i, load.payload);
  });
}

/// Each GPU hands the switch its part, and receives all of them, its own too.
std::vector<Phase> nvls_all_gather_phases(const RankLayout& layout, const CollectiveLoad& load) {
  if (layout.ranks() == 1) return {};
  Bytes all;
  for_each_rank(layout, [&](int, int, int rank) { all = all + load.contribution(rank); });
  std::vector<Phase> phases = streamed(layout, load, 1, 0, [&](LoadOfRank& own, int node, int i) {
    own.add(local_rank(layout, node, i + 1), all);
  });
  phases.back().reducing_rounds = 0;
  return phases;
}

/// The switch reads all parts of each GPU, its own too, and hands it a sum.
std::vector<Phase> nvls_reduce_scatter_phases(const RankLayout& layout,
                                              const CollectiveLoad& load) {
  return streamed(layout, load, 1, 0, [&](LoadOfRank& own, int node, int i) {
    own.add(local_rank(layout, node, i + 1), load.payload);
  });
}

std::vector<Phase> collnet_chain_phases(const RankLayout& layout, const CollectiveLoad& load) {
  return summed_by_switches(
      layout, load, chain_steps(layout),
      [&](LoadOfRank& own, int node, int i) { add_chain(own, layout, node, i, load.payload); });
}

/// Steps there and back between the GPUs of a node, each to each.
int direct_steps(const RankLayout& layout) { return layout.most_gpus() > 1 ? 2 : 0; }

/// The same bytes to each other GPU of the node.
void add_to_each(LoadOfRank& load, const RankLayout& layout, int node, int i, Bytes bytes) {
  for (int other = 1; other < layout.gpus_of(node); ++other)
    load.add(local_rank(layout, node, i + other), bytes);
}

std::vector<Phase> collnet_direct_phases(const RankLayout& layout, const CollectiveLoad& load) {
  return summed_by_switches(
      layout, load, direct_steps(layout), [&](LoadOfRank& own, int node, int i) {
        add_to_each(own, layout, node, i, share(load.payload, 2. / layout.gpus_of(node)));
      });
}

std::vector<Phase> collnet_all_gather_phases(const RankLayout& layout, const CollectiveLoad& load) {
  if (layout.ranks() == 1) return {};
  std::vector<Bytes> of_node(static_cast<std::size_t>(layout.nodes()));
  Bytes all;
  for_each_rank(layout, [&](int node, int, int rank) {
    Bytes& sum = of_node[static_cast<std::size_t>(node)];
    sum = sum + load.contribution(rank);
    all = all + load.contribution(rank);
  });
  std::vector<Phase> phases =
      through_switches(layout, load, direct_steps(layout), [&](LoadOfRank& own, int node, int i) {
        const double part = 1. / layout.gpus_of(node);
        add_to_each(own, layout, node, i, share(all, part));
        // Each GPU sends on a share of what the next node lacks.
        const int next = (node + 1) % layout.nodes();
        const Bytes lacks{all.count - of_node[static_cast<std::size_t>(next)].count};
        own.add(local_rank(layout, next, i), share(lacks, part));
      });
  phases.back().reducing_rounds = 0;
  phases.back().rotational = load.contributions.empty() && layout.even();
  return phases;
}

std::vector<Phase> collnet_reduce_scatter_phases(const RankLayout& layout,
                                                 const CollectiveLoad& load) {
  return through_switches(layout, load, direct_steps(layout),
                          [&](LoadOfRank& own, int node, int i) {
                            const double gpus = layout.gpus_of(node);
                            add_to_each(own, layout, node, i, share(load.payload, 1 / gpus));
                            own.add(local_rank(layout, (node + 1) % layout.nodes(), i),
                                    share(load.payload, (1 - gpus / layout.ranks()) / gpus));
                          });
}

}  // namespace

namespace streams {

void append_walk(std::vector<Phase>& phases, const RankLayout& layout, bool inside, int steps,
                 Bytes bytes) {
  if (steps <= 0) return;
  Phase walk{.rounds = steps, .rotational = layout.even()};
  for_each_rank(layout, [&](int node, int i, int rank) {
    const int to = inside ? local_rank(layout, node, i + 1)
                          : local_rank(layout, (node + 1) % layout.nodes(), i);
    if (to != rank) walk.messages.push_back({rank, to, bytes});
  });
  phases.push_back(std::move(walk));
}

constinit const Collective tree{
    .name = "tree",
    .summary = "trees over nodes, chains of GPUs in them, chunk after chunk",
    .source = "NCCL's Tree: src/graph/trees.cc, src/graph/connect.cc",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = tree_phases,
};
constinit const Collective nvls{
    .name = "nvls",
    .summary = "the NVLink switch adds up and multicasts",
    .source = "NCCL's NVLS: src/transport/nvls.cc",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = nvls_phases,
};
constinit const Collective nvls_all_gather{
    .name = "nvls-all-gather",
    .summary = "the NVLink switch multicasts each GPU's part",
    .source = "NCCL's NVLS: src/transport/nvls.cc, src/device/all_gather.h",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllGather,
    .phases = nvls_all_gather_phases,
};
constinit const Collective nvls_reduce_scatter{
    .name = "nvls-reduce-scatter",
    .summary = "the NVLink switch adds up each GPU's part",
    .source = "NCCL's NVLS: src/transport/nvls.cc, src/device/reduce_scatter.h",
    .outcome = Outcome::Scattered,
    .serves = Aggregation::AllReduce,
    .phases = nvls_reduce_scatter_phases,
};
constinit const Collective nvls_tree{
    .name = "nvls-tree",
    .summary = "the NVLink switch adds up in nodes, trees between them",
    .source = "NCCL's NVLSTree: src/transport/nvls.cc, src/graph/trees.cc",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = nvls_tree_phases,
};
constinit const Collective collnet_direct{
    .name = "collnet-direct",
    .summary = "GPUs of a node send each other their shares, and the network's switches add up",
    .source = "NCCL's CollNetDirect: src/transport/coll_net.cc, src/device/all_reduce.h",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = collnet_direct_phases,
};
constinit const Collective collnet_chain{
    .name = "collnet-chain",
    .summary = "chains of GPUs in nodes, and the network's switches add up",
    .source = "NCCL's CollNetChain: src/transport/coll_net.cc, src/device/all_reduce.h",
    .outcome = Outcome::AllReduced,
    .serves = Aggregation::AllReduce,
    .phases = collnet_chain_phases,
};
constinit const Collective collnet_all_gather{
    .name = "collnet-all-gather",
    .summary = "the network sends each GPU its counterparts' parts, which it passes on in its node",
    .source = "NCCL's CollNetDirect: src/transport/coll_net.cc, src/device/all_gather.h",
    .outcome = Outcome::AllGathered,
    .serves = Aggregation::AllGather,
    .phases = collnet_all_gather_phases,
};
constinit const Collective collnet_reduce_scatter{
    .name = "collnet-reduce-scatter",
    .summary = "each GPU adds up its node's parts, and the network's switches those of all nodes",
    .source = "NCCL's CollNetDirect: src/transport/coll_net.cc, src/device/reduce_scatter.h",
    .outcome = Outcome::Scattered,
    .serves = Aggregation::AllReduce,
    .phases = collnet_reduce_scatter_phases,
};

}  // namespace streams

}  // namespace gradcast
