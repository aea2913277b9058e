#include "sim/breakeven/sentences.hpp"

#include <algorithm>
#include <cmath>
#include <set>

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
constexpr int kDigitsOfIntervals = 2;  // more digits would say more than is known

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

  /// The compressor pays at x and at all smaller values. `interval`: that of x, in words, or "".
  std::string up_to(double x, const std::string& interval = "") const {
    if (told_.over != Quantity::KernelCost) return "up to " + with(value(x), interval);
    return with(
        (x < 1 ? "with kernels at least " : "with kernels up to ") + kernel_words(x, kDigits),
        interval);
  }

  std::string from(double x, const std::string& interval = "") const {
    if (told_.over != Quantity::KernelCost) return "from " + with(value(x), interval) + " on";
    return with(
        (x < 1 ? "with kernels at most " : "with kernels at least ") + kernel_words(x, kDigits),
        interval);
  }

  /// The two ends with the interval of each.
  std::string from_to(double low, const std::string& low_interval, double high,
                      const std::string& high_interval) const {
    if (low_interval.empty() && high_interval.empty()) return within(low, high);
    return "from " + with(value(low), low_interval) + " to " + with(value(high), high_interval);
  }

  std::string within(double low, double high) const {
    if (told_.over == Quantity::Nodes && low == high) return "on " + value(low);
    return (told_.over == Quantity::KernelCost ? "with kernels " : "") + between(low, high);
  }

  /// The whole range that was searched.
  std::string range(const LookedAt& looked) const {
    return "from " + value(looked.from) + " to " + value(looked.to);
  }

  std::string less() const { return pick("below", "on fewer", "with faster ones"); }
  std::string more() const { return pick("above", "on more", "with slower ones"); }
  std::string both() const { return pick("below and above", "on fewer or more", "with others"); }

  /// "somewhere between 29 and 51 Gb/s"; "" if there is only the value itself.
  std::string interval(const Stretch& of) const {
    const bool nodes = told_.over == Quantity::Nodes;
    const auto end = [&](double x) {
      return words_of(told_.over, x, nodes ? 0 : told_.gpus_per_node, kDigitsOfIntervals);
    };
    const bool low_open = of.low_open && !(nodes && of.low == 1);  // there are no fewer
    if (low_open && of.high_open) return "nowhere in the range can the two be told apart";
    if (low_open) return end(of.high) + (nodes ? " or fewer" : " or less");
    if (of.high_open) return end(of.low) + " or more";
    if (of.low == of.high) return "";
    if (nodes && of.high - of.low == 1) return number_to_text(of.low) + " or " + end(of.high);
    return "somewhere " + between_in_words(told_.over, of.low, of.high, 0, kDigitsOfIntervals);
  }

 private:
  /// "142 nodes (568 GPUs; somewhere between 69 and 215 nodes)"
  static std::string with(std::string value, const std::string& interval) {
    if (interval.empty()) return value;
    if (!value.ends_with(")")) return value + " (" + interval + ")";
    value.pop_back();
    return value + "; " + interval + ")";
  }

  std::string pick(const char* usual, const char* nodes, const char* kernels) const {
    return told_.over == Quantity::Nodes        ? nodes
           : told_.over == Quantity::KernelCost ? kernels
                                                : usual;
  }

  const Told& told_;
};

std::string and_joined(std::vector<std::string> words) {
  if (words.size() == 1) return words[0];
  const std::string last = words.back();
  words.pop_back();
  return join(words) + " and " + last;
}

/// The interval of the root at an end of a stretch; "" for none.
std::string interval_at(const Finding& finding, double end, bool pays_above, const Words& words) {
  for (const BreakEven& root : finding.roots)
    if (root.at == end && root.pays_above == pays_above && root.interval)
      return words.interval(*root.interval);
  return "";
}

/// The parts of the range in which it pays, and those in which it does not.
std::string where_it_pays(const Finding& finding, const Words& words) {
  std::vector<std::string> parts;
  const auto paying = finding.paying();
  bool at_beginning = false;
  bool at_end = false;
  for (std::size_t i = 0; i < paying.size(); ++i) {
    const auto& [low, high] = paying[i];
    const bool first = i == 0 && *finding.pays_at_start;
    const bool last = i + 1 == paying.size() && (finding.roots.back().pays_above);
    at_beginning = at_beginning || first;
    at_end = at_end || last;
    if (first)
      parts.push_back(words.up_to(high, interval_at(finding, high, false, words)));
    else if (last)
      parts.push_back(words.from(low, interval_at(finding, low, true, words)));
    else
      parts.push_back(words.from_to(low, interval_at(finding, low, true, words), high,
                                    interval_at(finding, high, false, words)));
  }
  const std::string where = and_joined(parts);
  if (parts.size() == 1) {
    const std::string rest = at_beginning ? words.more() : at_end ? words.less() : words.both();
    return where + "; " + rest + " it does not";
  }
  if (parts.size() == 2 && at_beginning && at_end) return where + "; in between it does not";
  return where + ", and nowhere else";
}

