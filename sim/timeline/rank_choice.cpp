#include "sim/timeline/rank_choice.hpp"

#include <algorithm>
#include <set>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

int parse_rank(std::string_view text) {
  try {
    const std::int64_t rank = parse_integer(text);
    if (rank >= 0 && rank <= 10'000'000) return static_cast<int>(rank);
  } catch (const ValueError&) {
    // said below
  }
  throw ValueError("'" + std::string(text) +
                   "' is not a rank; ranks are 'all', 'one-per-class' or numbers like '0,8..15'");
}

std::vector<int> all_ranks(std::size_t ranks) {
  std::vector<int> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) all.push_back(static_cast<int>(rank));
  return all;
}

std::vector<int> one_per_class(const std::vector<std::size_t>& class_of) {
  std::vector<int> firsts;
  std::set<std::size_t> known;
  for (std::size_t rank = 0; rank < class_of.size(); ++rank)
    if (known.insert(class_of[rank]).second) firsts.push_back(static_cast<int>(rank));
  return firsts;
}

std::string count_of(std::size_t ranks) {
  return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

}  // namespace

RankChoice parse_rank_choice(std::string_view text) {
  if (text == "few") return {};
  if (text == "all") return {RankChoice::Kind::All};
  if (text == "one-per-class") return {RankChoice::Kind::OnePerClass};
  RankChoice choice{RankChoice::Kind::Listed};
  for (const std::string& word : split_words(text, ',')) {
    const std::size_t dots = word.find("..");
    const int first = parse_rank(std::string_view(word).substr(0, dots));
    const int last =
        dots == std::string::npos ? first : parse_rank(std::string_view(word).substr(dots + 2));
    if (last < first) throw ValueError("'" + word + "' ends before it begins");
    choice.ranges.emplace_back(first, last);
  }
  return choice;
}

ChosenRanks choose_ranks(const RankChoice& choice, const std::vector<std::size_t>& class_of,
                         int seen_from) {
  const std::size_t ranks = class_of.size();
  if (choice.kind == RankChoice::Kind::Listed) {
    std::set<int> listed;
    for (const auto& [first, last] : choice.ranges) {
      if (static_cast<std::size_t>(last) >= ranks)
        throw ValueError("there is no rank " + std::to_string(last) + ": the last of " +
                         std::to_string(ranks) + " is " + std::to_string(ranks - 1));
      for (int rank = first; rank <= last; ++rank) listed.insert(rank);
    }
    return {{listed.begin(), listed.end()}, ""};
  }
  const bool few = choice.kind == RankChoice::Kind::Few;
  if (choice.kind == RankChoice::Kind::All || (few && ranks <= kMostRanksShown))
    return {all_ranks(ranks), ""};
  ChosenRanks chosen{one_per_class(class_of), ""};
  const std::size_t classes = chosen.ranks.size();
  if (few && classes > kMostRanksShown) {
    chosen.ranks.resize(kMostRanksShown);
    if (!std::binary_search(chosen.ranks.begin(), chosen.ranks.end(), seen_from))
      chosen.ranks.back() = seen_from;  // later than all that are kept
    chosen.note = "the timeline shows " + count_of(kMostRanksShown) + " of " +
                  std::to_string(ranks) + ", among them the one that finishes last (rank " +
                  std::to_string(seen_from) + "); --timeline-ranks names others";
  } else if (classes < ranks) {
    chosen.note = "the timeline shows " + count_of(classes) + " of " + std::to_string(ranks) +
                  ", one for each that nothing tells apart; --timeline-ranks all shows all";
  }
  return chosen;
}

}  // namespace gradcast
