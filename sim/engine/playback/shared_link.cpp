#include "sim/engine/playback/shared_link.hpp"

#include <algorithm>
#include <utility>

namespace gradcast {

void SharedLink::begin(Seconds waiting, Seconds bytes, Action over) {
  events_.in(waiting, [this, bytes, over = std::move(over)]() mutable {
    bring_up_to_date();
    works_.push_back({bytes, std::move(over)});
    date_next();
  });
}

void SharedLink::bring_up_to_date() {
  const Seconds passed = events_.now() - since_;
  since_ = events_.now();
  for (Work& work : works_) work.left -= passed / static_cast<double>(works_.size());
}

void SharedLink::date_next() {
  ++turn_;
  if (works_.empty()) return;
  const auto first = std::min_element(works_.begin(), works_.end(),
                                      [](const Work& a, const Work& b) { return a.left < b.left; });
  const auto place = first - works_.begin();
  const Seconds alone = std::max(Seconds{0}, first->left);
  events_.in(alone * static_cast<double>(works_.size()), [this, place, turn = turn_] {
    if (turn != turn_) return;
    bring_up_to_date();
    Action over = std::move(works_[static_cast<std::size_t>(place)].over);
    works_.erase(works_.begin() + place);
    date_next();
    over();
  });
}

}  // namespace gradcast
