#include "sim/breakeven/sentences.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

std::string rounded(int digits, double value) { return number_to_text(rounded_to(digits, value)); }

std::string rate_words(double bits_per_second, int digits) {
  const double rate = rounded_to(digits, bits_per_second);
  if (rate < 1e9) return number_to_text(rounded_to(digits, rate / 1e6)) + " Mb/s";
  return number_to_text(rounded_to(digits, rate / 1e9)) + " Gb/s";
}

std::string gpus_words(double nodes, int gpus_per_node) {
  const double gpus = nodes * gpus_per_node;
  return number_to_text(gpus) + (gpus == 1 ? " GPU" : " GPUs");
}

std::string node_words(double nodes, int gpus_per_node) {
  std::string words = number_to_text(nodes) + (nodes == 1 ? " node" : " nodes");
  if (gpus_per_node > 1) words += " (" + gpus_words(nodes, gpus_per_node) + ")";
  return words;
}

/// "2.4 times as slow", "3 times as fast", "as fast as the cost table's".
std::string kernel_words(double cost, int digits) {
  const double factor = rounded_to(digits, cost);
  if (factor == 1) return "as fast as the cost table's";
  if (factor > 1) return number_to_text(factor) + " times as slow";
  return rounded(digits, 1 / cost) + " times as fast";
}

std::string words_of(Quantity quantity, double value, int gpus_per_node, int digits) {
  switch (quantity) {
    case Quantity::NicBandwidth:
      return rate_words(value, digits);
    case Quantity::Nodes:
      return node_words(value, gpus_per_node);
    case Quantity::Density:
      return "density " + rounded(digits, value);
    case Quantity::KernelCost:
      break;
  }
  return "kernels " + kernel_words(value, digits);
}

constexpr int kDigits = 3;

/// The words of one question.
class Words {
 public:
  explicit Words(const Told& told) : told_(told) {}

  std::string value(double x, int digits = kDigits) const {
    return words_of(told_.over, x, told_.gpus_per_node, digits);
  }

  std::string between(double low, double high, int digits = kDigits) const {
    return between_in_words(told_.over, low, high, told_.gpus_per_node, digits);
  }

  /// At x and at all smaller values.
  std::string up_to(double x) const {
    if (told_.over != Quantity::KernelCost) return "up to " + value(x);
    return (x < 1 ? "with kernels at least " : "with kernels up to ") + kernel_words(x, kDigits);
  }

  std::string from(double x) const {
    if (told_.over != Quantity::KernelCost) return "from " + value(x) + " on";
    return (x < 1 ? "with kernels at most " : "with kernels at least ") + kernel_words(x, kDigits);
  }

  std::string within(double low, double high) const {
    if (told_.over == Quantity::Nodes && low == high) return "on " + value(low);
    return (told_.over == Quantity::KernelCost ? "with kernels " : "") + between(low, high);
  }

  /// A part of the range that was searched.
  std::string part(double low, double high, const LookedAt& looked) const {
    if (low <= looked.from && high >= looked.to) return "anywhere " + range(looked);
    if (low <= looked.from) return up_to(high);
    return high >= looked.to ? from(low) : within(low, high);
  }

  /// The whole range that was searched.
  std::string range(const LookedAt& looked) const {
    return "from " + value(looked.from) + " to " + value(looked.to);
  }

  std::string at(double x) const { return pick("at ", "on ", "with ") + value(x); }

  std::string less() const { return pick("below", "on fewer", "with faster ones"); }
  std::string more() const { return pick("above", "on more", "with slower ones"); }
  std::string both() const { return pick("below and above", "on fewer or more", "with others"); }

 private:
  std::string pick(const char* usual, const char* nodes, const char* kernels) const {
    return told_.over == Quantity::Nodes        ? nodes
           : told_.over == Quantity::KernelCost ? kernels
                                                : usual;
  }

  const Told& told_;
};

/// The parts of the range in which its forecast is the faster one, and those in which it is not.
std::string where_faster(const Finding& finding, const Words& words) {
  std::vector<std::string> parts;
  const auto paying = finding.paying();
  bool at_beginning = false;
  bool at_end = false;
  for (const auto& [low, high] : paying) {
    at_beginning = at_beginning || (parts.empty() && *finding.pays_at_start);
    at_end = at_end || (parts.size() + 1 == paying.size() && finding.roots.back().pays_above);
    // The outermost node at which it is faster may be the last of the range.
    const bool first = parts.empty() && *finding.pays_at_start;
    const bool last = parts.size() + 1 == paying.size() && finding.roots.back().pays_above;
    parts.push_back(first ? words.up_to(high) : last ? words.from(low) : words.within(low, high));
  }
  const std::string where = and_joined(parts);
  if (parts.size() == 1) {
    const std::string rest = at_beginning ? words.more() : at_end ? words.less() : words.both();
    return where + "; " + rest + " it is not";
  }
  if (parts.size() == 2 && at_beginning && at_end) return where + "; in between it is not";
  return where + ", and nowhere else";
}

