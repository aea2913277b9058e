#include "sim/breakeven/finding.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/text.hpp"
#include "sim/forecast/verdict.hpp"

namespace gradcast {
namespace {

/// Remembers the answers.
class Duels {
 public:
  explicit Duels(const std::function<Duel(double)>& ask) : ask_(ask) {}

  const Duel& at(double value) {
    const auto known = seen_.find(value);
    return known != seen_.end() ? known->second : seen_.emplace(value, ask_(value)).first->second;
  }

  const std::map<double, Duel>& seen() const { return seen_; }

 private:
  const std::function<Duel(double)>& ask_;
  std::map<double, Duel> seen_;
};

BreakEven break_even_of(const Crossing& crossing, bool whole) {
  BreakEven root;
  root.pays_above = crossing.becomes;
  root.at = whole ? (crossing.becomes ? crossing.above : crossing.below)
                  : std::sqrt(crossing.below * crossing.above);
  return root;
}

/// "": the winner changes beside the root as it should.
std::string doubt_about(const BreakEven& root, const Crossing& crossing, bool whole,
                        const Advantage& advantage) {
  const double below = whole ? crossing.below : root.at * (1 - kCheckShare);
  const double above = whole ? crossing.above : root.at * (1 + kCheckShare);
  const auto before = advantage(below);
  const auto after = advantage(above);
  if (crossing.gap || !before || !after) return "values beside it have no answer";
  if ((*before > 0) == (*after > 0))
    return std::string("1 % beside it ") + (*before > 0 ? "it is faster" : "it is not faster") +
           " on both sides: other changes are as near, or the engine wavers";
  if ((*after > 0) != root.pays_above)
    return "1 % beside it the winner changes the other way round: other changes are as near";
  return "";
}

/// The range from the first to the last point of the grid that has an answer; the whole range if
/// none has.
LookedAt answered_part(const LookedAt& range, const Advantage& advantage) {
  std::vector<double> answered;
  for (const double value : grid_of(range))
    if (advantage(value)) answered.push_back(value);
  if (answered.empty()) return range;
  return {answered.front(), answered.back(), range.whole};
}

/// The stretch about a root in which the two cannot be told apart; none if a jump is larger than
/// any error.
std::optional<Stretch> unsure_about(const BreakEven& root, const Crossing& crossing,
                                    const LookedAt& range, const Advantage& unsure) {
  for (const double beside : {root.at, crossing.below, crossing.above})
    if (const auto stretch = stretch_about(beside, range, unsure)) return stretch;
  return std::nullopt;
}

/// The values that may be the root, which is one of them.
Stretch interval_of(const BreakEven& root, const std::optional<Stretch>& unsure) {
  Stretch interval = unsure.value_or(Stretch{root.at, root.at});
  interval.low = std::min(interval.low, root.at);
  interval.high = std::max(interval.high, root.at);
  return interval;
}

template <class Of>
std::string each_once(const std::map<double, Duel>& duels, Of of) {
  std::set<std::string> words;
  for (const auto& [value, duel] : duels)
    for (const RunForecast* forecast : {&duel.its, &duel.other})
      if (const std::string& word = of(*forecast); !word.empty()) words.insert(word);
  return join({words.begin(), words.end()}, "+");
}

/// The first and the last text that is not "".
std::string along(const std::map<double, Duel>& duels, std::string RunForecast::*text) {
  std::vector<std::string> said;
  for (const auto& [value, duel] : duels)
    for (const RunForecast* forecast : {&duel.its, &duel.other})
      if (!(forecast->*text).empty()) said.push_back(forecast->*text);
  if (said.empty()) return "";
  return said.front() == said.back() ? said.front() : said.front() + " ... " + said.back();
}

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (!word.empty() && std::find(list.begin(), list.end(), word) == list.end())
    list.push_back(word);
}

}  // namespace

std::vector<std::pair<double, double>> Finding::paying() const {
  std::vector<std::pair<double, double>> stretches;
  if (!pays_at_start) return stretches;
  if (*pays_at_start) stretches.emplace_back(range.from, range.to);
  for (const BreakEven& root : roots) {
    if (root.pays_above)
      stretches.emplace_back(root.at, range.to);
    else
      stretches.back().second = root.at;
  }
  return stretches;
}

bool Finding::pays_at(double value) const {
  const auto all = paying();
  return std::any_of(all.begin(), all.end(), [&](const auto& stretch) {
    return value >= stretch.first && value <= stretch.second;
  });
}

bool Finding::unsure_between(double low, double high) const {
  return std::any_of(unsure.begin(), unsure.end(), [&](const Stretch& stretch) {
    return low >= stretch.low * (1 - kNarrow) && high <= stretch.high * (1 + kNarrow);
  });
}

Finding find_break_evens(const LookedAt& range, const std::function<Duel(double)>& duel_at) {
  Duels duels(duel_at);
  const Advantage ahead = [&](double value) {
    const Duel& duel = duels.at(value);
    return advantage(duel.its, duel.other);
  };
  const Advantage unsure = [&](double value) {
    const Duel& duel = duels.at(value);
    return lack_of_difference(duel.its, duel.other);
  };
  const Course course = course_of(range, ahead);
  Finding finding;
  finding.pays_at_start = course.at_start;
  finding.unanswered = course.unanswered;
  for (const auto& [value, duel] : duels.seen())
    finding.fitted = finding.fitted || lack_of_difference(duel.its, duel.other).has_value();
  finding.range = answered_part(range, ahead);
  if (finding.fitted) finding.unsure = stretches_of(range, unsure);
  for (const Crossing& crossing : course.crossings) {
    BreakEven root = break_even_of(crossing, range.whole);
    root.unchecked = doubt_about(root, crossing, range.whole, ahead);
    if (finding.fitted) {
      const auto about = unsure_about(root, crossing, range, unsure);
      root.interval = interval_of(root, about);
      // A stretch narrower than the grid does not show on it.
      if (about && !finding.unsure_between(about->low, about->high))
        finding.unsure.push_back(*about);
    }
    finding.roots.push_back(root);
  }
  finding.forecasts = 2 * duels.seen().size();
  finding.engine = each_once(duels.seen(), [](const RunForecast& of) { return of.engine; });
  finding.evidence = each_once(duels.seen(), [](const RunForecast& of) { return of.evidence; });
  finding.outside = along(duels.seen(), &RunForecast::outside);
  finding.problem = along(duels.seen(), &RunForecast::problem);
  for (const auto& [value, duel] : duels.seen()) {
    add_once(finding.schedules, duel.its.schedule);
    add_once(finding.against_schedules, duel.other.schedule);
  }
  std::vector<std::string> unseen;
  std::vector<const Duel*> undecided;
  for (const auto& [value, duel] : duels.seen()) {
    for (const RunForecast* forecast : {&duel.its, &duel.other})
      for (const std::string& term : terms_in(forecast->outside_seen)) add_once(unseen, term);
    if (!duel.its.answered() || !duel.other.answered()) continue;
    if (!finding.first) finding.first = duel;
    finding.last = duel;
    if (finding.unsure_between(value, value)) undecided.push_back(&duel);
  }
  finding.outside_seen = join(unseen);
  if (!undecided.empty()) finding.undecided = *undecided[undecided.size() / 2];
  return finding;
}

}  // namespace gradcast
