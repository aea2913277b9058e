// Exchanges in which something of every element is sent: casts, quantisers, PowerSGD.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/lab/exchange.hpp"
#include "tests/sim/lab/trained_compressors.hpp"

using namespace gradcast;
using namespace gradcast::lab;

namespace {

using Floats = std::vector<float>;

/// Two vectors.
const std::vector<ParameterTensor> kVectors{{"a", 4}, {"b", 4}};
/// A matrix of 2 x 3, and a vector.
const std::vector<ParameterTensor> kMatrix{{"m", 6, ParameterKind::Weight, 3, 3}, {"v", 2}};

TrainingSettings settings_of(const char* compressor, int workers) {
  TrainingSettings settings;
  choose_compressor(settings, compressor);
  settings.workers = workers;
  return settings;
}

struct Exchanged {
  Floats mean = Floats(8);
  std::vector<WorkerMemory> memories;
  std::vector<Floats> u;
};

Exchanged exchanged(const TrainingSettings& settings, const std::vector<Floats>& gradients,
                    int iterations = 1, const std::vector<ParameterTensor>& tensors = kVectors) {
  Exchange exchange(settings, tensors);
  Team team(1);
  Exchanged result;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    result.u.clear();
    for (std::size_t worker = 0; worker < gradients.size(); ++worker) {
      std::copy(gradients[worker].begin(), gradients[worker].end(),
                exchange.gradient(worker).begin());
      exchange.encode(worker, iteration, 1);
      result.u.push_back(exchange.last_u(worker));
    }
    exchange.combine(1, team, result.mean);
  }
  result.memories = exchange.memories();
  return result;
}

}  // namespace

// 60,000 + 60,000 is no half; 30,000 + 30,000 is.
TEST_CASE("casts send a P-th, so that their sum is the mean and does not overflow", "[lab]") {
  const Floats gradient{60000, 2, 0, -1, 0.5f, 0, 0, 0};
  for (const char* cast : {"fp16", "bf16"}) {
    CAPTURE(cast);
    const Exchanged got = exchanged(settings_of(cast, 2), {gradient, gradient});
    CHECK(got.mean[0] == Approx(60000).epsilon(1e-2));
    CHECK(Floats(got.mean.begin() + 1, got.mean.end()) ==
          Floats(gradient.begin() + 1, gradient.end()));
    CHECK(got.memories[0].residual.empty());
    CHECK(got.u[0][1] == 1);
  }
}

// 2049 / 1 is halfway between the halves 2048 and 2050: 2048 is sent, 1 stays; then 2050 is sent.
TEST_CASE("a cast keeps what it rounds off where it is asked to", "[lab]") {
  TrainingSettings settings = settings_of("fp16", 1);
  CHECK(exchanged(settings, {{2049, 0, 0, 0, 0, 0, 0, 0}}, 2).mean[0] == 2048);
  settings.feedback = true;
  const Exchanged got = exchanged(settings, {{2049, 0, 0, 0, 0, 0, 0, 0}}, 2);
  CHECK(got.mean[0] == 2050);
  CHECK(got.u[0][0] == 2050);
  CHECK(got.memories[0].residual[0] == 0);
}

TEST_CASE("signSGD's vote is the step: it is not divided by the workers", "[lab]") {
  const Exchanged got = exchanged(
      settings_of("signsgd", 3),
      {{5, -1, 2, -1, 1, 1, 1, 1}, {1, -7, -1, 1, 1, 1, 1, 1}, {-9, 3, 1, -1, 1, 1, 1, -1}});
  CHECK(got.mean == Floats{1, -1, 1, -1, 1, 1, 1, 1});
}

// Mean magnitude of the whole model: (4 x 1 + 4 x 3) / 8 = 2; of the tensors 1 and 3.
TEST_CASE("a quantiser has scales of the model, or of each tensor", "[lab]") {
  TrainingSettings settings = settings_of("efsignsgd", 1);
  const std::vector<Floats> gradients{{1, -1, 1, 1, 3, 3, -3, 3}};
  const Exchanged merged = exchanged(settings, gradients);
  CHECK(merged.mean == Floats{2, -2, 2, 2, 2, 2, -2, 2});
  CHECK(merged.memories[0].residual == Floats{-1, 1, -1, -1, 1, 1, -1, 1});
  settings.scope = Scope::Layer;
  CHECK(exchanged(settings, gradients).mean == gradients[0]);
}

