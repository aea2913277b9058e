#include "sim/engine/playback/active_periods.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradcast {

void ActivePeriods::add(const Period& period) {
  if (sorted_) throw std::logic_error("a period is added after the first question");
  const std::size_t number = count_++;
  const bool never = period.lasting && period.at + *period.lasting <= period.at;
  if (never) return;
  changes_.push_back({period.at, number, true});
  if (period.lasting) changes_.push_back({period.at + *period.lasting, number, false});
}

const std::set<std::size_t>& ActivePeriods::at(Seconds now) {
  if (!sorted_) {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.when < b.when; });
    sorted_ = true;
  }
  for (; next_ < changes_.size() && changes_[next_].when <= now; ++next_)
    if (changes_[next_].begins)
      active_.insert(changes_[next_].number);
    else
      active_.erase(changes_[next_].number);
  return active_;
}

}  // namespace gradcast
