// Lists as the command line writes them, and their ranges.
#include "sim/base/lists.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Words = std::vector<std::string>;

TEST_CASE("whole numbers in a range double, and both ends are in", "[lists]") {
  CHECK(expand_list("1,2,4..64") == Words{"1", "2", "4", "8", "16", "32", "64"});
  CHECK(expand_list("3..10") == Words{"3", "6", "10"});
}

TEST_CASE("other numbers step 1, 2, 5 a decade and keep their unit", "[lists]") {
  CHECK(expand_list("0.0001..0.001") == Words{"0.0001", "0.0002", "0.0005", "0.001"});
  CHECK(expand_list("1Gbps..10Gbps") == Words{"1Gbps", "2Gbps", "5Gbps", "10Gbps"});
  CHECK(expand_list("1e-5..5e-5") == Words{"1e-5", "0.00002", "5e-5"});
  CHECK(expand_list("9.43Gbps..25Gbps") == Words{"9.43Gbps", "10Gbps", "20Gbps", "25Gbps"});
}

TEST_CASE("words stay as they are written, each once, and a path is no range", "[lists]") {
  CHECK(expand_list("topk,dense,topk") == Words{"topk", "dense"});
  CHECK(expand_list("../my/costs.csv,a..b.csv") == Words{"../my/costs.csv", "a..b.csv"});
}

TEST_CASE("lists take ranges: densities by 1-2-5, counts by doubling", "[lists]") {
  CHECK(parse_densities("0.01,0.001") == std::vector<double>{0.001, 0.01});
  CHECK(parse_densities("0.0001..0.01") ==
        std::vector<double>{0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01});
  CHECK(parse_densities("0.0003..0.003,0.5") ==
        std::vector<double>{0.0003, 0.0005, 0.001, 0.002, 0.003, 0.5});
  CHECK(parse_counts_to(100, "4..64") == std::vector<int>{4, 8, 16, 32, 64});
  CHECK(parse_counts_to(100, "3..10,1") == std::vector<int>{1, 3, 6, 10});
  CHECK(parse_words("a,b,a") == std::vector<std::string>{"a", "b"});
  for (const char* wrong : {"", "0.1,", "0.1..", "0.1..0.1", "0.2..0.1", "0..1", "0.1..2"})
    CHECK_THROWS_AS(parse_densities(wrong), ValueError);
  for (const char* wrong : {"0", "1..200", "8..4", "x", "1..2..3"})
    CHECK_THROWS_AS(parse_counts_to(100, wrong), ValueError);
}

TEST_CASE("a range that is none says why", "[lists]") {
  CHECK_THROWS_WITH(expand_list("64..4"), "the range '64..4' does not rise");
  CHECK_THROWS_WITH(expand_list("4.."), "the range '4..' has no end");
  CHECK_THROWS_WITH(expand_list("1Gbps..1GBps"),
                    "the range '1Gbps..1GBps' has two units; write it like '1Gbps..100Gbps'");
  CHECK_THROWS_WITH(expand_list("0..4"), "the range '0..4' begins at 0: no step leads up");
  CHECK_THROWS_WITH(expand_list("a,,b"), Catch::Contains("empty entry"));
  CHECK_THROWS_AS(expand_list("1e-300..1e300"), ValueError);
}

TEST_CASE("a range without an end or a beginning is named as that", "[lists]") {
  CHECK_THROWS_WITH(parse_densities("0.01.."), "the range '0.01..' has no end");
  CHECK_THROWS_WITH(parse_densities(".."), "the range '..' has no end");
  CHECK_THROWS_WITH(parse_densities("0.1,..0.01"), "the range '..0.01' has no beginning");
  CHECK_THROWS_WITH(parse_counts_to(100, "4.."), "the range '4..' has no end");
}

TEST_CASE("a density that keeps nothing of any tensor is not measured", "[lists]") {
  CHECK(parse_densities("1e-9") == std::vector<double>{1e-9});
  CHECK_THROWS_WITH(parse_densities("1e-300..1"),
                    Catch::Contains("'1e-300' is below the least density"));
}
