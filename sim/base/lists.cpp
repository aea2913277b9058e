#include "sim/base/lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// Calls one(word) for a value and range(low, high) for a "low..high", neither of them empty.
template <class One, class Range>
void each_item(std::string_view text, One one, Range range) {
  for (const std::string& word : parse_words(text)) {
    const std::size_t dots = word.find("..");
    if (dots == std::string::npos) {
      one(word);
      continue;
    }
    const std::string low = word.substr(0, dots);
    const std::string high = word.substr(dots + 2);
    if (high.empty()) throw ValueError("the range '" + word + "' has no end");
    if (low.empty()) throw ValueError("the range '" + word + "' has no beginning");
    range(low, high);
  }
}

/// The steps 1, 2, 5 a decade between two numbers, without them.
std::set<double> steps_between(double low, double high) {
  std::set<double> steps;
  const int last = static_cast<int>(std::floor(std::log10(high)));
  for (int decade = static_cast<int>(std::floor(std::log10(low))); decade <= last; ++decade)
    for (const char* digit : {"1", "2", "5"}) {
      // Made from text, so that it is the same double as a typed 0.0002.
      const double step = parse_number(std::string(digit) + "e" + std::to_string(decade));
      if (step > low && step < high) steps.insert(step);
    }
  return steps;
}

/// "10Gbps" as 10 and "Gbps".
struct NumberAndUnit {
  double number = 0;
  std::string unit;
  bool whole = false;
};

NumberAndUnit split_quantity(const std::string& text) {
  std::size_t end = text.find_first_not_of("0123456789.");
  // The exponent of 1e-4, but not the unit of 1e.
  if (end != std::string::npos && (text[end] == 'e' || text[end] == 'E')) {
    const std::size_t digits = text.find_first_not_of("+-", end + 1);
    if (digits != std::string::npos && begins_with_digit(std::string_view(text).substr(digits)))
      end = text.find_first_not_of("0123456789", digits);
  }
  const std::string number = text.substr(0, end);
  return {parse_number(number), end == std::string::npos ? "" : text.substr(end),
          number.find_first_not_of("0123456789") == std::string::npos};
}

ValueError falling(const std::string& low, const std::string& high) {
  return ValueError("the range '" + low + ".." + high + "' does not rise");
}

}  // namespace

std::vector<std::string> parse_words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : split_words(text, ',')) {
    if (word.empty())
      throw ValueError("'" + std::string(text) + "' has an empty entry; write a list like 'a,b'");
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

std::vector<double> parse_densities(std::string_view text) {
  std::set<double> densities;
  each_item(
      text, [&](const std::string& word) { densities.insert(parse_density(word)); },
      [&](const std::string& low_text, const std::string& high_text) {
        const double low = parse_density(low_text);
        const double high = parse_density(high_text);
        if (low >= high) throw falling(low_text, high_text);
        densities.insert({low, high});
        densities.merge(steps_between(low, high));
      });
  return {densities.begin(), densities.end()};
}

std::vector<int> parse_counts_to(int most, std::string_view text) {
  std::set<int> counts;
  each_item(
      text, [&](const std::string& word) { counts.insert(parse_count_to(most, word)); },
      [&](const std::string& low_text, const std::string& high_text) {
        const int low = parse_count_to(most, low_text);
        const int high = parse_count_to(most, high_text);
        if (low >= high) throw falling(low_text, high_text);
        for (int count = low; count < high; count *= 2) counts.insert(count);
        counts.insert(high);
      });
  return {counts.begin(), counts.end()};
}

std::vector<std::string> expand_list(std::string_view text) {
  constexpr double kMostSteps = 1000;
  std::vector<std::string> words;
  const auto add = [&](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  };
  for (const std::string& word : parse_words(text)) {
    const std::size_t dots = word.find("..");
    if (dots == std::string::npos || !begins_with_digit(word)) {
      add(word);
      continue;
    }
    const std::string low_text = word.substr(0, dots);
    const std::string high_text = word.substr(dots + 2);
    if (!begins_with_digit(high_text)) throw ValueError("the range '" + word + "' has no end");
    const NumberAndUnit low = split_quantity(low_text);
    const NumberAndUnit high = split_quantity(high_text);
    if (low.unit != high.unit)
      throw ValueError("the range '" + word + "' has two units; write it like '1Gbps..100Gbps'");
    if (low.number >= high.number) throw falling(low_text, high_text);
    if (low.number <= 0) throw ValueError("the range '" + word + "' begins at 0: no step leads up");
    if (std::log2(high.number / low.number) > kMostSteps)
      throw ValueError("the range '" + word + "' has more than a thousand steps");
    add(low_text);
    if (low.whole && high.whole && low.unit.empty())
      for (double count = 2 * low.number; count < high.number; count *= 2)
        add(number_to_text(count));
    else
      for (const double step : steps_between(low.number, high.number))
        add(number_to_text(step) + low.unit);
    add(high_text);
  }
  return words;
}

}  // namespace gradcast
