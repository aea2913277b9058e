#include "sim/lab/training.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "sim/base/error.hpp"
#include "sim/lab/checkpoint.hpp"
#include "tests/sim/lab/trained_compressors.hpp"

using namespace gradcast;
using namespace gradcast::lab;
using Catch::Contains;

namespace {

TrainingSettings small(const char* compressor) {
  TrainingSettings settings;
  settings.network = "fnn-3";
  choose_compressor(settings, compressor);
  settings.density = settings.selects() ? 0.01 : 1;
  settings.workers = 3;
  settings.batch = 8;
  settings.epochs = 1;
  settings.evaluate_every = 2;
  return settings;
}

/// The first of the made samples: a few iterations.
Dataset few_samples() {
  static const Dataset all = made_dataset();
  Dataset dataset = all;
  const auto keep = [&](Samples& samples, std::size_t count) {
    samples.labels.resize(count);
    samples.bytes.resize(count * dataset.shape.size());
  };
  keep(dataset.training, 100);  // 33 a worker: 4 iterations, a sample is left
  keep(dataset.test, 40);
  return dataset;
}

TrainingState trained(const TrainingSettings& settings, std::size_t threads) {
  const Dataset dataset = few_samples();
  Training training(settings, dataset, threads);
  while (!training.finished()) training.step();
  return training.state();
}

TrainingState trained_for(const TrainingSettings& settings, int iterations) {
  const Dataset dataset = few_samples();
  Training training(settings, dataset, 1);
  for (int i = 0; i < iterations; ++i) training.step();
  return training.state();
}

}  // namespace

TEST_CASE("any number of threads gives the same bits, for every compressor", "[lab]") {
  for (const std::string& name : trained_compressors()) {
    CAPTURE(name);
    const TrainingState one = trained(small(name.c_str()), 1);
    const TrainingState two = trained(small(name.c_str()), 2);
    CHECK(checkpoint_bytes("", one) == checkpoint_bytes("", two));
    CHECK(one.iteration == 4);
    CHECK(one.evaluations.size() == 2);
    TrainingSettings other = small(name.c_str());
    other.seed = 2;
    CHECK(trained(other, 1).parameters != one.parameters);
  }
}

TEST_CASE("a training goes on from its state as if it had never stopped", "[lab]") {
  TrainingSettings settings = small("topk");
  settings.momentum_correction = settings.masking = true;
  settings.epochs = 2;
  settings.density_warmup = 2;
  const Dataset dataset = few_samples();
  Training whole(settings, dataset, 1);
  Training first(settings, dataset, 1);
  for (int i = 0; i < 3; ++i) first.step();
  const std::string kept = checkpoint_bytes("its settings", first.state());
  Training second(settings, dataset, 1);
  second.resume(checkpoint_state("x", kept, "its settings", second.parameters(), 3));
  while (!whole.finished()) whole.step();
  while (!second.finished()) second.step();
  CHECK(checkpoint_bytes("", second.state()) == checkpoint_bytes("", whole.state()));

  const auto read = [&](const std::string& bytes, const std::string& identity, std::size_t size) {
    return checkpoint_state("x", bytes, identity, size, 3);
  };
  CHECK_THROWS_WITH(read(kept, "other settings", second.parameters()),
                    Contains("x: is of another training: its settings"));
  CHECK_THROWS_WITH(read(kept, "its settings", 7), Contains("is of another network"));
  CHECK_THROWS_WITH(read("nonsense", "its settings", 7), Contains("is no checkpoint"));
  TrainingState foreign = first.state();
  foreign.memories[2].query.resize(5);
  CHECK_THROWS_AS(second.resume(foreign), ValueError);
  foreign = first.state();
  foreign.memories[1].residual.clear();
  CHECK_THROWS_AS(second.resume(foreign), ValueError);
  std::string damaged = kept;
  damaged[damaged.size() / 2] ^= 1;
  CHECK_THROWS_AS(read(damaged, "its settings", second.parameters()), DataError);
  CHECK_THROWS_AS(read(kept.substr(0, kept.size() - 9), "its settings", second.parameters()),
                  DataError);
}

TEST_CASE("a training with any compressor goes on from its state", "[lab]") {
  const Dataset dataset = few_samples();
  for (const std::string& name : trained_compressors()) {
    CAPTURE(name);
    const TrainingSettings settings = small(name.c_str());
    Training first(settings, dataset, 1);
    for (int i = 0; i < 2; ++i) first.step();
    const std::string kept = checkpoint_bytes("its settings", first.state());
    Training second(settings, dataset, 1);
    second.resume(checkpoint_state("x", kept, "its settings", second.parameters(), 3));
    while (!second.finished()) second.step();
    CHECK(checkpoint_bytes("", second.state()) == checkpoint_bytes("", trained(settings, 1)));
  }
}

// Three workers: 33 of a hundred samples each. fp16 rounds by 2^-12 of a gradient, so four steps
// end within a thousandth of what they change. PowerSGD of full rank sends all but rounding.
TEST_CASE("what sends almost everything trains almost as dense does", "[lab]") {
  const std::vector<float> begun = trained_for(small("dense"), 0).parameters;
  const std::vector<float> dense = trained(small("dense"), 1).parameters;
  const auto distance = [](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += (double{a[i]} - double{b[i]}) * (double{a[i]} - double{b[i]});
    return std::sqrt(sum);
  };
  const double way = distance(begun, dense);
  REQUIRE(way > 0);
  TrainingSettings whole = small("powersgd");
  whole.mode = Mode::Paper;
  whole.parameter = 200;
  CHECK(distance(trained(whole, 1).parameters, dense) < 1e-3 * way);
  CHECK(distance(trained(small("fp16"), 1).parameters, dense) < 1e-3 * way);
  CHECK(distance(trained(small("bf16"), 1).parameters, dense) < 1e-2 * way);
  // Signs alone step elsewhere.
  CHECK(distance(trained(small("signsgd"), 1).parameters, dense) > way);
}

