// The ranks that a timeline shows.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradcast {

struct RankChoice {
  enum class Kind { Few, All, OnePerClass, Listed };
  Kind kind = Kind::Few;
  std::vector<std::pair<int, int>> ranges{};  // Listed: first and last
};

/// More ranks than this are shown only on request.
inline constexpr std::size_t kMostRanksShown = 64;

/// Parses "all", "one-per-class", and numbers and ranges of them ("0,8..15"). "few", the default,
/// means all ranks if they are few. Throws ValueError.
RankChoice parse_rank_choice(std::string_view text);

struct ChosenRanks {
  std::vector<int> ranks{};  // rising
  std::string note{};        // ranks left out, with the reason; "" for none
};

/// `class_of`: by rank; ranks of a class did the same at the same time. If there are many ranks,
/// the first of each class is shown. If there are many classes too, only the first ones and
/// `seen_from` are shown. Throws ValueError for ranks that do not exist.
ChosenRanks choose_ranks(const RankChoice& choice, const std::vector<std::size_t>& class_of,
                         int seen_from);

}  // namespace gradcast
