#include "sim/lab/exchange.hpp"

#include <catch2/catch.hpp>
#include <numeric>

using namespace gradcast;
using namespace gradcast::lab;

namespace {

const std::vector<ParameterTensor> kTensors{{"a", 4}, {"b", 4}};

TrainingSettings settings_of(int workers) {
  TrainingSettings settings;
  settings.compressor = find_compressor("topk");
  settings.workers = workers;
  return settings;
}

struct Exchanged {
  std::vector<float> mean = std::vector<float>(8);
  std::vector<std::vector<float>> residuals;
  std::vector<std::vector<float>> u;
};

Exchanged exchanged(const TrainingSettings& settings, double density,
                    const std::vector<std::vector<float>>& gradients, int iterations = 1) {
  Exchange exchange(settings, kTensors);
  Team team(1);
  Exchanged result;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    result.u.clear();
    for (std::size_t worker = 0; worker < gradients.size(); ++worker) {
      std::copy(gradients[worker].begin(), gradients[worker].end(),
                exchange.gradient(worker).begin());
      exchange.encode(worker, iteration, density);
      result.u.push_back(exchange.last_u(worker));
    }
    exchange.combine(density, team, result.mean);
  }
  for (const WorkerMemory& memory : exchange.memories())
    result.residuals.push_back(memory.residual);
  return result;
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("the mean is a P-th of the sum of what each sent; the rest waits in residuals", "[lab]") {
  const Exchanged got = exchanged(settings_of(2), 0.25,  // k = 2
                                  {{8, 1, 0, 0, 6, 0, 0, 0}, {4, 0, 0, 0, 1, 0, 0, -5}});
  CHECK(got.mean == Floats{6, 0, 0, 0, 3, 0, 0, -2.5f});
  CHECK(got.residuals[0] == Floats{0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(got.residuals[1] == Floats{0, 0, 0, 0, 1, 0, 0, 0});
  CHECK(got.u[1] == Floats{4, 0, 0, 0, 1, 0, 0, -5});
}

TEST_CASE("a fixed threshold sends what is above it, of each worker another number", "[lab]") {
  TrainingSettings settings = settings_of(2);
  settings.compressor = find_compressor("threshold");
  settings.parameter = 4;
  const Exchanged got =
      exchanged(settings, 1, {{8, 1, 0, 0, 6, 0, 0, 0}, {4, 0, 0, 0, 1, 0, 0, -5}});
  CHECK(got.mean == Floats{4, 0, 0, 0, 3, 0, 0, -2.5f});
  CHECK(got.residuals[1] == Floats{4, 0, 0, 0, 1, 0, 0, 0});  // 4 is not above 4
}

// bf16 has 7 bits of fraction: the nearest to 257 are 256 and 258, and 256 is the even one.
TEST_CASE("values of 16 bits are rounded, and the residual has what rounding lost", "[lab]") {
  TrainingSettings settings = settings_of(1);
  settings.value_type = ValueType::Bf16;
  const std::vector<Floats> gradients{{257, 0, 0, 0, 0, 0, 0, 0}};
  const Exchanged once = exchanged(settings, 0.125, gradients);
  CHECK(once.mean[0] == 256);
  CHECK(once.residuals[0][0] == 1);
  CHECK(exchanged(settings, 0.125, gradients, 2).mean[0] == 258);  // 257 + 1
}

TEST_CASE("without feedback what is not sent is lost", "[lab]") {
  TrainingSettings settings = settings_of(1);
  const std::vector<Floats> gradients{{8, 5, 0, 0, 0, 0, 0, 0}};
  CHECK(exchanged(settings, 0.125, gradients, 2).mean[1] == 10);  // 5 + 5 is more than 8
  settings.feedback = false;
  CHECK(exchanged(settings, 0.125, gradients, 2).mean[0] == 8);
  CHECK(exchanged(settings, 0.125, gradients, 2).mean[1] == 0);
}

TEST_CASE("selection by layer takes of each tensor its own k", "[lab]") {
  TrainingSettings settings = settings_of(1);
  settings.scope = Scope::Layer;
  const Exchanged got = exchanged(settings, 0.25, {{9, 8, 7, 6, 1, 2, 3, 4}});
  CHECK(got.mean == Floats{9, 0, 0, 0, 0, 0, 0, 4});
}

TEST_CASE("gTop-k keeps k of the sum, and workers take back what nobody keeps", "[lab]") {
  TrainingSettings settings = settings_of(3);
  settings.combination = Combination::GTopK;
  // k = 1. The first two send 8 and 7: 8 is kept. The third sends 9 elsewhere: 9 is kept.
  const Exchanged got =
      exchanged(settings, 0.125,
                {{8, 0, 0, 0, 0, 0, 0, 0}, {0, 7, 0, 0, 0, 0, 0, 0}, {0, 0, 9, 0, 0, 0, 0, 0}});
  CHECK(got.mean == Floats{0, 0, 3, 0, 0, 0, 0, 0});
  CHECK(got.residuals[0] == Floats{8, 0, 0, 0, 0, 0, 0, 0});
  CHECK(got.residuals[1] == Floats{0, 7, 0, 0, 0, 0, 0, 0});
  CHECK(got.residuals[2] == Floats(8, 0));
}

TEST_CASE("the global selection takes the places where the sum is largest", "[lab]") {
  TrainingSettings settings = settings_of(2);
  settings.combination = Combination::Global;
  // No worker's own largest is at place 1, and there the sum is largest: 5 + 5.
  const Exchanged got =
      exchanged(settings, 0.125, {{8, 5, 0, 0, 0, 0, 0, 0}, {0, 5, 8, 0, 0, 0, 0, 0}});
  CHECK(got.mean == Floats{0, 5, 0, 0, 0, 0, 0, 0});
  CHECK(got.residuals[0] == Floats{8, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("with momentum correction a worker accumulates before it sends", "[lab]") {
  TrainingSettings settings = settings_of(1);
  settings.momentum = 0.5;
  settings.momentum_correction = true;
  const std::vector<Floats> gradients{{8, 1, 0, 0, 0, 0, 0, 0}};
  // Velocity 8, then 0.5 x 8 + 8 = 12. Place 1 waits: 1, then 1 + 1.5.
  CHECK(exchanged(settings, 0.125, gradients, 2).mean[0] == 12);
  CHECK(exchanged(settings, 0.125, gradients, 2).residuals[0][1] == 2.5f);
  settings.masking = true;  // the velocity of what was sent begins anew
  CHECK(exchanged(settings, 0.125, gradients, 2).mean[0] == 8);
}

TEST_CASE("a team does every item once, and passes on what an item throws", "[lab]") {
  Team team(3);
  std::vector<int> times(100);
  for (int round = 0; round < 20; ++round)
    team.each(times.size(), [&](std::size_t, std::size_t item) { ++times[item]; });
  CHECK(std::count(times.begin(), times.end(), 20) == 100);
  CHECK_THROWS_WITH(team.each(5,
                              [](std::size_t, std::size_t item) {
                                if (item == 3) throw std::runtime_error("item 3");
                              }),
                    "item 3");
  team.each(0, [](std::size_t, std::size_t) {});
}
