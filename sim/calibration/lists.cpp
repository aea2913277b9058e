#include "sim/calibration/lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/units.hpp"

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

/// Below it a call of the most elements that a table counts to, 2^31 - 1, would keep one or two.
constexpr double kLeastDensity = 1e-9;

double parse_measured_density(const std::string& text) {
  const double density = parse_density(text);
  if (density >= kLeastDensity) return density;
  throw ValueError("'" + text + "' is below the least density that is measured, " +
                   number_to_text(kLeastDensity));
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
      text, [&](const std::string& word) { densities.insert(parse_measured_density(word)); },
      [&](const std::string& low_text, const std::string& high_text) {
        const double low = parse_measured_density(low_text);
        const double high = parse_measured_density(high_text);
        if (low >= high) throw falling(low_text, high_text);
        densities.insert({low, high});
        for (int decade = static_cast<int>(std::floor(std::log10(low))); decade <= 0; ++decade)
          for (const char* digit : {"1", "2", "5"}) {
            // From text, so that it is the double that a person's 0.0002 is.
            const double step = parse_number(std::string(digit) + "e" + std::to_string(decade));
            if (step > low && step < high) densities.insert(step);
          }
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

}  // namespace gradcast
