// NCCL's way of carrying a collective on a cluster: NCCL's own numbers make the choice, and the
// cluster's links make the time.
#pragma once
#include "sim/inputs/cluster.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/nccl_rule.hpp"

namespace gradcast {

/// NCCL's choice for one collective.
struct NcclWay {
  const Collective* collective = nullptr;
  Protocol protocol{};
  NcclMachine machine{};  // as NCCL sees it
  NcclEstimate estimate{};
};

/// The choice among the ranks that `layout` has on their nodes. `bytes`: the buffer of an
/// all-reduce or broadcast, what a rank sends of a send-receive; else all ranks' parts together.
NcclWay nccl_way(const Cluster& cluster, const NcclVersion& version, const RankLayout& layout,
                 Outcome outcome, Bytes bytes);

/// NCCL's algorithms beside rings: most stream their chunks, as loads on links and walks of single
/// ones. They are in no table of collectives: NCCL alone chooses them, and of a stream the messages
/// say how much passes, and not which data.
namespace streams {

/// Trees over the nodes and chains inside them, chunk after chunk. The walk: a chunk goes up and
/// down 2 (g - 1) links inside a node, where it takes next to no time, and 2 floor(log2 N) between
/// nodes. The load: each GPU passes
/// (g - 1)/g of the buffer S in both directions of its chain, and a node sends 2 S, one S where
/// there are two nodes: in one of the two trees it passes half of S up and to two children, in the
/// other half of S up. The children of level k stand 2^k nodes away.
extern const Collective tree;
/// The NVLink switch adds up and multicasts: a GPU sends S + S/g. On several nodes the network's
/// switches add up as well: each GPU sends its share there once, S/g, and receives as much, in one
/// step.
extern const Collective nvls;
/// The switch multicasts parts, or adds them up, on one node: S passes each GPU's links.
extern const Collective nvls_all_gather;
extern const Collective nvls_reduce_scatter;
/// The switch inside nodes, a tree between them for the share of each GPU.
extern const Collective nvls_tree;
/// CollNet: the network's switches add up. Inside nodes each GPU sends its share of S to each other
/// one, there and back, or to its neighbours in a chain: 2 (g - 1)/g of S in all.
extern const Collective collnet_direct;
extern const Collective collnet_chain;
/// A GPU gets the parts of its counterparts in other nodes through the network, and passes all that
/// it then has to each other GPU of its node. A reduce-scatter is the reverse.
extern const Collective collnet_all_gather;
extern const Collective collnet_reduce_scatter;
/// The root's buffer S along a ring in each channel. The walk: a piece of a channel's buffer goes
/// from rank to rank. The load: every link of the ring passes its channel's share of S.
extern const Collective broadcast;
/// The same of many broadcasts in a row, whose pieces follow one another: the load alone.
extern const Collective broadcast_in_row;
/// Binomial trees of all ranks at once, of nodes of one GPU.
extern const Collective pat_all_gather;
extern const Collective pat_reduce_scatter;
/// Every rank sends its buffer to the next and receives from the one before: a node through one
/// NIC.
extern const Collective send_receive;

}  // namespace streams
}  // namespace gradcast
