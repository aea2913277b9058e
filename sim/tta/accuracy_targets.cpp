#include "sim/tta/accuracy_targets.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kBest = "best";

[[noreturn]] void refuse_target(const std::string& word) {
  throw ValueError("'" + word +
                   "' is no target; write percent above 0 and up to 100 like 85, or best, or "
                   "best-1 for one point below the best");
}

AccuracyTarget parse_target(const std::string& word) {
  AccuracyTarget target{word.starts_with(kBest), 0};
  std::string number = word;
  if (target.below_best) {
    number.erase(0, kBest.size());
    if (number.empty()) return target;
    if (number.front() != '-') refuse_target(word);
    number.erase(0, 1);
  }
  try {
    target.value = parse_number(number);
  } catch (const ValueError&) {
    refuse_target(word);
  }
  if (target.value < 0 || target.value > 100 || (!target.below_best && target.value == 0))
    refuse_target(word);
  return target;
}

double best_of(const TrainedSetups& setups) {
  if (setups.dense() != nullptr) return setups.dense()->best_percent();
  double best = 0;
  for (const TrainedSetup& setup : setups.all) best = std::max(best, setup.best_percent());
  return best;
}

}  // namespace

std::vector<AccuracyTarget> parse_targets(std::string_view text) {
  std::vector<AccuracyTarget> targets;
  for (const std::string& word : parse_words(text)) targets.push_back(parse_target(word));
  return targets;
}

std::vector<double> percent_of(const std::vector<AccuracyTarget>& targets,
                               const TrainedSetups& setups) {
  std::vector<double> all;
  for (const AccuracyTarget& target : targets) {
    constexpr int kDigits = 12;  // 87.1 - 1 is 86.1, and not 86.09999999999999
    const double percent =
        target.below_best ? rounded_to(kDigits, best_of(setups) - target.value) : target.value;
    if (percent <= 0)
      throw ValueError("best-" + number_to_text(target.value) + " is not above 0: the best is " +
                       number_to_text(best_of(setups)) + " %");
    all.push_back(percent);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace gradcast
