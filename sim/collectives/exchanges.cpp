#include "sim/collectives/exchanges.hpp"

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
  // Whoever has nothing folded in could send at once, but its partner is not there to receive yet.
  const bool first_after_fold = folded_ > 0 && phases_.size() == 1;
  Phase phase{.reducing_rounds = received == Received::Added ? 1 : 0, .lockstep = first_after_fold};
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
