#include "sim/engine/playback/drag.hpp"

#include <algorithm>
#include <utility>

namespace gradcast {
namespace {

constexpr Seconds kNothing{1e-15};  // less is rounding

}  // namespace

void Drag::computing(bool yes) {
  if (slowdown_ == 0 || yes == computes_) return;
  bring_up_to_date();
  computes_ = yes;
  date_next();
}

void Drag::begin(std::size_t step) {
  if (slowdown_ == 0) return;
  bring_up_to_date();
  begun_[step] = computed_;
}

void Drag::end(std::size_t step, Action over) {
  if (slowdown_ == 0) {
    over();
    return;
  }
  bring_up_to_date();
  const auto begun = begun_.find(step);
  const Seconds meanwhile = computed_ - begun->second;
  begun_.erase(begun);
  const Seconds left = meanwhile * (slowdown_ / (1 + slowdown_));
  if (left <= kNothing) {
    over();
    return;
  }
  rests_.push_back({left, std::move(over)});
  date_next();
}

void Drag::bring_up_to_date() {
  const Seconds passed = events_->now() - since_;
  since_ = events_->now();
  if (computes_) computed_ += passed;
  for (Rest& rest : rests_) rest.left -= passed * rate();
}

std::vector<Drag::Rest>::iterator Drag::first_over() {
  return std::min_element(rests_.begin(), rests_.end(),
                          [](const Rest& a, const Rest& b) { return a.left < b.left; });
}

void Drag::date_next() {
  ++turn_;
  if (rests_.empty()) return;
  events_->in(std::max(Seconds{0}, first_over()->left / rate()), [this, turn = turn_] {
    if (turn != turn_) return;
    bring_up_to_date();
    const auto done = first_over();
    Action over = std::move(done->over);
    rests_.erase(done);
    date_next();
    over();
  });
}

}  // namespace gradcast
