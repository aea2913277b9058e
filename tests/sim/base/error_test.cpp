#include "sim/base/error.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

TEST_CASE("an error is one line, whatever somebody's file says in it", "[error]") {
  CHECK(std::string(DataError("a\nb.csv", 3, "'\x1b[31m\r\n' is no number").what()) ==
        "a b.csv:3: ' [31m  ' is no number");
  CHECK(std::string(UsageError("näive \x7f").what()) == "näive  ");  // other bytes stay
}
