// Results of every collective on the ranks: its messages are followed, and say whose contributions
// each rank has in the end.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <utility>

#include "tests/sim/network/every_collective.hpp"

using namespace gradcast;
using namespace gradcast::contract;

namespace {

/// Contributions, by rank.
using Set = std::uint64_t;

Set everybody(const RankLayout& layout) {
  return layout.ranks() == 64 ? ~Set{0} : (Set{1} << layout.ranks()) - 1;
}

Set node_of(const RankLayout& layout, int rank) {
  Set set = 0;
  for (int other = 0; other < layout.ranks(); ++other)
    if (layout.node_of(other) == layout.node_of(rank)) set |= Set{1} << other;
  return set;
}

/// Runs a description for one byte of the buffer: which ranks' contributions its value on each rank
/// is the sum of. `carries(phase, message, round)` says which messages carry the byte. Nothing may
/// be added twice, and what replaces a value must be the whole sum of a rank's group.
template <class Carries, class Group>
std::vector<Set> summed(const RankLayout& layout, const std::vector<Phase>& phases, Carries carries,
                        Group group) {
  std::vector<Set> sums(static_cast<std::size_t>(layout.ranks()));
  for (std::size_t rank = 0; rank < sums.size(); ++rank) sums[rank] = Set{1} << rank;
  for (std::size_t p = 0; p < phases.size(); ++p)
    for (int round = 0; round < phases[p].rounds; ++round) {
      const std::vector<Set> sent = sums;
      for (std::size_t i = 0; i < phases[p].messages.size(); ++i) {
        if (!carries(p, i, round)) continue;
        const auto from = static_cast<std::size_t>(phases[p].messages[i].from);
        const auto to = static_cast<std::size_t>(phases[p].messages[i].to);
        const bool adds = round < phases[p].reducing_rounds;
        const bool right =
            adds ? (sums[to] & sent[from]) == 0 : sent[from] == group(static_cast<int>(from));
        if (!right) FAIL("phase " << p << ", round " << round << ": " << from << " to " << to);
        sums[to] = adds ? sums[to] | sent[from] : sent[from];
      }
    }
  return sums;
}

/// A buffer of one byte more has this byte more. It goes where messages have become larger.
template <class Describe, class Check, class Group>
void for_added_bytes(const RankLayout& layout, std::int64_t payload, Describe describe, Group group,
                     Check check) {
  std::vector<Phase> without = describe(equal_load(payload));
  // As many bytes as there are chunks, or more, so that all of them have been the one that grew.
  for (int byte = 0; byte < std::max(16, layout.ranks()); ++byte) {
    std::vector<Phase> with = describe(equal_load(++payload));
    REQUIRE(with.size() == without.size());
    const auto carries = [&](std::size_t phase, std::size_t message, int round) {
      return with[phase].bytes_of(message, round) != without[phase].bytes_of(message, round);
    };
    check(summed(layout, with, carries, group));
    without = std::move(with);
  }
}

bool sums_whole_buffers(const Collective& collective) {
  return collective.serves == Aggregation::AllReduce || collective.name == "gtopk";
}

}  // namespace

TEST_CASE("all-reduces leave the sum of all buffers on all ranks", "[collective]") {
  // Nothing, and what a tree or a segmented ring cuts into more than one chunk.
  for (const std::int64_t payload : {0, 1'050'000, 6'300'000})
    for (const RankLayout& layout : layouts())
      for (const Collective* collective : all_collectives()) {
        if (!sums_whole_buffers(*collective) || collective->outcome != Outcome::AllReduced)
          continue;
        const bool cuts = collective->name == "double-binary-tree" ||
                          collective->name == "nccl-tree" ||
                          collective->name == "segmented-ring-all-reduce";
        if (payload > 0 && !cuts) continue;
        if (!layout.even() && has_levels(*collective)) continue;
        CAPTURE(collective->name, layout.first_rank, payload);
        for_added_bytes(
            layout, payload,
            [&](const CollectiveLoad& load) { return collective->phases(layout, load); },
            [&](int) { return everybody(layout); },
            [&](const std::vector<Set>& sums) {
              CHECK(std::count(sums.begin(), sums.end(), everybody(layout)) == layout.ranks());
            });
      }
}

TEST_CASE("reduce-scatters leave each byte's sum on one rank, and every rank has its share",
          "[collective]") {
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_described()) {
      if (collective->outcome != Outcome::Scattered) continue;
      const bool inside_nodes = collective->name == "node-reduce-scatter";
      if (inside_nodes && !layout.even()) continue;
      CAPTURE(collective->name, layout.first_rank);
      const auto group = [&](int rank) {
        return inside_nodes ? node_of(layout, rank) : everybody(layout);
      };
      std::vector<int> owned(static_cast<std::size_t>(layout.ranks()));
      for_added_bytes(
          layout, 0, [&](const CollectiveLoad& load) { return collective->phases(layout, load); },
          group,
          [&](const std::vector<Set>& sums) {
            std::map<Set, int> owners;
            for (int rank = 0; rank < layout.ranks(); ++rank)
              if (sums[static_cast<std::size_t>(rank)] == group(rank)) {
                ++owners[group(rank)];
                ++owned[static_cast<std::size_t>(rank)];
              }
            CHECK(static_cast<int>(owners.size()) == (inside_nodes ? layout.nodes() : 1));
            for (const auto& [set, count] : owners) CHECK(count == 1);
          });
      CHECK(*std::min_element(owned.begin(), owned.end()) >= 1);
    }
}