// Worker 1 sends 1 x the signs, worker 2 3 x: the mean of them. Then the residuals are added.
TEST_CASE("what quantisers send is added up, and a P-th of it received", "[lab]") {
  const TrainingSettings settings = settings_of("efsignsgd", 2);
  const std::vector<Floats> gradients{{1, 1, 1, 1, 1, 1, 1, -1}, {3, -3, 3, 3, 3, 3, 3, 3}};
  CHECK(exchanged(settings, gradients).mean == Floats{2, -1, 2, 2, 2, 2, 2, 1});
  // (8 + 7 x 0) / 8 = 1: 7 waits at the first, and -1 at the others.
  const std::vector<Floats> uneven{{8, 0, 0, 0, 0, 0, 0, 0}, Floats(8)};
  const Exchanged got = exchanged(settings, uneven, 2);
  CHECK(got.u[0] == Floats{15, -1, -1, -1, -1, -1, -1, -1});
  TrainingSettings lost = settings;
  lost.feedback = false;
  CHECK(exchanged(lost, uneven, 2).u[0] == uneven[0]);
}

TEST_CASE("workers draw differently, unless they share a seed, and anew each iteration", "[lab]") {
  for (const char* name : {"qsgd", "natural", "terngrad"}) {
    CAPTURE(name);
    TrainingSettings settings = settings_of(name, 2);
    if (settings.compressor->parameter.name == "levels") settings.parameter = 1;
    Floats gradient(400, 0.3f);
    for (std::size_t i = 0; i < 200; ++i) gradient[i] = -0.7f;
    gradient[0] = 1;
    const std::vector<ParameterTensor> tensors{{"a", 400}};
    const auto mean = [&](const std::vector<Floats>& gradients, int iterations) {
      Exchange exchange(settings, tensors);
      Team team(1);
      Floats result(400);
      for (int iteration = 0; iteration < iterations; ++iteration) {
        for (std::size_t worker = 0; worker < 2; ++worker) {
          std::copy(gradients[worker].begin(), gradients[worker].end(),
                    exchange.gradient(worker).begin());
          exchange.encode(worker, iteration, 1);
        }
        exchange.combine(1, team, result);
      }
      return result;
    };
    const Floats first = mean({gradient, Floats(400)}, 1);
    const Floats second = mean({Floats(400), gradient}, 1);
    CHECK(first != second);
    CHECK(mean({gradient, Floats(400)}, 2) != first);
    settings.shared_seed = true;
    CHECK(mean({gradient, Floats(400)}, 1) == mean({Floats(400), gradient}, 1));
  }
}

// Norms 5 and 10 of two elements; with 10 levels of the larger a level is 1, so that nothing is
// rounded: (3 + 6) / 2 and (-4 - 8) / 2. Each by itself would say the same; of 1 level of norm 10
// what arrives is a multiple of 10 / 2, whoever sent it.
TEST_CASE("workers that share a scale send levels of the largest", "[lab]") {
  TrainingSettings settings = settings_of("qsgd", 2);
  settings.shared_scale = true;
  settings.parameter = 10;
  const std::vector<Floats> gradients{{3, -4, 0, 0, 0, 0, 0, 0}, {6, -8, 0, 0, 0, 0, 0, 0}};
  CHECK(exchanged(settings, gradients).mean == Floats{4.5f, -6, 0, 0, 0, 0, 0, 0});
  settings.parameter = 1;
  settings.feedback = true;
  const Exchanged got = exchanged(settings, gradients);
  for (std::size_t worker = 0; worker < 2; ++worker)
    for (std::size_t i = 0; i < 8; ++i) {
      const float sent = gradients[worker][i] - got.memories[worker].residual[i];
      CHECK((sent == 0.0f || std::fabs(sent) == 10.0f));
    }
  for (std::size_t i = 0; i < 8; ++i) {
    const float rests = got.memories[0].residual[i] + got.memories[1].residual[i];
    CHECK(2 * got.mean[i] + rests == gradients[0][i] + gradients[1][i]);
  }
}

// Each tensor has its scale: the first's norm is 5, the second's 10, and 5 levels of each.
TEST_CASE("tensors share scales with themselves alone", "[lab]") {
  TrainingSettings settings = settings_of("qsgd", 2);
  settings.shared_scale = true;
  settings.scope = Scope::Layer;
  settings.parameter = 5;
  const Floats gradient{3, -4, 0, 0, 6, 8, 0, 0};
  CHECK(exchanged(settings, {gradient, Floats(8)}).mean == Floats{1.5f, -2, 0, 0, 3, 4, 0, 0});
}