/// The certainty of an answer without a root; "" for physics alone, which has no error of its own.
std::string how_sure(const Finding& finding, const Words& words) {
  if (!finding.fitted) return "";
  if (finding.unsure.empty())
    return "; the difference is larger than the forecast's own error everywhere";
  const Stretch& first = finding.unsure.front();
  const Stretch& last = finding.unsure.back();
  if (finding.unsure.size() == 1 && first.low_open && first.high_open)
    return "; but nowhere by more than the forecast's own error";
  if (finding.unsure.size() == 1 && first.low_open)
    return "; but " + words.up_to(first.high) + " by less than the forecast's own error";
  if (finding.unsure.size() == 1 && first.high_open)
    return "; but " + words.from(first.low) + " by less than the forecast's own error";
  return "; but at times by less than the forecast's own error (" +
         words.between(first.low, last.high, kDigitsOfIntervals) + ")";
}

std::string agreement_of(const Told& told, const Words& words) {
  const std::vector<Dispute> disputes = disputes_between(told.physics, *told.fitted);
  if (disputes.empty()) {
    const bool roots = !told.physics.roots.empty() || !told.fitted->roots.empty();
    return roots && !told.physics.range.whole ? "Both say the same, to 1 %." : "Both say the same.";
  }
  std::vector<std::string> parts;
  for (const Dispute& dispute : disputes) {
    const bool all =
        dispute.low == told.physics.range.from && dispute.high == told.physics.range.to;
    const std::string where = all ? "throughout, " + words.range(told.physics.range)
                                  : words.within(dispute.low, dispute.high);
    const bool unsure = told.fitted->unsure_between(dispute.low, dispute.high);
    parts.push_back(where + ", where physics alone says that it " +
                    (dispute.physics_pays ? "pays" : "does not pay") +
                    " and the fitted forecast that it does" + (dispute.physics_pays ? " not" : "") +
                    (unsure ? ", by less than its own error" : ""));
  }
  return "The two disagree " + join(parts, "; and ") + ".";
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

std::string clause_of(const Told& told, const Finding& finding) {
  const Words words(told);
  const std::string of = " against " + told.against + " ";
  if (!finding.pays_at_start) return told.compressor + of + "has no answer: " + finding.problem;
  if (finding.roots.empty())
    return told.compressor +
           (*finding.pays_at_start ? " pays" + of + "throughout, " : " never pays" + of) +
           words.range(finding.range) + how_sure(finding, words);
  return told.compressor + " pays" + of + where_it_pays(finding, words);
}

std::vector<Dispute> disputes_between(const Finding& physics, const Finding& fitted) {
  std::vector<Dispute> disputes;
  if (!physics.pays_at_start || !fitted.pays_at_start) return disputes;
  const auto add = [&](double low, double high, double inside) {
    const bool pays = physics.pays_at(inside);
    if (pays == fitted.pays_at(inside)) return false;
    if (!disputes.empty() && disputes.back().physics_pays == pays &&
        disputes.back().high >= low - (physics.range.whole ? 1 : 0))
      disputes.back().high = high;
    else
      disputes.push_back({low, high, pays});
    return true;
  };
  if (physics.range.whole) {
    for (double count = physics.range.from; count <= physics.range.to; ++count)
      add(count, count, count);
    return disputes;
  }
  std::set<double> ends{physics.range.from, physics.range.to};
  for (const Finding* finding : {&physics, &fitted})
    for (const BreakEven& root : finding->roots) ends.insert(root.at);
  for (auto low = ends.begin(), high = std::next(low); high != ends.end(); ++low, ++high)
    add(*low, *high, std::sqrt(*low * *high));
  std::erase_if(disputes, [](const Dispute& dispute) {
    return dispute.high / dispute.low < 1 + kCheckShare;
  });
  return disputes;
}

std::vector<std::string> sentences_of(const Told& told) {
  const Words words(told);
  std::vector<std::string> sentences{told.setting +
                                     ", by physics alone: " + clause_of(told, told.physics) + "."};
  if (told.fitted) {
    sentences.push_back("With software fitted to published runs (" + told.software +
                        "): " + clause_of(told, *told.fitted) + ".");
    if (told.physics.pays_at_start && told.fitted->pays_at_start)
      sentences.push_back(agreement_of(told, words));
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
    sentences.push_back("? What this software takes under such conditions was never seen (" +
                        told.fitted->outside_seen +
                        "): it is left out of the fitted forecast, so that more than its own "
                        "error is unknown.");
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
