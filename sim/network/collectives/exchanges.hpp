// Exchanges between ranks whose numbers differ in one bit, for any number of ranks.
#pragma once
#include <functional>
#include <vector>

#include "sim/network/collective.hpp"

namespace gradcast::collectives {

/// The number of ranks that take part is a power of two. If ranks are left over, rank 2i folds into
/// rank 2i + 1 for each of the first i: it sends its data before the exchanges, and gets the result
/// after them.
class Exchanges {
 public:
  using Size = std::function<Bytes(int participant)>;
  enum class Received { Added, Kept };

  explicit Exchanges(int ranks);

  int participants() const { return participants_; }
  /// Participants with a number below this have a rank folded into them.
  int folded() const { return folded_; }
  int rank_of(int participant) const {
    return participant < folded_ ? 2 * participant + 1 : participant + folded_;
  }
  /// For participants below folded() only.
  int folded_into(int participant) const { return 2 * participant; }

  /// `size` gives, in this order, the bytes that the rank folded into a participant sends, that a
  /// participant sends, and that the rank folded into a participant gets.
  void fold_in(Received received, const Size& size);
  void exchange(int distance, Received received, const Size& size);
  void fold_out(const Size& size);

  std::vector<Phase> take() { return std::move(phases_); }

 private:
  int participants_ = 1;
  int folded_ = 0;
  std::vector<Phase> phases_{};
};

}  // namespace gradcast::collectives
