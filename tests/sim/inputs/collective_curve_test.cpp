#include "sim/inputs/collective_curve.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kHeader = "collective,nodes,gpus_per_node,bytes,library,seconds\n";

CollectiveCurve load(const std::string& rows) {
  return load_collective_curve({"collectives-m.csv", kHeader + rows});
}

}  // namespace

TEST_CASE("measured times are sorted, and read back as written", "[collective_curve]") {
  const CollectiveCurve curve =
      load("all-reduce,2,4,2048,nccl-2.22.3,0.0002\nall-reduce,2,4,1024,nccl-2.22.3,0.0001\n");
  REQUIRE(curve.size() == 2);
  CHECK(curve[0].bytes.count == 1024);
  CHECK(load_collective_curve({"m.csv", collective_curve_csv(curve, {"from a log"})}) == curve);
}

TEST_CASE("several times of one case are their median", "[collective_curve]") {
  const auto of = [](double seconds) {
    return CurvePoint{"all-reduce", 2, 4, Bytes{8}, "nccl", Seconds{seconds}};
  };
  CHECK(curve_of({of(3), of(1), of(2)}).front().seconds.count() == 2);
  CHECK(curve_of({of(4), of(1), of(2), of(3)}).front().seconds.count() == 2.5);
  CHECK(curve_of({of(4), of(1)}).size() == 1);
}

// Half of the logarithm of 4 is 0.693.
TEST_CASE("several times of one case say how much they differ, in a column of their own",
          "[collective_curve]") {
  const auto of = [](int bytes, double seconds) {
    return CurvePoint{"all-reduce", 2, 4, Bytes{bytes}, "nccl", Seconds{seconds}};
  };
  const CollectiveCurve once = curve_of({of(8, 3)});
  CHECK(once[0].deviation == 0);
  CHECK(collective_curve_csv(once, {}) == kHeader + "all-reduce,2,4,8,nccl,3\n");
  const CollectiveCurve twice = curve_of({of(8, 4), of(8, 1), of(16, 5)});
  CHECK(twice[0].deviation == Approx(0.693));
  CHECK(collective_curve_csv(twice, {}) ==
        "collective,nodes,gpus_per_node,bytes,library,seconds,deviation\n"
        "all-reduce,2,4,8,nccl,2.5,0.693\nall-reduce,2,4,16,nccl,5,\n");
  CHECK(load_collective_curve({"m.csv", collective_curve_csv(twice, {})}) == twice);
  CHECK(curve_of(twice) == twice);
}

TEST_CASE("a file of measured times that is wrong is refused with its line", "[collective_curve]") {
  const auto refused = [](const std::string& row, const char* why) {
    CHECK_THROWS_WITH(load(row + "\n"), Contains(why));
    CHECK_THROWS_AS(load(row + "\n"), DataError);
  };
  refused("all-reduced,2,4,8,nccl,1", "did you mean 'all-reduce'?");
  refused("all-reduce,1,1,8,nccl,1", "one GPU has nobody to exchange with");
  refused("all-reduce,2,4,0,nccl,1", "bytes");
  refused("all-reduce,2,4,8,nccl-2..3,1", "is not nccl, nccl-VERSION");
  refused("all-reduce,2,4,8,nccl,0", "seconds");
  refused("all-reduce,99999999,9,8,nccl,1", "m.csv:2");
  refused("all-reduce,2,4,8,nccl,1\nall-reduce,2,4,8,nccl,2", "twice");
  CHECK_THROWS_WITH(load(""), Contains("has no measured time"));
}