TEST_CASE("what is scattered inside nodes before is gathered inside nodes after", "[collective]") {
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_collectives()) {
      if (collective->before == nullptr || !layout.even()) continue;
      REQUIRE(collective->after != nullptr);
      CAPTURE(collective->name, layout.first_rank);
      for_added_bytes(
          layout, 0,
          [&](const CollectiveLoad& load) {
            std::vector<Phase> phases = collective->before->phases(layout, load);
            for (Phase& phase : collective->after->phases(layout, load))
              phases.push_back(std::move(phase));
            return phases;
          },
          [&](int rank) { return node_of(layout, rank); },
          [&](const std::vector<Set>& sums) {
            for (int rank = 0; rank < layout.ranks(); ++rank)
              CHECK(sums[static_cast<std::size_t>(rank)] == node_of(layout, rank));
          });
    }
}

TEST_CASE("a sparse all-reduce merges every selection once", "[collective]") {
  for (const RankLayout& layout : layouts()) {
    CAPTURE(layout.first_rank);
    const std::vector<Phase> phases =
        find_collective("sparse-all-reduce")->phases(layout, equal_load(1000));
    const auto all = [](std::size_t, std::size_t, int) {
      return true;
    };  // a message is a whole set
    const std::vector<Set> sums =
        summed(layout, phases, all, [&](int) { return everybody(layout); });
    CHECK(std::count(sums.begin(), sums.end(), everybody(layout)) == layout.ranks());
  }
}

// If rank i contributes 2^i bytes, the size of a message tells whose contributions it carries. 32
// ranks at a time do, and the others have nothing. If contributions are shared out among the
// channels, each channel has 2^i bytes of rank i's.
TEST_CASE("all-gathers send what is there, once, and bring all of it to all", "[collective]") {
  for (const RankLayout& layout : layouts())
    for (const Collective* collective : all_collectives()) {
      const bool across_nodes = collective->name == "two-level-sparse";
      if (collective->outcome != Outcome::AllGathered && !across_nodes) continue;
      if (!layout.even() && has_levels(*collective)) continue;
      CAPTURE(collective->name, layout.first_rank);
      for (int window = 0; window < layout.ranks(); window += 32) {
        const std::vector<Phase> empty = collective->phases(layout, {});
        const int channels = empty.empty() ? 1 : empty.front().channels;
        const auto ranks = static_cast<std::size_t>(layout.ranks());
        CollectiveLoad load;
        std::vector<std::int64_t> held, due(ranks);
        for (int rank = 0; rank < layout.ranks(); ++rank) {
          held.push_back(rank / 32 == window / 32 ? std::int64_t{1} << (rank % 32) : 0);
          load.contributions.push_back({channels * held.back()});
          load.payload = std::max(load.payload, load.contributions.back());
        }
        for (int rank = 0; rank < layout.ranks(); ++rank)
          for (int other = 0; other < layout.ranks(); ++other)
            if (!across_nodes || rank % layout.gpus_of(0) == other % layout.gpus_of(0))
              due[static_cast<std::size_t>(rank)] += held[static_cast<std::size_t>(other)];

        // By channel and rank.
        std::vector<std::int64_t> of_all;
        for (int channel = 0; channel < channels; ++channel)
          of_all.insert(of_all.end(), held.begin(), held.end());
        for (const Phase& phase : collective->phases(layout, load))
          for (int round = 0; round < phase.rounds; ++round) {
            const std::vector<std::int64_t> sent = of_all;
            for (std::size_t i = 0; i < phase.messages.size(); ++i) {
              const Message& message = phase.messages[i];
              const std::size_t first = static_cast<std::size_t>(message.channel) * ranks;
              const std::int64_t carried = phase.bytes_of(i, round).count;
              std::int64_t& there = of_all[first + static_cast<std::size_t>(message.to)];
              const bool has =
                  (carried & ~sent[first + static_cast<std::size_t>(message.from)]) == 0;
              const bool is_new = (carried & there) == 0;
              if (!has || !is_new)
                FAIL("round " << round << ": " << message.from << " to " << message.to);
              there += carried;
            }
          }
        for (std::size_t i = 0; i < of_all.size(); ++i)
          if (of_all[i] != due[i % ranks]) FAIL("rank " << i % ranks << " lacks some");
      }
    }
}
