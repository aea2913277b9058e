// Gloo's broadcast, as PyTorch's ZeroRedundancyOptimizer calls it: many in a row.
#pragma once
#include "sim/network/collective.hpp"

namespace gradcast {

/// The root's whole buffer S goes down a binomial tree. A rank that has received sends to all its
/// children at once; the root has ceil(log2 n) of them. A sender is done when its own messages have
/// left, and begins the next broadcast while others are in this one. It is in no table of
/// collectives: only the plan of ZeRO-1 asks for it.
///
/// Small broadcasts in a row do not hide each other's latency. A message leaves only after its
/// receiver has asked for it (gloo/transport/tcp/pair.cc, NOTIFY_RECV_READY), and a rank asks for
/// the next broadcast's buffer once it has received this one and passed it on. The request and the
/// message take two latencies. ProcessGroupGloo has two threads, so two broadcasts are under way
/// and one ends in each latency. Here one broadcast is under way, whose request takes no time.
/// PyTorch 2.13 between network namespaces 5 ms apart took 5.6 ms a broadcast on 2 hosts and 6.9 ms
/// on 4 (96 of 1.2 KB, asynchronous), and 12.2 ms on 2 hosts where each waited for the one before.
///
/// One of many, from the same root on equal links: at least max(L, ceil(log2 n) S / B).
extern const Collective gloo_broadcast;

}  // namespace gradcast
