#include "sim/tta/tta_sentences.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/base/text.hpp"
#include "sim/breakeven/sentences.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/theory/bounds.hpp"

namespace gradcast {
namespace {

std::string digits_of(double value, int digits) {
  return number_to_text(rounded_to(digits, value));
}

std::string estimate_words(bool fitted) {
  return fitted ? "with fitted software" : "by physics alone";
}

std::string interval_words(const std::optional<RatioInterval>& interval) {
  if (!interval) return "";
  return " (" + digits_of(interval->low, 2) + " to " + digits_of(interval->high, 2) + ")";
}

std::string iterations_words(const IterationsNeeded& needed) {
  std::string text = digits_of(*needed.median, 6) + " iterations";
  if (needed.most > needed.least)
    text += " (" + std::to_string(needed.least) + " to " + std::to_string(needed.most) + ")";
  return text;
}

/// "after 319 iterations in 5 of 5 trainings", or that it did not.
std::string reached_words(const TimeToAccuracy& one) {
  const std::string target = number_to_text(one.target) + " %";
  const IterationsNeeded& needed = one.needed;
  if (!needed.median)
    return "did not reach " + target + " in " + std::to_string(*needed.not_within) + " iterations";
  std::string text = "reached " + target + " after " + iterations_words(needed) + " in " +
                     needed.counted() + (needed.seeds == 1 ? " training" : " trainings");
  if (needed.not_within)
    text += " (not within " + std::to_string(*needed.not_within) + " in the others)";
  return text;
}

std::string time_words(const TimeToAccuracy& one) {
  std::string text = one.at_least ? "at least " + duration_text(*one.at_least)
                                  : duration_text(one.time.value_or(Seconds{0}));
  if (one.interval)
    text +=
        " (" + duration_text(one.interval->low) + " to " + duration_text(one.interval->high) + ")";
  return text;
}

/// The verdict, where the two ways of asking differ and where nobody is sure.
std::string verdict_words(const AgainstDense& against, const IterationsNeeded& needed) {
  const auto words = [](Pays pays) { return "it " + to_text(pays); };
  std::string text;
  if (against.by_iteration == against.by_time)
    text = "By iteration time and by time to accuracy " + words(against.by_time) + ".";
  else
    text = "By iteration time " + words(against.by_iteration) + ", but by time to accuracy " +
           words(against.by_time) + ".";
  if (against.time && !against.time->interval && against.by_time == Pays::CannotBeTold)
    text += needed.complete() ? " One training each tells no spread: train with more seeds."
                              : " Not all trainings got there, and nothing is extrapolated.";
  if (against.needed_iteration_ratio && against.by_time != Pays::Yes)
    text += " It needs an iteration of less than " + digits_of(*against.needed_iteration_ratio, 2) +
            " of dense's to pay.";
  return text;
}

std::string root_words(const AccuracyBreakEven& found, Quantity over) {
  if (!found.pays_at_start)
    return "has no answer" + (found.problem.empty() ? "" : " (" + found.problem + ")");
  const std::string looked = between_in_words(over, found.range.from, found.range.to, 0, 3);
  if (found.roots.empty())
    return (*found.pays_at_start ? "it is faster " : "it is never faster ") + looked;
  std::string text;
  for (const AccuracyRoot& root : found.roots) {
    const std::string at = in_words(over, rounded_to(3, root.at), 0);
    text += text.empty() ? "it is faster " : ", and ";
    text += over == Quantity::KernelCost
                ? "with " + at + (root.pays_above ? " or slower ones" : " or faster ones")
                : (root.pays_above ? "above " : "up to ") + at;
    if (!root.interval) continue;
    const Stretch& range = *root.interval;
    text += " (somewhere " + between_in_words(over, range.low, range.high, 0, 2);
    text += range.low_open && range.high_open ? ", or beyond what was looked at)"
            : range.low_open                  ? ", or below)"
            : range.high_open                 ? ", or above)"
                                              : ")";
  }
  return text;
}

}  // namespace

std::string duration_text(Seconds time) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  const double seconds = time.count();
  if (seconds < 1) return digits_of(1000 * seconds, 3) + " ms";
  if (seconds < 2 * kMinute) return digits_of(seconds, 3) + " s";
  if (seconds < 2 * kHour) return digits_of(seconds / kMinute, 3) + " min";
  return digits_of(seconds / kHour, 3) + " h";
}

