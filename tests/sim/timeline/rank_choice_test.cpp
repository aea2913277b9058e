#include "sim/timeline/rank_choice.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;

namespace {

/// The class of each rank: ranks have the classes in turn.
std::vector<std::size_t> classes(std::size_t ranks, std::size_t classes) {
  std::vector<std::size_t> class_of;
  for (std::size_t rank = 0; rank < ranks; ++rank) class_of.push_back(rank % classes);
  return class_of;
}

std::vector<int> chosen(const char* choice, const std::vector<std::size_t>& class_of) {
  return choose_ranks(parse_rank_choice(choice), class_of, 0).ranks;
}

}  // namespace

TEST_CASE("few ranks are all shown, of many one of each class") {
  CHECK(chosen("few", classes(64, 2)).size() == 64);
  CHECK(chosen("few", classes(65, 2)) == std::vector<int>{0, 1});
  CHECK(chosen("all", classes(65, 2)).size() == 65);
  CHECK(chosen("one-per-class", classes(8, 3)) == std::vector<int>{0, 1, 2});
  CHECK(choose_ranks({}, classes(65, 2), 0).note ==
        "the timeline shows 2 ranks of 65, one for each that nothing tells apart; "
        "--timeline-ranks all shows all");
}

TEST_CASE("of many ranks that are all different some are shown, and the last to finish") {
  const ChosenRanks some = choose_ranks({}, classes(256, 256), 200);
  REQUIRE(some.ranks.size() == 64);
  CHECK(some.ranks[62] == 62);
  CHECK(some.ranks[63] == 200);
  CHECK_THAT(some.note, Catch::Contains("64 ranks of 256") && Catch::Contains("(rank 200)"));
  CHECK(choose_ranks({}, classes(256, 256), 5).ranks.back() == 63);
}

TEST_CASE("ranks are named by number and range") {
  CHECK(chosen("3", classes(8, 1)) == std::vector<int>{3});
  CHECK(chosen("6..7,0,6", classes(8, 1)) == std::vector<int>{0, 6, 7});
  CHECK_THROWS_WITH(chosen("8", classes(8, 1)), "there is no rank 8: the last of 8 is 7");
  for (const char* wrong : {"", "x", "1..", "-1", "3..1", "1,,2", "1.5"})
    CHECK_THROWS_AS(parse_rank_choice(wrong), ValueError);
}
