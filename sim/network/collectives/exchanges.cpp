#include "sim/network/collectives/exchanges.hpp"

#include <bit>
#include <utility>

namespace gradcast::collectives {

Exchanges::Exchanges(int ranks)
    : participants_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
      folded_(ranks - participants_) {}

void Exchanges::fold_in(Received received, const Size& size) {
  if (folded_ == 0) return;
  Phase phase{.reducing_rounds = received == Received::Added ? 1 : 0};
  for (int i = 0; i < folded_; ++i) phase.messages.push_back({folded_into(i), rank_of(i), size(i)});
  phases_.push_back(std::move(phase));
}

void Exchanges::exchange(int distance, Received received, const Size& size) {
  // With ranks folded in, some are ready before their partner is there to receive, at first and,
  // where they have less to send, in every round: they wait for it, as a rendezvous of MPI's does.
  Phase phase{.reducing_rounds = received == Received::Added ? 1 : 0, .lockstep = folded_ > 0};
  phase.messages.reserve(static_cast<std::size_t>(participants_));
  for (int i = 0; i < participants_; ++i)
    phase.messages.push_back({rank_of(i), rank_of(i ^ distance), size(i)});
  phases_.push_back(std::move(phase));
}

void Exchanges::fold_out(const Size& size) {
  if (folded_ == 0) return;
  Phase phase;
  for (int i = 0; i < folded_; ++i) phase.messages.push_back({rank_of(i), folded_into(i), size(i)});
  phases_.push_back(std::move(phase));
}

}  // namespace gradcast::collectives
