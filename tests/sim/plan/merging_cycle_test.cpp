// Horovod's cycles, by hand.
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "tests/sim/plan/partitions.hpp"

using namespace gradcast;
using namespace gradcast::merging;

namespace {

/// Tensors of 1000 bytes, but for one that is larger, each ready a millisecond after the one behind
/// it: the last at 1 ms, the first after as many milliseconds as there are tensors.
struct Steady {
  Model model;
  std::vector<Seconds> ready;

  explicit Steady(std::size_t tensors, std::size_t larger = 99) {
    for (std::size_t i = 0; i < tensors; ++i) {
      const std::string name = "t" + std::to_string(i);
      model.tensors.push_back({name, name, i == larger ? 2500 : 250, 0});
      ready.push_back(static_cast<double>(tensors - i) * ms);
    }
  }

  Tensors cut(Seconds cycle, Bytes most) const {
    const auto buckets = merge_in_cycles(model, ready, cycle, most);
    check_partition(model, buckets);
    return tensors_of(buckets);
  }
};

}  // namespace

// Tensors 6 to 0 are ready at 1 to 7 ms. One that is ready at 5 ms is taken at 5 ms.
TEST_CASE("a cycle takes what is ready at its end", "[merging]") {
  CHECK(Steady(7).cut(5 * ms, Bytes{1 << 20}) == Tensors{{6, 5, 4, 3, 2}, {1, 0}});
  CHECK(Steady(7).cut(2 * ms, Bytes{1 << 20}) == Tensors{{6, 5}, {4, 3}, {2, 1}, {0}});
  CHECK(Steady(7).cut(10 * ms, Bytes{1 << 20}) == Tensors{{6, 5, 4, 3, 2, 1, 0}});
}

// 2000 bytes hold two tensors, 1999 only one. Tensors left over do not wait for the next cycle: the
// cycle of 5 ms has five, 2 + 2 + 1.
TEST_CASE("a bucket stays within its size, and a cycle has several", "[merging]") {
  CHECK(Steady(7).cut(5 * ms, Bytes{2000}) == Tensors{{6, 5}, {4, 3}, {2}, {1, 0}});
  CHECK(Steady(3).cut(5 * ms, Bytes{1999}) == Tensors{{2}, {1}, {0}});
}

// Tensor 1 has 10,000 bytes. Nothing is fused with it, and tensor 0 is not held back.
TEST_CASE("a tensor that is larger than a bucket goes alone", "[merging]") {
  CHECK(Steady(4, 1).cut(5 * ms, Bytes{4000}) == Tensors{{3, 2}, {1}, {0}});
}

TEST_CASE("the first cycle ends one cycle after backward began", "[merging]") {
  CHECK(end_of_cycle(0 * s, 5 * ms) == 5 * ms);
  CHECK(end_of_cycle(5 * ms, 5 * ms) == 5 * ms);
  CHECK(end_of_cycle(5.001 * ms, 5 * ms) == 10 * ms);
  // A tenth ten times is not one in doubles, and still the same moment.
  Seconds sum{0};
  for (int i = 0; i < 10; ++i) sum += Seconds{0.1};
  CHECK(end_of_cycle(sum, Seconds{0.1}) == Seconds{10 * 0.1});
  CHECK(end_of_cycle(3 * Seconds{0.1}, Seconds{0.1}) == Seconds{3 * 0.1});
}

TEST_CASE("cycles need the time of every gradient", "[merging]") {
  CHECK_THROWS_AS(merge_in_cycles(Steady(3).model, {1 * s}, 5 * ms, Bytes{1}), std::logic_error);
}
