#include "sim/base/text.hpp"

#include <algorithm>
#include <cctype>
#include <compare>
#include <iterator>
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

/// Takes the run of digits that `text` begins with, without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::string_view number = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

/// The digits of a name.
std::string digits_in(std::string_view name) {
  std::string digits;
  std::ranges::copy_if(name, std::back_inserter(digits), is_digit);
  return digits;
}

/// The name without its digits.
std::string letters_in(std::string_view name) {
  std::string letters(name);
  std::erase_if(letters, is_digit);
  return letters;
}

/// True if a digit is missing, too many or in its neighbour's place. Another digit is another
/// number: nobody who types "a800" means "a100".
bool may_be_same_number(const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (edit_distance(a, b) != 1) return false;
  return a.size() != b.size() || std::is_permutation(a.begin(), a.end(), b.begin());
}

/// The parts of a name between signs, in lower case: "powersgd" and "hook" of "powerSGD_hook".
std::vector<std::string> name_parts(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char letter : in_lower_case(name)) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::isalnum(code) != 0 || code >= 0x80)
      parts.back() += letter;
    else if (!parts.back().empty())
      parts.emplace_back();
  }
  return parts;
}

/// True if some of the parts, in any order, make up the text.
bool is_made_of(std::string_view text, std::vector<std::string> parts) {
  if (text.empty()) return true;
  for (std::string& part : parts) {
    if (part.empty() || !text.starts_with(part)) continue;
    const std::string taken = std::exchange(part, {});
    if (is_made_of(text.substr(taken.size()), parts)) return true;
    part = taken;
  }
  return false;
}

/// Other people's names, of things that have another one here.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"ib", "infiniband"}, {"ethernet", "tcp"}, {"rocev2", "roce"}, {"none", "dense"}};

/// The one known name that is called so elsewhere, or whose number is typed alone: "3090" of
/// "rtx-3090". nullptr for none, and for several.
const std::string* known_by(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t kLeastDigits = 3;
  const std::string name = in_lower_case(typed);
  const bool number = name.size() >= kLeastDigits && std::ranges::all_of(name, is_digit);
  const std::string* only = nullptr;
  for (const std::string& word : known) {
    const bool called = std::ranges::any_of(kOtherNames, [&](const auto& other) {
      return other.first == name && other.second == word;
    });
    if (!called && !(number && word.ends_with("-" + name))) continue;
    if (only != nullptr) return nullptr;
    only = &word;
  }
  return only;
}

/// How near a known name is to the typed one; the least is the nearest.
struct Nearness {
  enum Kind { kSameParts, kSlips, kContained, kFar };
  Kind kind = kFar;
  std::size_t apart = 0;  // slips, or letters that are left over
  bool other = false;     // "node" goes on as "nodes", and not as "mode"

  friend auto operator<=>(const Nearness&, const Nearness&) = default;
};

/// Letters with which both begin.
std::size_t shared_beginning(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// A name that somebody typed, to be compared with known ones. Case and signs count for nothing.
class TypedName {
 public:
  /// `shared`: letters at its beginning that all known names have, and that so tell nothing.
  TypedName(std::string_view typed, std::size_t shared)
      : most_slips_(std::max<std::size_t>(1, (typed.size() - shared) / 3)) {
    if (typed.size() > kLongest) return;
    parts_ = name_parts(typed);
    name_ = join(parts_, "");
    letters_ = letters_in(name_);
    digits_ = digits_in(name_);
    if (parts_.size() > kMostParts) parts_.clear();
  }

  Nearness nearness(std::string_view known) const {
    if (name_.empty()) return {};
    const std::string word = join(name_parts(known), "");
    const bool other = !word.starts_with(name_);
    const bool made = !word.empty() && is_made_of(word, parts_);
    if (made && word.size() == name_.size()) return {Nearness::kSameParts, 0, other};
    if (const std::size_t slips = slips_to(word); slips <= most_slips_)
      return {Nearness::kSlips, slips, other};
    if (made && word.size() >= kShortestContained)
      return {Nearness::kContained, name_.size() - word.size(), other};
    return {};
  }

 private:
  static constexpr std::size_t kLongest = 100;  // no megabyte is compared with words
  static constexpr std::size_t kMostParts = 6;  // each order of them is tried
  static constexpr std::size_t kShortestContained = 4;

  /// More than most_slips_ where no slips of the finger lead from one to the other.
  std::size_t slips_to(const std::string& word) const {
    const std::size_t too_many = most_slips_ + 1;
    if (word.size() > name_.size() + most_slips_ || name_.size() > word.size() + most_slips_)
      return too_many;
    const std::string digits = digits_in(word);
    if (!may_be_same_number(digits_, digits)) return too_many;
    // Half of the letters must be right, and all beside a slip in a number: "p40" and "a40" are two
    // GPUs, "resnet-51" and "lenet-5" two networks.
    if (edit_distance(letters_, letters_in(word)) > (digits == digits_ ? letters_.size() / 2 : 0))
      return too_many;
    return edit_distance(name_, word);
  }

  std::size_t most_slips_;
  std::vector<std::string> parts_;
  std::string name_;  // all of its parts
  std::string letters_;
  std::string digits_;
};

}  // namespace

bool begins_with_digit(std::string_view text) { return !text.empty() && is_digit(text[0]); }

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known) {
  std::size_t shared = known.size() < 2 ? 0 : typed.size();
  for (const std::string& word : known)
    shared = std::min(shared, shared_beginning(in_lower_case(typed), in_lower_case(word)));
  const TypedName name(typed, shared);
  const std::string* nearest = nullptr;
  Nearness least{Nearness::kFar};
  for (const std::string& word : known) {
    const Nearness its = name.nearness(word);
    if (!(its < least)) continue;
    least = its;
    nearest = &word;
  }
  if (nearest == nullptr) nearest = known_by(typed, known);
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

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

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
