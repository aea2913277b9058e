#include "sim/tta/tta_asked.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/units.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/flags.hpp"
#include "sim/options/request_flags.hpp"

namespace gradcast {
namespace {

/// Nodes and density change how many iterations a training takes, so these two are left.
Quantity parse_over(const std::string& text) {
  const Quantity over = parse_quantity(text);
  if (over == Quantity::NicBandwidth || over == Quantity::KernelCost) return over;
  throw ValueError("'" + text +
                   "' would change how many iterations a training takes; nic-bandwidth and "
                   "kernel-cost do not");
}

/// True where the flag says in which file a compressor of the trainings is described. It reads it.
bool reads_compressors(const Flags& flags) {
  const std::vector<std::string> names =
      flags.value("compressor", [](const std::string& text) { return parse_words(text); });
  if (!std::all_of(names.begin(), names.end(), is_path)) return false;
  for (const std::string& name : names) (void)known_compressor(name);
  return true;
}

/// Rejects flags whose values come from the training files.
void require_left_to_trainings(const Flags& flags) {
  for (const char* flag : {"compressor", "density", "mode", "batch", "payload"})
    if (flags.typed(flag) && !(flag == std::string_view("compressor") && reads_compressors(flags)))
      throw UsageError("--" + std::string(flag) + " is what the trainings say: leave it out");
}

}  // namespace

void add_tta_flags(Flags& flags) {
  flags.add("training", "files that `gradcast train` wrote, as a list: JSON, or CSV");
  flags.add("target",
            "test accuracies in percent, as a list: 80,85; best is the best that dense reached, "
            "best-1 a point below it",
            "best-1");
  flags.add("against",
            "the dense run it is held against: best (the fastest: merged, ddp or layer, "
            "overlapped; the stack's own too) or same (by the request's own schedule)",
            to_text(Against::Best));
  flags.add("fitted",
            "the software of the second answer: a stack of `gradcast list` or a file; a fitted "
            "cluster, for its own and for those without a fit; or none",
            kUsualSoftware);
  flags.add("over",
            "also find where a compressor begins or stops to be faster over: nic-bandwidth or "
            "kernel-cost (times the costs')");
  flags.add("from", "where to begin looking (default: 1Gbps, a hundredth of the kernel cost)");
  flags.add("to", "where to end (default: 400Gbps, a hundredfold)");
  flags.add_switch("curve", "also the accuracy of every evaluation, over seconds");
  add_jobs_flag(flags);
}

TtaAsked read_tta(const Flags& flags) {
  TtaAsked asked;
  if (flags.text("training").empty())
    throw UsageError(
        "--training is missing: files that `gradcast train` wrote, like a.json,b.json");
  require_left_to_trainings(flags);
  asked.trainings =
      flags.value("training", [](const std::string& text) { return parse_words(text); });
  asked.targets = flags.value("target", parse_targets);
  asked.against = flags.value("against", parse_against);
  asked.software = flags.text("fitted");
  asked.curve = flags.given("curve");
  if (flags.given("over")) {
    asked.over = flags.value("over", parse_over);
    if (*asked.over == Quantity::NicBandwidth && flags.given("nic-bandwidth"))
      throw UsageError(
          "--nic-bandwidth is what is looked over: leave it out (--from and --to bound it)");
  }
  for (const char* end : {"from", "to"}) {
    if (!flags.given(end)) continue;
    if (!asked.over) throw UsageError("--" + std::string(end) + " bounds --over: leave it out");
    (end == std::string("from") ? asked.from : asked.to) =
        flags.value(end, [&](const std::string& text) { return parse_value(*asked.over, text); });
  }
  if (asked.over && asked.curve && flags.format() == Format::Csv)
    throw UsageError("a CSV file is one table: leave --curve or --over out, or use --format json");
  asked.request = read_request(flags);
  asked.jobs = chosen_jobs(flags);
  return asked;
}

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
