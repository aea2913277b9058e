#include "sim/network/collective.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradcast {
namespace collectives {
#define COLLECTIVE(name) extern const Collective name;
#include "sim/network/collectives.def"
#undef COLLECTIVE
}  // namespace collectives

int RankLayout::most_gpus() const {
  int most = 1;
  for (int node = 0; node < nodes(); ++node) most = std::max(most, gpus_of(node));
  return most;
}

int RankLayout::node_of(int rank) const {
  const auto after = std::upper_bound(first_rank.begin(), first_rank.end(), rank);
  return static_cast<int>(after - first_rank.begin()) - 1;
}

bool RankLayout::even() const {
  for (int node = 1; node < nodes(); ++node)
    if (gpus_of(node) != gpus_of(0)) return false;
  return true;
}

RankLayout even_layout(int nodes, int gpus_per_node) {
  RankLayout layout;
  layout.first_rank.reserve(static_cast<std::size_t>(nodes) + 1);
  for (int node = 0; node <= nodes; ++node) layout.first_rank.push_back(node * gpus_per_node);
  return layout;
}

std::span<const Collective* const> all_collectives() {
  static constexpr const Collective* kAll[] = {
#define COLLECTIVE(name) &collectives::name,
#include "sim/network/collectives.def"
#undef COLLECTIVE
  };
  return kAll;
}

const Collective* find_collective(std::string_view name) {
  for (const Collective* collective : all_collectives())
    if (collective->name == name) return collective;
  return nullptr;
}

const Collective& default_collective(Aggregation aggregation) {
  for (const Collective* collective : all_collectives())
    if (collective->serves == aggregation) return *collective;
  throw std::logic_error("collectives.def has nothing for an aggregation");
}

bool carries(const Collective& collective, const Compressor& compressor) {
  const bool of_pairs = collective.sparse || collective.before != nullptr;
  if (of_pairs && compressor.family != Family::Sparsifier) return false;
  if (collective.sparse && compressor.payload != nullptr) return false;  // no pairs: a formula
  return collective.serves == compressor.aggregation ||
         (collective.serves == Aggregation::AllReduce && compressor.adds_up_on_request());
}

Bytes chunk(Bytes whole, int i, int n) { return chunks(whole, i, i + 1, n); }

Bytes chunks(Bytes whole, int first, int last, int n) {
  const std::int64_t each = whole.count / n;
  const std::int64_t over = whole.count % n;  // the first `over` chunks take one byte more
  return {each * (last - first) + std::min<std::int64_t>(last, over) -
          std::min<std::int64_t>(first, over)};
}

std::int64_t messages_in(const std::vector<Phase>& phases) {
  std::int64_t all = 0;
  for (const Phase& phase : phases)
    all += phase.rounds * static_cast<std::int64_t>(phase.messages.size());
  return all;
}

Bytes bytes_in(const std::vector<Phase>& phases) {
  Bytes all{};
  for (const Phase& phase : phases) {
    if (phase.sum) {
      all = all + *phase.sum;
    } else if (!phase.size) {
      for (const Message& message : phase.messages) all = all + message.bytes * phase.rounds;
    } else {
      for (int round = 0; round < phase.rounds; ++round)
        for (std::size_t i = 0; i < phase.messages.size(); ++i) all = all + phase.size(i, round);
    }
  }
  return all;
}

}  // namespace gradcast
