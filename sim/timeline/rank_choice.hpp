// Which ranks a timeline shows.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradcast {

struct RankChoice {
  enum class Kind { Few, All, OnePerClass, Listed };
  Kind kind = Kind::Few;
  std::vector<std::pair<int, int>> ranges{};  // of Listed: first and last
};

/// More ranks than this are shown only where that is asked for.
inline constexpr std::size_t kMostRanksShown = 64;

/// "all", "one-per-class", numbers and ranges of them ("0,8..15"); "few", the fallback, is all
/// where they are few. Throws ValueError.
RankChoice parse_rank_choice(std::string_view text);

struct ChosenRanks {
  std::vector<int> ranks{};  // rising
  std::string note{};        // which were left out, and why; "" for none
};

/// `class_of`: by rank; ranks of a class did the same at the same time. Of many the first of each
/// class stands for it, and where classes are many too, only the first of those and `seen_from`
/// are shown. Throws ValueError for ranks that are not there.
ChosenRanks choose_ranks(const RankChoice& choice, const std::vector<std::size_t>& class_of,
                         int seen_from);

}  // namespace gradcast
