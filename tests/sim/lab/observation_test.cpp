#include "sim/lab/observation.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "sim/base/npy.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using namespace gradcast::lab;

TEST_CASE("moments and bins are those of the elements", "[lab]") {
  // Mean 0, variance (1 + 1 + 9 + 9) / 5 = 4, fourth moment (1 + 1 + 81 + 81) / 5 = 32.8.
  const Observation seen = observed(std::vector<float>{1, -1, 3, -3, 0}, 7, "fc1.weight");
  CHECK(seen.mean == 0);
  CHECK(seen.deviation == Approx(2));
  CHECK(seen.kurtosis == Approx(32.8 / 16));
  CHECK(seen.zeros == 1);
  std::int64_t all = 0;
  for (const Bin& bin : seen.bins) {
    all += bin.count;
    if (bin.count > 0 && bin.from > 1) CHECK(bin.from == Approx(1.5));  // 3 / 2
  }
  CHECK(all == 5);
}

TEST_CASE("what lies far out, and what is no number, does not break a histogram", "[lab]") {
  std::vector<float> u(1000, 0.0f);
  u[0] = 1e30f;
  u[1] = std::numeric_limits<float>::infinity();
  const Observation seen = observed(u, 1, "all");
  CHECK(seen.elements == 1000);
  CHECK(seen.bins.back().count == 1);
  CHECK(observed(std::vector<float>(5, 2.0f), 1, "all").bins.empty());  // no deviation, no shape
}

TEST_CASE("the first worker's u is recorded as it entered the selection", "[lab]") {
  TrainingSettings settings;
  settings.compressor = find_compressor("topk");
  settings.workers = 1;
  Exchange exchange(settings, {{"a", 2}, {"b", 2}});
  const std::vector<float> gradient{4, 1, 3, 2};
  std::copy(gradient.begin(), gradient.end(), exchange.gradient(0).begin());
  exchange.encode(0, 0, 0.25);
  const TemporaryFolder folder;
  CHECK(read_npy(record_u(exchange, 12, folder.path)) == gradient);
  CHECK(std::filesystem::exists(folder.path / "u-12.npy"));
  const auto seen = observe(exchange, {{"a", 2}, {"b", 2}}, 12);
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].tensor == "all");
  CHECK(seen[2].tensor == "b");
  CHECK(seen[2].mean == 2.5);
}
