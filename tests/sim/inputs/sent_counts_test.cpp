// Files of the numbers of elements that workers of a training sent.
#include "sim/inputs/sent_counts.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

SentCounts counts_of(const std::string& rows) {
  return load_sent_counts({"counts.csv", "iteration,worker,elements,density,wanted,sent\n" + rows});
}

}  // namespace

// (5 + 15) / 2 = 10 of 20: a half; (30 + 30) / 2 of 20: one and a half; their mean is 1. In the
// first iteration the workers lie 5 / 10 apart, in the second not at all: 25 % in the mean.
TEST_CASE("counts become a share of k, with its quantiles and the workers' spread", "[inputs]") {
  const SentCounts counts = counts_of(
      "1,1,2000,0.01,20,5\n1,2,2000,0.01,20,15\n2,1,2000,0.01,20,30\n"
      "2,2,2000,0.01,20,30\n");
  CHECK(counts.elements == 2000);
  CHECK(counts.workers() == 2);
  const SentShare share = sent_share_of(counts, {});
  CHECK(share.mean == 1);
  CHECK(share.p10 == 0.5);
  CHECK(share.p90 == 1.5);
  CHECK(share.worker_spread == 0.25);
  CHECK(share.iterations == 2);
  CHECK(share.left_out == 0);
}

TEST_CASE("a warm-up's iterations are of another density and left out", "[inputs]") {
  const SentCounts counts = counts_of("1,1,1000,0.25,250,250\n2,1,1000,0.01,10,4\n");
  CHECK(sent_share_of(counts, {}).mean == 0.4);  // at the last iteration's density
  CHECK(sent_share_of(counts, {}).left_out == 1);
  CHECK(sent_share_of(counts, 0.25).mean == 1);
  CHECK_THROWS_WITH(sent_share_of(counts, 0.5),
                    Contains("of density 0.01, 0.25, not of 0.5; leave --density out"));
}

// A training with a threshold has density 1; it sent 2 and 6 of 10 elements, 40 % in the mean.
TEST_CASE("what a threshold sent is the density of a forecast", "[inputs]") {
  const SentCounts counts = counts_of("1,1,10,1,10,2\n2,1,10,1,10,6\n");
  const SentShare share = share_as_density(sent_share_of(counts, {}));
  CHECK(share.density == Approx(0.4));
  CHECK(share.mean == 1);
  CHECK(share.p10 == Approx(0.5));  // 2 of 4
  CHECK(share.p90 == Approx(1.5));
  CHECK(share_as_density(sent_share_of(counts_of("1,1,10,1,10,0\n"), {})).density > 0);
}

TEST_CASE("an iteration in which nothing was sent has no spread", "[inputs]") {
  const SentShare share = sent_share_of(counts_of("1,1,9,0.5,4,0\n1,2,9,0.5,4,0\n"), {});
  CHECK(share.mean == 0);
  CHECK(share.worker_spread == 0);
}

TEST_CASE("wrong counts are refused with file and line", "[inputs]") {
  const auto refused = [](const std::string& rows, const std::string& says) {
    CHECK_THROWS_WITH(counts_of(rows), Contains("counts.csv") && Contains(says));
  };
  refused("", "only a header");
  refused("1,1,9,0.5,4,3\n1,1,9,0.5,4,3\n", "3: column 'worker': 1 stands twice in iteration 1");
  refused("1,1,9,0.5,4,3\n2,1,8,0.5,4,3\n", "3: column 'elements': 8 differs from 9");
  refused("1,1,9,0.5,4,3\n1,2,9,0.4,4,3\n", "column 'density': 0.4 differs from 0.5");
  refused("1,1,9,0.5,4,3\n1,2,9,0.5,3,3\n", "column 'wanted': 3 differs from 4");
  refused("1,1,9,0.5,4,3\n1,2,9,0.5,4,3\n2,1,9,0.5,4,3\n",
          "iteration 2 has 1 workers, and iteration 1 has 2");
  refused("1,1,9,0.5,4,10\n", "column 'sent'");    // more than there are
  refused("1,1,9,0.5,10,3\n", "column 'wanted'");  // likewise
  refused("1,1,9,0.5,0,3\n", "column 'wanted'");
  refused("0,1,9,0.5,4,3\n", "column 'iteration'");
  refused("1,1,9,0.5,4,-1\n", "column 'sent'");
  refused("1,1,9,2,4,3\n", "column 'density'");
  refused("1,1,9,0.5,4,3", "line break");  // cut off
  CHECK_THROWS_AS(load_sent_counts({"counts.csv", "iteration,worker\n1,1\n"}), DataError);
}