std::string dense_sentence(const TimeToAccuracy& one, const std::string& name) {
  return name + " " + reached_words(one) + ": " + time_words(one) + " " +
         estimate_words(one.fitted) + ".";
}

std::string compressor_sentence(const TimeToAccuracy& one, const std::string& name) {
  std::string text = dense_sentence(one, name);
  if (!one.against_dense) return text;
  const AgainstDense& against = *one.against_dense;
  const double iteration = against.iteration_time.value;
  text += " Its iteration takes " + digits_of(iteration, 2) + " of dense's" +
          interval_words(against.iteration_time.interval);
  if (!against.time) {
    text += "; dense did not get there in all trainings, so that no ratio is known.";
    return text;
  }
  const double iterations = against.iterations->value;
  const bool bound = !one.needed.complete();
  text += (iteration < 1) == (iterations < 1) ? ", and it needs " : ", but it needs ";
  const auto times = [](double value) {  // "1.5 times ", and "" for as much
    const std::string digits = digits_of(value, 2);
    return digits == "1" ? "" : digits + " times ";
  };
  text += (bound ? "at least " : "") + times(iterations) + "as many iterations" +
          interval_words(against.iterations->interval) + ": " + (bound ? "at least " : "") +
          times(against.time->value) + "dense's time to " + number_to_text(one.target) + " %" +
          interval_words(against.time->interval) + ". " + verdict_words(against, one.needed);
  return text;
}

std::string break_even_sentence(const AccuracyBreakEven& found, const std::string& name,
                                Quantity over) {
  const std::string what = found.target ? "time to " + number_to_text(*found.target) + " %"
                                        : std::string("iteration time");
  return name + " over " + to_text(over) + ", " + estimate_words(found.fitted) + ", by " + what +
         ": " + root_words(found, over) + ".";
}

std::string traffic_sentence(const TrainedSetup& setup, const TimedSetup& timed,
                             const std::string& name) {
  constexpr double kLittle = 0.1;  // a smaller deviation is not mentioned
  const auto share = setup.sent_share();
  if (!share || std::abs(*share - 1) <= kLittle) return "";
  std::string text =
      "In training " + name + " sent " + digits_of(*share, 2) + (*share < 1 ? " of" : " times") +
      " the elements" +
      (selects_by_parameter(setup.setup.compressor) ? "" : " that its density asks for") +
      ", and so does the forecast";
  if (timed.physics_of_k)
    text += ": its iteration takes " + duration_text(timed.physics.seconds()) +
            ", and with as many as that it would take " + duration_text(*timed.physics_of_k) +
            " (by physics alone)";
  return text + ".";
}

std::string theorem_sentence(const TrainedSetup& setup, const TimeToAccuracy& one,
                             const std::string& name) {
  const Compressor* compressor = find_compressor(setup.setup.compressor);
  const bool compared = one.against_dense && one.against_dense->iterations && one.needed.complete();
  if (compressor == nullptr || compressor->rule != Rule::Topk || !compared) return "";
  const double density = setup.setup.density;
  return "Theorem 2's order of iterations after which Top-k at the density " +
         number_to_text(density) + " converges as dense does is " +
         digits_of(iterations_order(density * (2 - density)), 6) + " (with 1 - k/d " +
         digits_of(iterations_order(density), 6) + "); in these trainings " + name + " took " +
         digits_of(*one.needed.median, 6) + " iterations to " + number_to_text(one.target) +
         " %, " + digits_of(one.against_dense->iterations->value, 2) + " times dense's.";
}

std::vector<std::string> doubt_sentences(const std::vector<TimedSetup>& timed) {
  std::set<std::string> evidence;
  std::set<std::string> unseen;
  for (const TimedSetup& setup : timed) {
    evidence.insert(setup.physics.evaluation.evidence);
    if (!setup.fitted) continue;
    for (const std::string& term : terms_in(setup.fitted->evaluation.outside_seen))
      unseen.insert(term);
  }
  evidence.erase("");
  evidence.erase("measured");
  std::vector<std::string> said;
  if (!evidence.empty())
    said.push_back("What these compressors cost is " +
                   join({evidence.begin(), evidence.end()}, " or ") + ", not measured here.");
  if (!unseen.empty())
    said.push_back("There is " + no_data_words(join({unseen.begin(), unseen.end()})) +
                   ": the fitted forecasts leave them out.");
  return said;
}

}  // namespace gradcast