// Rank 1 of a matrix of 2 x 3: 2 + 3 numbers, and the vector's 2: 28 bytes. PyTorch would not
// compress it: (2 + 3) x 1 x 2 = 10 is not below 6.
TEST_CASE("PowerSGD sends thin matrices of a matrix, and vectors as they are", "[lab]") {
  TrainingSettings settings = settings_of("powersgd", 2);
  settings.parameter = 1;
  CHECK(Exchange(settings, kMatrix).wanted(1) == 8);
  settings.mode = Mode::Paper;
  CHECK(Exchange(settings, kMatrix).wanted(1) == 7);
  CHECK(Exchange(settings, kMatrix).bytes_of(7) == 28);
  // Both of rank 1, with a mean of rank 1: it arrives whole, and the workers' own rests add up to
  // nothing.
  const std::vector<Floats> gradients{{1, 2, 3, 2, 4, 6, 8, 0}, {3, 6, 9, 6, 12, 18, 0, 4}};
  const Exchanged got = exchanged(settings, gradients, 1, kMatrix);
  const Floats mean{2, 4, 6, 4, 8, 12, 4, 2};
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    CHECK(got.mean[i] == Approx(mean[i]).epsilon(1e-5));
    const float rest = i < 6 ? gradients[0][i] - mean[i] : 0;
    CHECK(got.memories[0].residual[i] == Approx(rest).margin(1e-4));
    CHECK(got.memories[1].residual[i] == Approx(-rest).margin(1e-4));
  }
  CHECK(got.memories[0].query == got.memories[1].query);
  CHECK(got.memories[0].query.size() == 3);
}

// The matrix has rank 2 and is sent as rank 1. The rest comes later with feedback, and never
// without.
TEST_CASE("PowerSGD keeps what it does not send where it is asked to", "[lab]") {
  TrainingSettings settings = settings_of("powersgd", 1);
  settings.parameter = 1;
  settings.mode = Mode::Paper;
  const std::vector<Floats> gradients{{4, 0, 0, 0, 1, 0, 1, 1}};
  const auto sum_at = [&](std::size_t place) {
    Exchange exchange(settings, kMatrix);
    Team team(1);
    Floats mean(8);
    double sum = 0;
    for (int iteration = 0; iteration < 40; ++iteration) {
      std::copy(gradients[0].begin(), gradients[0].end(), exchange.gradient(0).begin());
      exchange.encode(0, iteration, 1);
      exchange.combine(1, team, mean);
      sum += mean[place];
    }
    return sum;
  };
  CHECK(sum_at(4) > 30);  // at most 40
  settings.feedback = false;
  CHECK(sum_at(4) < 5);
  CHECK(sum_at(0) == Approx(160).epsilon(0.1));
}

// 8 elements. fp16: 4 words. natural: 9 x 8 = 72 bits, 3 words. signsgd: 1 word; onebit: 1 and 2
// means. Top-k of 2 elements: 2 values and 2 indices. Rand-k with one seed: 2 values.
TEST_CASE("bytes are those of values, indices, codes and scales", "[lab]") {
  const auto bytes = [](const char* name, double elements, bool shared = false) {
    TrainingSettings settings = settings_of(name, 2);
    settings.shared_seed = shared;
    return Exchange(settings, kVectors).bytes_of(elements);
  };
  CHECK(bytes("dense", 8) == 32);
  CHECK(bytes("fp16", 8) == 16);
  CHECK(bytes("natural", 8) == 12);
  CHECK(bytes("signsgd", 8) == 4);
  CHECK(bytes("onebit", 8) == 12);
  CHECK(bytes("topk", 2) == 16);
  CHECK(bytes("randk", 2) == 16);
  CHECK(bytes("randk", 2, true) == 8);
  TrainingSettings settings = settings_of("signsgd", 2);
  settings.scope = Scope::Layer;
  CHECK(Exchange(settings, kVectors).bytes_of(8) == 8);  // a word each
  // 127 levels of 2 workers take lanes of 16 bits, and each tells its norm.
  settings = settings_of("qsgd", 2);
  settings.shared_scale = true;
  CHECK(Exchange(settings, kVectors).bytes_of(8) == 16 + 4);
}
