#include "sim/engine/replicas.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/base/statistics.hpp"

namespace gradcast {
Scenario replica_of(const Scenario& scenario, const Noise& noise, int replica) {
  Scenario drawn = scenario;
  const auto number = static_cast<std::uint64_t>(replica);
  const auto factor = [&](double deviation, Draw what, int index) {
    return lognormal_factor(deviation,
                            {noise.seed, number, what, static_cast<std::uint64_t>(index)});
  };
  if (noise.compute > 0) {
    drawn.cluster.rank_spread = 0;  // the draws have a slowest rank of their own
    drawn.rank_speeds.resize(static_cast<std::size_t>(scenario.cluster.ranks()), 1);
    for (int rank = 0; rank < scenario.cluster.ranks(); ++rank)
      drawn.rank_speeds[static_cast<std::size_t>(rank)] /=
          factor(noise.compute, Draw::Compute, rank);
  }
  if (noise.network > 0) {
    if (!scenario.cluster.platform_file.empty())
      throw ValueError("network jitter applies to the NICs of a .csv cluster, but '" +
                       scenario.cluster.platform_file.string() + "' has links of its own");
    drawn.cluster.nic_slowness.assign(static_cast<std::size_t>(scenario.cluster.nodes), 1);
    for (int node = 0; node < scenario.cluster.nodes; ++node)
      drawn.cluster.nic_slowness[static_cast<std::size_t>(node)] =
          factor(noise.network, Draw::Network, node);
  }
  // The numbers are far apart, so that no replica of one seed equals one of the next seed.
  drawn.seed = scenario.seed + number * 0x9e3779b97f4a7c15;
  return drawn;
}

Replicated run_replicas(const Scenario& scenario, const Plan& plan, const Engine& engine,
                        const Noise& noise, int replicas) {
  constexpr Seconds IterationResult::*kTimes[] = {
      &IterationResult::iteration,     &IterationResult::forward,
      &IterationResult::backward,      &IterationResult::encode,
      &IterationResult::communication, &IterationResult::exposed_communication,
      &IterationResult::decode,        &IterationResult::update,
      &IterationResult::overhead,      &IterationResult::wait,
      &IterationResult::hidden_codec};
  Replicated all;
  std::vector<Seconds> times;
  const bool draws = noise.any() || scenario.count_spread > 0;
  for (int i = 0; i < replicas; ++i) {
    const IterationResult result =
        draws ? run(replica_of(scenario, noise, i), engine)
              : summarize(plan, engine.run(plan, scenario.cluster, scenario.world));
    if (i == 0) all.mean = result;
    if (!result.lost.empty()) continue;
    if (times.empty())
      all.mean = result;
    else
      for (const auto time : kTimes) all.mean.*time += result.*time;
    times.push_back(result.iteration);
  }
  for (const auto time : kTimes) all.mean.*time /= std::max<double>(1, double(times.size()));
  all.spread = spread_of(times, replicas - static_cast<int>(times.size()));
  return all;
}

Spread spread_of(std::vector<Seconds> times, int lost) {
  Spread spread;
  spread.replicas = static_cast<int>(times.size()) + lost;
  spread.lost = lost;
  if (times.empty()) return spread;
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(times.size());
  spread.mean = std::accumulate(times.begin(), times.end(), Seconds{0}) / count;
  const auto quantile = [&](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * count));
    return times[std::max<std::size_t>(rank, 1) - 1];
  };
  spread.p05 = quantile(0.05);
  spread.median = quantile(0.5);
  spread.p95 = quantile(0.95);
  double squares = 0;
  for (const Seconds time : times) squares += std::pow((time - spread.mean).count(), 2);
  Seconds half{0};
  if (times.size() > 1)
    half = Seconds{t_quantile(0.975, static_cast<double>(times.size() - 1)) *
                   std::sqrt(squares / (count - 1) / count)};
  spread.low = spread.mean - half;
  spread.high = spread.mean + half;
  return spread;
}

}  // namespace gradcast
