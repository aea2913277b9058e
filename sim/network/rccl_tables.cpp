#include "sim/network/rccl_tables.hpp"

#include <algorithm>
#include <bit>

namespace gradcast {
namespace {

/// Table 0: where RCCL recognises no node, and for one node of MI250X.
constexpr RcclTable kDefault{
    .tree = {.inside = {.8, 1.4, 2.5},
             .between = {11.8, 18.2, 20.8},
             .share_of_two = {.04, .22, .91},
             .share = {.04, .22, .95},
             .corrections = {{{.1, .2, .1, .1, .9, .3, .4, .1, .2, .4, .2, .1, .3, .3,
                               .2, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                              {.1, .3, 1,  .1, .5, 1,  .9, 1,  1,  1,  .3, .1, .4, .5,
                               .5, .4, .4, .3, .3, .2, .2, .2, .2, .2, .2, .2, .2},
                              {.2, 1, .1, .1, .7, .2, .4, .1, .1, .3, .4, .3, .6, .8,
                               1,  1, 1,  1,  .9, .8, .8, .8, .8, .8, .9, .9, .9}}}},
    .ring = {.inside = {.8, 2.2, 3.6},
             .between = {9.5, 19.8, 15.1},
             .share_of_two = {.04, .34, 1},
             .share = {.04, .34, 1},
             .corrections = {{{.1, .1, .1, .1, .1, .2, .4, .2, .3, .5, .3, .1, .5, .5,
                               .3, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                              {.1, .1, .1, .1, .1, .1, .1, .1, .1, .3, 1,  1,  1, 1,
                               1,  1,  .8, .7, .5, .4, .4, .3, .3, .3, .3, .3, .3},
                              {1,  .8, .2, 1,  1, .3, 1, .1, .1, .2, .2, .1, .5, 1,
                               .8, .8, 1,  .9, 1, 1,  1, 1,  1,  1,  1,  1,  1}}}},
};

/// Table 3: several nodes of MI250X with four or eight NICs each. It has no LL128.
constexpr RcclTable kMi250x{
    .tree = {.inside = {.8, 0, 2.5},
             .between = {12.5, 0, 22.4},
             .share_of_two = {.2, 0, 1.75},
             .share = {.2, 0, .96},
             .corrections = {{{.1, .1, .1, .1, .1, .1, 1,  1,  .2, 1,  .9, 1,  .6, .4,
                               .6, .4, .3, .3, .3, .3, .3, .2, .2, .2, .2, .2, .2},
                              {},
                              {1, 1, 1, 1, 1, 1, .1, .1, .1, .2, 1,  .8, 1, 1,
                               1, 1, 1, 1, 1, 1, 1,  .8, .7, .8, .9, .7, .7}}}},
    .ring = {.inside = {.8, 0, 3.6},
             .between = {9.5, 0, 19.8},
             .share_of_two = {.2, 0, 1},
             .share = {.2, 0, 1},
             .corrections = {{{.1, .1, .1, .1, .1, .3, .1, .2, .1, .4, .4, .2, .2, .3,
                               .7, .5, .4, .3, .3, .3, .3, .2, .2, .2, .2, .2, .2},
                              {},
                              {.1, .1, .1, .1, .1, .1, .1, .5, 1, .1, .3, .1, .1, .1,
                               .2, .2, .2, .3, .4, .7, 1,  1,  1, 1,  1,  1,  1}}}},
};

constexpr std::array<double, RcclTable::kSizes> kRingLLOfMi300x{.1, .1, .1, .1, .1, .1, .1, .1, .1,
                                                                .1, .1, 1,  .2, 1,  .4, .4, .1, .2,
                                                                .2, .1, .1, .1, .1, .1, .1, .1, .1};
constexpr std::array<double, RcclTable::kSizes> kTreeLLOfMi300x{.1, .1, .1, .1, .1, .1, 1,  1,  1,
                                                                1,  1,  .6, 1,  .9, 1,  1,  .1, .1,
                                                                .1, .1, .1, .1, .1, .1, .1, .1, .1};

/// Table 5: eight MI300X.
constexpr RcclTable kMi300x{
    .tree = {.inside = {.9, .9, 2.3},
             .between = {10.5, 10.5, 25},
             .share_of_two = {.06, .06, .11},
             .share = {.06, .06, .59},
             .corrections = {{kTreeLLOfMi300x,
                              kTreeLLOfMi300x,
                              {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                               .1, .7, 1,  1,  1,  1,  1,  .7, .7, .5, .6, .6, .6}}}},
    .ring = {.inside = {.8, .8, 2.1},
             .between = {9.5, 9.5, 320},
             .share_of_two = {.08, .08, 1},
             .share = {.08, .08, 1},
             .corrections = {{kRingLLOfMi300x,
                              kRingLLOfMi300x,
                              {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                               .1, .1, .1, .1, .1, .1, .1, .1, 1,  .8, 1,  1,  1}}}},
    .ranges = {{{.ll = {0, 1048576}, .ll128 = {1048576, 9437184}},
                {.ll = {0, 98304}, .ll128 = {98304, 5046272}},
                {.ll = {0, 655360}, .ll128 = {131072, 3211264}},
                {}}},
};

/// Table 6: eight MI350X or MI355X.
constexpr RcclTable kMi350x{
    .tree = {.inside = {.9, .9, 2.3},
             .between = {10.5, 10.5, 25},
             .share_of_two = {.06, .06, .11},
             .share = {.06, .06, .59},
             .corrections = {{kTreeLLOfMi300x,
                              {.1, .1, .1, .1, .1, .1, 1,  1,  1,  1,  1,  .6, 1, .9,
                               1,  1,  1,  1,  1,  2,  .1, .1, .1, .1, .1, .1, .1},
                              {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                               .1, .7, 1,  .1, .1, .1, .9, .9, .7, .8, .6, .6, .6}}}},
    .ring = {.inside = {.8, .8, 2.1},
             .between = {9.5, 9.5, 320},
             .share_of_two = {.08, .08, 1},
             .share = {.08, .08, 1},
             .corrections = {{kRingLLOfMi300x,
                              {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1,  .2, 1,
                               .4, .4, .1, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                              {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                               .1, .1, .1, .1, .1, .1, .1, .1, 1,  .8, .8, 1,  1}}}},
    .ranges = {{{.ll = {0, 131071}, .ll128 = {131071, 17660227}},
                {.ll = {0, 7}, .ll128 = {7, 8388608}},
                {.ll = {0, 131071}, .ll128 = {131071, 4194304}},
                {.ll = {0, 2048}, .ll128 = {2048, 16777216}}}},
};

/// The GPUs of a node that RCCL's source names; so many xGMI links lead from one to the others.
constexpr int kGpus = 8;
constexpr double kLinks = 7;
/// An all-reduce on more than two nodes goes in LL128 up to so many times the size.
constexpr double kMoreInLL128 = 3.8;
/// RCCL takes LL for so much faster in a broadcast inside a node from MI300 on.
constexpr double kBroadcastInLL = 1.65;

bool is_since_mi300(GpuGeneration gpu) { return gpu >= GpuGeneration::Cdna3; }

bool holds(const RcclTable::Range& range, std::int64_t bytes) {
  return bytes > range[0] && bytes <= range[1];
}

}  // namespace

const RcclTable& rccl_default_table() { return kDefault; }

std::optional<RcclNode> rccl_node(GpuGeneration gpu, int gpus_per_node, int nics) {
  if (gpus_per_node != kGpus) return {};
  if (gpu == GpuGeneration::Cdna2) {
    const BytesPerSecond links{kLinks * 36e9};
    if (nics == 0) return RcclNode{&kDefault, 4, links, false};
    if (nics == 4 || nics == 8) return RcclNode{&kMi250x, 2 * nics, links, false};
    return {};
  }
  const BytesPerSecond links{kLinks * 48e9};
  const bool mi350x = gpu == GpuGeneration::Cdna4;
  const RcclTable* table = mi350x ? &kMi350x : &kMi300x;
  if (nics == 0) return RcclNode{table, 28, links, false};
  if (nics == 4) return RcclNode{mi350x ? table : &kDefault, 64, links, false};
  if (nics == 8) return RcclNode{table, 64, links, true};
  if (nics == 16) return RcclNode{table, 16, links, false};
  return {};
}

double rccl_share(const NcclMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol,
                  Outcome outcome, Bytes bytes) {
  const auto p = static_cast<std::size_t>(protocol);
  const RcclTable::OfAlgorithm& of = machine.rccl->of(algorithm);
  double share = (machine.nodes <= 2 ? of.share_of_two : of.share)[p];
  if (algorithm == NcclAlgorithm::Tree || machine.nodes > 1) {
    const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(1, bytes.count / 64));
    const auto size = static_cast<std::size_t>(std::bit_width(units) - 1);
    share *= of.corrections[p][std::min(size, RcclTable::kSizes - 1)];
  }
  const bool inside = machine.nodes == 1 && is_since_mi300(machine.gpu);
  if (inside && outcome == Outcome::Broadcast && protocol == NcclProtocol::LL)
    share *= kBroadcastInLL;
  return share;
}

bool rccl_has_tree(const NcclMachine& machine, NcclProtocol protocol) {
  return !(protocol == NcclProtocol::Simple && machine.nodes == 1 && is_since_mi300(machine.gpu));
}

std::optional<NcclProtocol> rccl_protocol(const NcclMachine& machine, Outcome outcome,
                                          Bytes bytes) {
  if (machine.nodes == 1 || !machine.settings.protocols.empty()) return {};
  const RcclTable::Ranges& ranges = machine.rccl->ranges[static_cast<std::size_t>(outcome)];
  if (ranges.ll[1] == 0 && ranges.ll128[1] == 0) return {};
  const bool all_reduce = outcome == Outcome::AllReduced;
  const std::int64_t of_rank = all_reduce ? bytes.count : bytes.count / machine.ranks();
  RcclTable::Range ll128 = ranges.ll128;
  if (all_reduce && machine.nodes > 2)
    ll128[1] = static_cast<std::int64_t>(kMoreInLL128 * static_cast<double>(ll128[1]));
  if (machine.ll128 && holds(ll128, of_rank)) return NcclProtocol::LL128;
  return holds(ranges.ll, of_rank) ? NcclProtocol::LL : NcclProtocol::Simple;
}

}  // namespace gradcast
