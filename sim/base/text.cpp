#include "sim/base/text.hpp"

#include <numeric>
#include <utility>

namespace gradcast {
namespace {

/// Letters to insert, delete, replace or swap with a neighbour (Damerau's distance, restricted).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  std::iota(cost[0].begin(), cost[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

constexpr std::string_view kDigits = "0123456789";

/// Takes the run of digits that `text` begins with, without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::string_view number = text.substr(0, text.find_first_not_of(kDigits));
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

bool begins_with_digit(std::string_view text) {
  return !text.empty() && kDigits.find(text[0]) != std::string_view::npos;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known) {
  const std::string* nearest = nullptr;
  // Two words that are as near differ by their beginning: "nodes" continues "node", "mode" does
  // not.
  std::pair least{std::max<std::size_t>(1, typed.size() / 3) + 1, false};
  for (const std::string& word : known) {
    const bool other = !word.starts_with(typed);
    // A text is at least as far from another as it is longer: no megabyte is compared with words.
    const std::size_t apart =
        std::max(typed.size(), word.size()) - std::min(typed.size(), word.size());
    if (std::pair(apart, other) >= least) continue;
    const std::pair distance(edit_distance(typed, word), other);
    if (distance < least) {
      least = distance;
      nearest = &word;
    }
  }
  return nearest ? "; did you mean '" + *nearest + "'?" : std::string{};
}

std::string join(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += between;  // also behind a word without letters
    text += words[i];
  }
  return text;
}

std::string and_joined(std::vector<std::string> words) {
  if (words.size() < 2) return join(words);
  const std::string last = words.back();
  words.pop_back();
  return join(words) + " and " + last;
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

bool is_control(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code < 0x20 || code == 0x7f;
}

std::string one_line(std::string text) {
  for (char& letter : text)
    if (is_control(letter)) letter = ' ';
  return text;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  std::size_t from = 0;
  for (std::size_t at = text.find(separator); at != std::string_view::npos;
       at = text.find(separator, from)) {
    words.emplace_back(text.substr(from, at - from));
    from = at + 1;
  }
  words.emplace_back(text.substr(from));
  return words;
}

bool natural_less(std::string_view a, std::string_view b) {
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (begins_with_digit(rest_a) && begins_with_digit(rest_b)) {
      const std::string_view number_a = take_number(rest_a);
      const std::string_view number_b = take_number(rest_b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
    } else if (rest_a[0] != rest_b[0]) {
      return rest_a[0] < rest_b[0];
    } else {
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
  }
  if (rest_a.empty() && rest_b.empty()) return a < b;  // "a01" and "a1"
  return rest_a.empty();
}

}  // namespace gradcast