/// "surely pays up to 1.9 Gb/s; cannot be told from 1.9 Gb/s on (within the forecast's error)"
std::string verdict_words(const Told& told, const Words& words) {
  const std::vector<VerdictStretch> all = verdicts_of(told);
  std::vector<std::string> parts;
  for (const Pays pays : {Pays::Yes, Pays::No, Pays::CannotBeTold}) {
    std::vector<std::string> where;
    for (const VerdictStretch& stretch : all)
      if (stretch.pays == pays)
        where.push_back(words.part(stretch.from, stretch.to, told_by(told).range));
    if (where.empty()) continue;
    parts.push_back(to_text(pays) + " " + and_joined(where));
    if (pays != Pays::CannotBeTold) continue;
    parts.back() += !told_by(told).fitted   ? " by physics alone, which has no error of its own"
                    : !told.guessed.empty() ? " (its costs are a guess for a CPU)"
                    : told.unfitted.empty() ? " (within the forecast's error)"
                                            : " (nobody measured what its software costs)";
  }
  return join(parts, "; ");
}

/// "at 1 Gb/s it is 2.31 times as fast (90 %: 1.87 to 2.9)", "at 400 Gb/s it is as fast"
std::string margin_words(const std::string& where, const Duel& duel) {
  const std::string times = rounded(kDigits, duel.other.iteration / duel.its.iteration);
  std::string words = where + " it is " + (times == "1" ? "" : times + " times ") + "as fast";
  if (const auto interval = speedup_of(duel.its, duel.other))
    words += " (90 %: " + rounded(kDigits, interval->low) + " to " +
             rounded(kDigits, interval->high) + ")";
  return words;
}

std::string capital(std::string words) {
  if (!words.empty() && words[0] >= 'a' && words[0] <= 'z')
    words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words;
}

/// The margins at the ends of the range.
std::string margins(const Finding& finding, const Words& words) {
  if (!finding.first || !finding.last) return "";
  return capital(margin_words(words.at(finding.range.from), *finding.first)) + "; " +
         margin_words(words.at(finding.range.to), *finding.last) + ".";
}

/// Why: which of the two forecasts is the shorter one, with software and by physics alone.
std::vector<std::string> reasons(const Told& told) {
  const std::string physics = clause_of(told, told.physics);
  if (!told.fitted) return {"By physics alone " + physics + "."};
  const std::string fitted = clause_of(told, *told.fitted);
  const std::string with = "By the forecast with software (" + told.software + ")";
  if (fitted == physics) return {with + " and by physics alone " + fitted + "."};
  return {with + " " + fitted + ".", "By physics alone " + physics + "."};
}

/// "ddp (overlapped) or layer (overlapped)"
std::string told_schedules(std::vector<std::string> schedules) {
  for (std::string& schedule : schedules)
    if (const std::size_t comma = schedule.find(", overlapped"); comma != std::string::npos)
      schedule = schedule.substr(0, comma) + " (overlapped)";
  return join(schedules, " or ");
}

/// "merged against layer, overlapped"; "" where both run alike.
std::string held_schedules(const Finding& finding) {
  if (finding.schedules == finding.against_schedules) return "";
  return told_schedules(finding.schedules) + " against " +
         told_schedules(finding.against_schedules);
}

/// The schedules that were compared.
std::string schedules_words(const Told& told) {
  const std::string physics = held_schedules(told.physics);
  const std::string fitted = told.fitted ? held_schedules(*told.fitted) : physics;
  if (physics.empty() && fitted.empty()) return "";
  std::string words = "Schedules held against each other: " + (physics.empty() ? fitted : physics);
  if (!physics.empty() && !fitted.empty() && fitted != physics) words += "; fitted " + fitted;
  if (told.could_choose) words += "; with --fusion best " + told.compressor + " chooses too";
  return words + ".";
}

}  // namespace

std::string in_words(Quantity quantity, double value, int gpus_per_node) {
  return words_of(quantity, value, gpus_per_node, kDigits);
}

std::string between_in_words(Quantity quantity, double low, double high, int gpus_per_node,
                             int digits) {
  switch (quantity) {
    case Quantity::NicBandwidth: {
      const std::string end = rate_words(high, digits);
      std::string begin = rate_words(low, digits);
      const std::string unit = end.substr(end.find(' '));
      if (begin.ends_with(unit)) begin.erase(begin.size() - unit.size());
      return "between " + begin + " and " + end;
    }
    case Quantity::Nodes:
      return "between " + number_to_text(low) + " and " + number_to_text(high) + " nodes" +
             (gpus_per_node > 1 ? " (" + number_to_text(low * gpus_per_node) + " and " +
                                      gpus_words(high, gpus_per_node) + ")"
                                : "");
    case Quantity::Density:
      return "between densities " + rounded(digits, low) + " and " + rounded(digits, high);
    case Quantity::KernelCost:
      break;
  }
  std::string begin = kernel_words(low, digits);
  std::string end = kernel_words(high, digits);
  if (high < 1) std::swap(begin, end);  // "1.7 and 2.3 times as fast"
  for (const std::string unit : {" times as slow", " times as fast"})
    if (begin.ends_with(unit) && end.ends_with(unit)) begin.erase(begin.size() - unit.size());
  return "between " + begin + " and " + end;
}

