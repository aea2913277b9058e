#include "sim/lab/bound_checks.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;
using namespace gradcast::lab;

TEST_CASE("Top-k takes the largest squares", "[lab]") {
  const std::vector<float> u{1, -4, 2, 0};
  // 16 of 21, and with 2 squared 20 of 21.
  CHECK(top_k_shares(u, 1).kept == Approx(16.0 / 21));
  CHECK(top_k_shares(u, 2).left == Approx(1.0 / 21));
  CHECK(top_k_shares(u, 4).left == 0);
}

TEST_CASE("where Top-k leaves more than Theorem 1 allows is counted, each tensor by itself",
          "[lab]") {
  TrainingSettings settings;
  settings.compressor = find_compressor("topk");
  settings.workers = 2;
  settings.density = 0.25;
  const std::vector<ParameterTensor> tensors{{"equal", 4}, {"zero", 4}, {"unequal", 4}};
  Exchange exchange(settings, tensors);
  // Equal magnitudes: one of four leaves 0.75, and (1 - 1/4)^2 = 0.5625. One large: next to
  // nothing.
  const std::vector<float> gradient{1, -1, 1, 1, 0, 0, 0, 0, 100, 1, 1, 1};
  for (std::size_t worker = 0; worker < 2; ++worker) {
    std::copy(gradient.begin(), gradient.end(), exchange.gradient(worker).begin());
    exchange.encode(worker, 0, settings.density);
  }
  BoundChecks checks(tensors, 2, settings.density);
  checks.look(exchange);
  REQUIRE(checks.counts().size() == 4);
  CHECK(checks.counts()[0].tensor == "all");
  CHECK(checks.counts()[0].failures == 0);
  CHECK(checks.counts()[1].checks == 2);
  CHECK(checks.counts()[1].failures == 2);
  CHECK(checks.counts()[1].worst_excess == Approx(0.75 - 0.5625));
  CHECK(checks.counts()[2].checks == 0);
  CHECK(checks.counts()[3].failures == 0);
}
