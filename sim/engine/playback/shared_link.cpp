#include "sim/engine/playback/shared_link.hpp"

#include <algorithm>
#include <utility>

namespace gradcast {

void SharedLink::begin(Seconds alone, double busy_share, Action over) {
  bring_up_to_date();
  const auto place =
      std::upper_bound(works_.begin(), works_.end(), busy_share,
                       [](double its, const Work& work) { return its < work.share; });
  works_.insert(place, {alone, busy_share, std::move(over)});
  share_out();
  date_next();
}

void SharedLink::bring_up_to_date() {
  const Seconds passed = events_.now() - since_;
  since_ = events_.now();
  for (Work& work : works_) work.left -= work.rate * passed;
}

void SharedLink::share_out() {
  double free = 1;
  auto others = static_cast<double>(works_.size());
  for (Work& work : works_) {
    const double given = std::min(work.share, free / others);
    work.rate = work.share > given ? given / work.share : 1;
    free -= given;
    --others;
  }
}

void SharedLink::date_next() {
  ++turn_;
  if (works_.empty()) return;
  const auto first = std::min_element(
      works_.begin(), works_.end(),
      [](const Work& a, const Work& b) { return a.left / a.rate < b.left / b.rate; });
  const auto place = static_cast<std::size_t>(first - works_.begin());
  events_.in(std::max(Seconds{0}, first->left / first->rate), [this, place, turn = turn_] {
    if (turn != turn_) return;
    bring_up_to_date();
    Action over = std::move(works_[place].over);
    works_.erase(works_.begin() + static_cast<std::ptrdiff_t>(place));
    share_out();
    date_next();
    over();
  });
}

}  // namespace gradcast