const Finding& told_by(const Told& told) { return told.fitted ? *told.fitted : told.physics; }

std::vector<VerdictStretch> verdicts_of(const Told& told) {
  std::vector<VerdictStretch> all =
      stretches_of(told_by(told), told.unfitted.empty() && told.guessed.empty());
  // Guessed costs of the opponent say nothing, neither for nor against the compressor.
  if (all.empty() || told.guessed.empty() || told.guessed.back() == told.compressor) return all;
  return {{all.front().from, all.back().to, Pays::CannotBeTold}};
}

std::string measure_of(const Told& told) {
  const std::vector<VerdictStretch> all = verdicts_of(told);
  if (std::none_of(all.begin(), all.end(), [](const VerdictStretch& stretch) {
        return stretch.pays == Pays::CannotBeTold;
      }))
    return "";
  if (!told.guessed.empty()) return measure_on_cpu(told.guessed.front());
  if (!told.unfitted.empty() && told.fitted)
    return "one run with " + join(told.unfitted, " and one with ") + " on this cluster";
  const Duel duel = told_by(told).undecided.value_or(Duel{});
  const ForecastDoubt its{duel.its.deviations, duel.its.spread};
  const ForecastDoubt others{duel.other.deviations, duel.other.spread};
  const std::string against = told.against.ends_with("dense run") ? "dense" : told.against;
  return measure_first(told.compressor, {duel.its.iteration, its}, {duel.other.iteration, others},
                       against);
}

std::string clause_of(const Told& told, const Finding& finding) {
  const Words words(told);
  if (!finding.pays_at_start) return "there is no answer: " + finding.problem;
  const std::string its = told.compressor + " is ";
  if (finding.roots.empty())
    return its + (*finding.pays_at_start ? "faster throughout" : "never faster");
  return its + "faster " + where_faster(finding, words);
}

std::vector<std::string> sentences_of(const Told& told) {
  const Words words(told);
  const std::string question = told.compressor + " against " + told.against + ", " + told.setting;
  std::vector<std::string> sentences;
  if (!told_by(told).pays_at_start) {
    sentences.push_back(question + ": " + clause_of(told, told_by(told)) + ".");
  } else {
    const std::string measure = measure_of(told);
    sentences.push_back(question + ": " + verdict_words(told, words) +
                        (measure.empty() ? "" : ": measure " + measure) + ".");
    if (std::string how_much = margins(told_by(told), words); !how_much.empty())
      sentences.push_back(std::move(how_much));
    for (std::string& why : reasons(told)) sentences.push_back(std::move(why));
  }
  for (const Finding* finding : {&told.physics, told.fitted ? &*told.fitted : nullptr})
    if (finding != nullptr)
      for (const BreakEven& root : finding->roots)
        if (!root.unchecked.empty())
          sentences.push_back("Do not trust " + words.value(root.at) + ": " + root.unchecked + ".");
  if (told.physics.pays_at_start && told.physics.unanswered > 0)
    sentences.push_back(std::to_string(told.physics.unanswered) +
                        " of the values looked at first have no answer: " + told.physics.problem +
                        ".");
  if (told.fitted && !told.fitted->outside_seen.empty())
    sentences.push_back("There is " + no_data_words(told.fitted->outside_seen) +
                        ": the forecast omits them, and its interval holds what they may add" +
                        (told.verbose ? " (" + told.fitted->outside_seen + ")." : "."));
  if (told.fitted && !told.unfitted.empty())
    sentences.push_back("No run with " + join(told.unfitted, " or ") +
                        " was fitted: the fitted forecast has the kernels, but nothing of what "
                        "software takes beside them.");
  if (const std::string schedules = schedules_words(told); !schedules.empty())
    sentences.push_back(schedules);
  const std::string& evidence = told.physics.evidence;
  if (!told.costs.empty())
    sentences.push_back("What these compressors cost is " + told.costs + ".");
  else if (!evidence.empty() && evidence != "measured")
    sentences.push_back("What these compressors cost is " + evidence + ", not measured here.");
  if (!told.physics.outside.empty())
    sentences.push_back("? Some of these costs lie outside the cost table (" +
                        told.physics.outside + ").");
  if (!told.accuracy.empty()) sentences.push_back(told.accuracy);
  return sentences;
}

}  // namespace gradcast
