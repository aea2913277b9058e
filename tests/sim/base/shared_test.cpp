// A value that copies share, and that none of them changes for the others.
#include "sim/base/shared.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace gradcast;

TEST_CASE("copies of a shared value are one value", "[shared]") {
  const Shared<std::string> one(std::string("abc"));
  const Shared<std::string> other = one;
  CHECK(&*one == &*other);
  CHECK(other->size() == 3);
}

TEST_CASE("a change is its holder's alone", "[shared]") {
  const auto parsed = std::make_shared<const std::vector<int>>(3, 7);
  Shared<std::vector<int>> one(parsed);
  const Shared<std::vector<int>> other = one;
  one.change()[0] = 1;
  CHECK(*one == std::vector<int>{1, 7, 7});
  CHECK(*other == std::vector<int>{7, 7, 7});
  CHECK(*parsed == std::vector<int>{7, 7, 7});
  Shared<std::vector<int>> third = one;
  third.change().push_back(2);
  CHECK(one->size() == 3);
}

TEST_CASE("without a value a shared one holds a default, which no change reaches", "[shared]") {
  Shared<std::string> one;
  one.change() = "x";
  CHECK(Shared<std::string>()->empty());
}