// Four iterations an epoch, a look at every third. One epoch is looked at after 3 and at its end,
// 4; two after 3, 6 and 8.
TEST_CASE(
    "more epochs than a kept training had are looked at as if they had been asked for at once",
    "[lab]") {
  TrainingSettings settings = small("topk");
  settings.evaluate_every = 3;
  const Dataset dataset = few_samples();
  Training shorter(settings, dataset, 1);
  while (!shorter.finished()) shorter.step();
  REQUIRE(shorter.evaluations().back().iteration == 4);
  settings.epochs = 2;
  Training longer(settings, dataset, 1);
  longer.resume(shorter.state());
  Training whole(settings, dataset, 1);
  while (!longer.finished()) longer.step();
  while (!whole.finished()) whole.step();
  CHECK(longer.evaluations().size() == 3);
  CHECK(checkpoint_bytes("", longer.state()) == checkpoint_bytes("", whole.state()));
}

TEST_CASE("a network for text learns what may follow a letter, with the same bits for any threads",
          "[lab]") {
  TrainingSettings settings = small("topk");
  settings.network = "char-lstm";
  settings.workers = 2;
  settings.batch = 16;
  settings.learning_rate = 1;
  settings.epochs = 2;
  settings.evaluate_every = 17;
  const Dataset dataset = made_text_dataset();
  const auto run = [&](std::size_t threads) {
    Training training(settings, dataset, threads);
    while (!training.finished()) training.step();
    return training.state();
  };
  settings.density = 0.1;
  const TrainingState one = run(1);
  CHECK(one.iteration == 2 * 17);  // 562 windows, 281 a worker, 16 a batch
  CHECK(checkpoint_bytes("", one) == checkpoint_bytes("", run(2)));
  // One of 20 letters by chance: 5 %.
  CHECK(one.evaluations.back().test_accuracy_percent > 15);
  CHECK(one.evaluations.back().train_loss < std::log(20.0));
}

TEST_CASE("a network is not given what it cannot learn from", "[lab]") {
  TrainingSettings settings = small("dense");
  const Dataset text = made_text_dataset();
  CHECK_THROWS_WITH(Training(settings, text, 1), "fnn-3 learns from images, and made has text");
  settings.network = "char-lstm";
  const Dataset images = few_samples();
  CHECK_THROWS_WITH(Training(settings, images, 1),
                    "char-lstm learns from text, and made has images");
}

TEST_CASE("one worker with density 1 does what dense does", "[lab]") {
  TrainingSettings settings = small("topk");
  settings.density = 1;
  settings.workers = 1;
  TrainingSettings dense = small("dense");
  dense.workers = 1;
  CHECK(trained(settings, 1).parameters == trained(dense, 1).parameters);
}

TEST_CASE("shards share no sample, and an epoch takes each of a shard at most once", "[lab]") {
  const Shards shards(1, 100, 3, 8);
  REQUIRE(shards.iterations_in_epoch() == 4);  // 33 / 8
  std::set<std::uint32_t> seen;
  for (int worker = 0; worker < 3; ++worker)
    for (int iteration = 0; iteration < 4; ++iteration)
      for (const std::uint32_t place : shards.batch_of(worker, iteration)) {
        CHECK(place < 100);
        CHECK(seen.insert(place).second);
      }
  CHECK(seen.size() == 3 * 4 * 8);
  CHECK(shards.batch_of(0, 0) != shards.batch_of(0, 4));  // the next epoch has another order
}

TEST_CASE("a dataset with less than a batch for each worker is refused", "[lab]") {
  TrainingSettings settings = small("dense");
  settings.batch = 34;
  const Dataset dataset = few_samples();
  CHECK_THROWS_WITH(Training(settings, dataset, 1),
                    Contains("3 workers with a batch of 34 need 102 samples, and made has 100"));
}

TEST_CASE("warm-ups rise and fall as their papers say", "[lab]") {
  TrainingSettings settings = small("topk");
  settings.density = 0.001;
  settings.density_warmup = 5;
  // Lin et al.: 25 %, 6.25 %, 1.5625 %, 0.4 %, 0.1 %: fifth roots of a thousandth.
  CHECK(density_at(settings, 0) == Approx(0.2512).epsilon(1e-3));
  CHECK(density_at(settings, 1) == Approx(0.0631).epsilon(1e-3));
  CHECK(density_at(settings, 4) == 0.001);
  CHECK(density_at(settings, 9) == 0.001);
  settings.learning_rate = 0.1;
  settings.learning_rate_warmup = 2;
  CHECK(learning_rate_at(settings, 0, 10) == Approx(0.1 / 20));
  CHECK(learning_rate_at(settings, 9, 10) == Approx(0.05));
  CHECK(learning_rate_at(settings, 19, 10) == Approx(0.1));
  CHECK(learning_rate_at(settings, 500, 10) == 0.1);
}
