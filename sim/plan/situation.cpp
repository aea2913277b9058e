#include "sim/plan/situation.hpp"

#include <algorithm>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

double number_at_least_0(std::string_view text) {
  const double number = parse_number(text);
  if (number >= 0) return number;
  throw ValueError("'" + std::string(text) + "' is below 0");
}

/// The largest of a number of buckets.
template <class Number>
double largest(const Plan& plan, Number number) {
  double most = 0;
  for (const PlannedBucket& bucket : plan.buckets) most = std::max(most, number(bucket));
  return most;
}

double parse_bits(std::string_view text) { return parse_rate(text).value; }
std::string print_bits(double rate) { return to_text(BytesPerSecond{rate}); }

/// More digits than anybody measured would hide the ones that matter.
std::string print_rounded(double value) { return number_to_text(rounded_to(4, value)); }

constexpr SituationNumber kNumbers[] = {
    {"calls", "buckets of an iteration, or of a micro-step where each synchronises",
     [](const Scenario& s, const Plan& plan) {
       return static_cast<double>(plan.buckets.size()) /
              (s.synchronises_every() ? s.accumulation : 1);
     },
     number_at_least_0, number_to_text},
    {"elements", "of the largest bucket",
     [](const Scenario&, const Plan& plan) {
       return largest(plan, [](const auto& b) { return static_cast<double>(b.elements); });
     },
     number_at_least_0, number_to_text},
    {"bytes", "that a rank sends of the largest bucket",
     [](const Scenario&, const Plan& plan) {
       return largest(plan, [](const auto& b) { return static_cast<double>(b.payload.count); });
     },
     number_at_least_0, number_to_text},
    {"ranks", "GPUs of the job",
     [](const Scenario& s, const Plan&) { return static_cast<double>(s.cluster.ranks()); },
     number_at_least_0, number_to_text},
    {"nodes", "machines of the job",
     [](const Scenario& s, const Plan&) { return static_cast<double>(s.cluster.nodes); },
     number_at_least_0, number_to_text},
    {"density", "share of the elements that is sent",
     [](const Scenario& s, const Plan&) { return s.sparse() ? s.density : 1; }, number_at_least_0,
     number_to_text},
    {"compute", "seconds of one GPU alone",
     [](const Scenario& s, const Plan&) {
       return s.payload.count > 0 ? 0 : s.compute().count() / s.cluster.compute_speed;
     },
     number_at_least_0, print_rounded},
    {"shards", "ranks that share a copy of the model",
     [](const Scenario& s, const Plan&) { return static_cast<double>(s.shards()); },
     number_at_least_0, number_to_text},
    {"nic", "bandwidth of a NIC",
     [](const Scenario& s, const Plan&) { return s.cluster.nic.bandwidth.value; }, parse_bits,
     print_bits},
};

const SituationNumber& find_number(const std::string& name) {
  std::vector<std::string> known;
  for (const SituationNumber& number : kNumbers) {
    if (number.name == name) return number;
    known.emplace_back(number.name);
  }
  throw ValueError("'" + name + "' is none of " + join(known) + did_you_mean(name, known));
}

}  // namespace

std::span<const SituationNumber> situation_numbers() { return kNumbers; }

std::string SeenRange::text() const {
  return std::string(number->name) + "=" + number->print(low) +
         (high > low ? ".." + number->print(high) : "");
}

namespace {

SeenBox parse_box(const std::string& text) {
  SeenBox seen;
  for (const std::string& word : split_words(text, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals + 1 == word.size())
      throw ValueError("'" + word + "' is not a number with its range, like 'calls=1..161'");
    const SituationNumber& number = find_number(word.substr(0, equals));
    const std::string range = word.substr(equals + 1);
    const std::size_t dots = range.find("..");
    const double low = number.parse(range.substr(0, dots));
    const double high = dots == std::string::npos ? low : number.parse(range.substr(dots + 2));
    if (low > high) throw ValueError("'" + range + "' begins above its end");
    seen.push_back({&number, low, high});
  }
  return seen;
}

/// The numbers of a run that lie outside of one box.
std::vector<std::string> beyond(const SeenBox& box, const Scenario& scenario, const Plan& plan,
                                HoldsFor holds) {
  std::vector<std::string> numbers;
  for (const SeenRange& range : box) {
    const double its = range.number->of(scenario, plan);
    const std::string_view name = range.number->name;
    const bool larger_too = holds == HoldsFor::LargerToo && (name == "bytes" || name == "ranks" ||
                                                             name == "nic" || name == "shards");
    if (its >= range.low / kSeenReach && (larger_too || its <= range.high * kSeenReach)) continue;
    const std::string text = range.text();
    numbers.push_back(std::string(range.number->name) + " " + range.number->print(its) +
                      " (seen: " + text.substr(text.find('=') + 1) + ")");
  }
  // Nobody says that nothing was sharded.
  const auto of_shards = [](const SeenRange& range) { return range.number->name == "shards"; };
  if (holds == HoldsFor::Seen && scenario.shards() > 1 &&
      std::none_of(box.begin(), box.end(), of_shards))
    numbers.push_back("shards " + std::to_string(scenario.shards()) + " (seen: 1)");
  return numbers;
}

}  // namespace

std::vector<SeenBox> parse_seen(std::string_view text) {
  std::vector<SeenBox> boxes;
  if (text.empty()) return boxes;
  for (std::string part : split_words(std::string(text), '|')) {
    while (part.starts_with(' ')) part.erase(0, 1);
    while (part.ends_with(' ')) part.pop_back();
    boxes.push_back(parse_box(part));
  }
  return boxes;
}

std::string to_text(const std::vector<SeenBox>& seen) {
  std::vector<std::string> boxes;
  for (const SeenBox& box : seen) {
    std::vector<std::string> words;
    for (const SeenRange& range : box) words.push_back(range.text());
    boxes.push_back(join(words, " "));
  }
  return join(boxes, " | ");
}

void widen(SeenBox& seen, const SituationNumber& number, double value) {
  const auto range = std::find_if(seen.begin(), seen.end(),
                                  [&](const SeenRange& each) { return each.number == &number; });
  if (range == seen.end()) {
    seen.push_back({&number, value, value});
    return;
  }
  range->low = std::min(range->low, value);
  range->high = std::max(range->high, value);
}

std::string outside_of(const std::vector<SeenBox>& seen, const Scenario& scenario, const Plan& plan,
                       HoldsFor holds) {
  std::optional<std::vector<std::string>> least;
  for (const SeenBox& box : seen) {
    const std::vector<std::string> numbers = beyond(box, scenario, plan, holds);
    if (!least || numbers.size() < least->size()) least = numbers;
  }
  return least ? join(*least, "; ") : "";
}

}  // namespace gradcast
