#include "sim/forecast/verdict.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

namespace {

/// 1 s of physics, to which a stack adds so many seconds, known to a factor of exp(deviation).
ForecastDoubt with_term(const std::string& name, double seconds, double deviation) {
  SoftwareSpread spread;
  spread.physics = 1;
  spread.forecast = 1 + seconds;
  spread.terms = {{name, seconds, deviation}};
  return {{}, spread};
}

ForecastDoubt sure(double seconds) {
  SoftwareSpread spread;
  spread.physics = spread.forecast = spread.compute = seconds;
  return {{}, spread};
}

}  // namespace

TEST_CASE("A choice pays only where the whole interval of its speedup lies above 1", "[verdict]") {
  CHECK(pays_by(RatioInterval{1.01, 1.30}) == Pays::Yes);
  CHECK(pays_by(RatioInterval{0.99, 1.30}) == Pays::CannotBeTold);
  CHECK(pays_by(RatioInterval{0.70, 1.01}) == Pays::CannotBeTold);
  CHECK(pays_by(RatioInterval{0.70, 0.99}) == Pays::No);
  CHECK(pays_by(RatioInterval{1.00, 1.30}) == Pays::CannotBeTold);  // the ends belong to it
  CHECK(pays_by(RatioInterval{0.70, 1.00}) == Pays::CannotBeTold);
  CHECK(pays_by(std::nullopt) == Pays::CannotBeTold);
}

TEST_CASE("A choice whose software costs are not known may surely not pay, but never surely pay",
          "[verdict]") {
  CHECK(pays_by(RatioInterval{1.5, 2.0}, false) == Pays::CannotBeTold);
  CHECK(pays_by(RatioInterval{0.5, 0.9}, false) == Pays::No);
}

TEST_CASE("A purchase that gains less than 5 % surely does not pay", "[verdict]") {
  const auto pays = [](std::optional<RatioInterval> speedup) {
    return pays_by(speedup, true, kWorthBuyingSpeedup);
  };
  CHECK(pays(RatioInterval{1.0, 1.04}) == Pays::No);
  CHECK(pays(RatioInterval{1.001, 1.04}) == Pays::No);
  CHECK(pays(RatioInterval{0.9, 1.06}) == Pays::CannotBeTold);
  CHECK(pays(RatioInterval{1.001, 1.06}) == Pays::Yes);
  CHECK(pays(std::nullopt) == Pays::CannotBeTold);
}

TEST_CASE("A choice of two pays if one of them does", "[verdict]") {
  CHECK(either_of(Pays::No, Pays::Yes) == Pays::Yes);
  CHECK(either_of(Pays::CannotBeTold, Pays::Yes) == Pays::Yes);
  CHECK(either_of(Pays::No, Pays::CannotBeTold) == Pays::CannotBeTold);
  CHECK(either_of(Pays::CannotBeTold, Pays::No) == Pays::CannotBeTold);
  CHECK(either_of(Pays::No, Pays::No) == Pays::No);
}

TEST_CASE("The words of a verdict are read back", "[verdict]") {
  for (const Pays pays : {Pays::Yes, Pays::No, Pays::CannotBeTold})
    CHECK(pays_in(to_text(pays)) == pays);
  CHECK_FALSE(pays_in("pays"));
  CHECK(words_of({Pays::Yes, {}, ""}) == "surely pays");
  CHECK(words_of({Pays::CannotBeTold, {}, "a dense run"}) == "cannot be told: measure a dense run");
}

// Dense takes 2 s for sure. The compressor takes 1 + 0.5 s, where 0.5 s may be 0.5 x exp(2 x 0.1) =
// 0.61 s: at least 2 / 1.61 = 1.24 times as fast. With exp(2 x 1) = 7.4 it may be 3.7 s: 0.43
// times.
TEST_CASE("The wider a cost may be, the less is told, and that cost is to be measured",
          "[verdict]") {
  const ForecastDoubt dense = sure(2);
  const ForecastDoubt narrow = with_term("encode_per_call of topk by torch", 0.5, 0.1);
  const ForecastDoubt wide = with_term("encode_per_call of topk by torch", 0.5, 1);
  const Verdict told = verdict_on("topk", {Seconds{1.5}, narrow}, {Seconds{2}, dense});
  CHECK(words_of(told) == "surely pays");
  CHECK(told.speedup->low == Approx(1.24).epsilon(0.02));
  const Verdict open = verdict_on("topk", {Seconds{1.5}, wide}, {Seconds{2}, dense});
  CHECK(words_of(open) == "cannot be told: measure one run with topk on this cluster");
}

// A cast of gradients that have two bytes already: it may come out faster by what nobody knows.
TEST_CASE("A run that sends as many bytes as the dense one cannot pay", "[verdict]") {
  ForecastDoubt its = with_term("encode_per_call of fp16", 0.5, 1);
  const ForecastDoubt dense = sure(2);
  const auto told = [&] {
    return words_of(verdict_on("fp16", {Seconds{1.5}, its}, {Seconds{2}, dense}));
  };
  CHECK(told().starts_with("cannot be told"));
  its.spread->saves_nothing = true;
  CHECK(told() == "surely does not pay");
  const Verdict verdict = verdict_on("fp16", {Seconds{1.5}, its}, {Seconds{2}, dense});
  CHECK(verdict.speedup->high < 1);
}

TEST_CASE("What to measure is the run that holds the widest term", "[verdict]") {
  const ForecastDoubt none = sure(1);
  const auto first = [&](const ForecastDoubt& its, const ForecastDoubt& other) {
    return measure_first("topk", {Seconds{1.5}, its}, {Seconds{1.5}, other});
  };
  CHECK(first(with_term("costs of topk", 0.5, 1), none).starts_with("the kernels of topk"));
  CHECK(first(with_term("compute of some-trace", 0.5, 1), none) ==
        "one iteration of one GPU alone");
  CHECK(first(none, with_term("per_collective_latency", 0.5, 1)) == "a dense run on this cluster");
  CHECK(first(none, with_term("link of 25gbe: sockets", 0.5, 1)) ==
        "what this cluster's links reach (nccl-tests, gradcast import)");
  CHECK(first(none, with_term("link of 25gbe: sockets by gloo", 0.5, 1)) ==
        "a dense run on this cluster");
  CHECK(first({}, {}) == "a dense run and one with topk on this cluster");
}

// Runs as fast as each other: the low end of the speedup decides, where the dense run takes less.
// Its link of 0.5 s takes up to e^1 times as long, and never less. The other term may take e^-0.9
// times 0.5 s, 0.30 s less.
TEST_CASE("A part of physics that may only take longer moves a run to one side alone",
          "[verdict]") {
  ForecastDoubt doubt = sure(1);
  SpreadTerm link{"link of 25gbe: sockets", 0.5, 0.5};
  link.of_physics = true;
  doubt.spread->terms = {link, {"per_collective_latency", 0.5, 0.45}};
  CHECK(measure_first("topk", {Seconds{1}, sure(1)}, {Seconds{1}, doubt}) ==
        "a dense run on this cluster");
}

// Both runs have the same overhead: it moves neither past the other.
TEST_CASE("A term that both runs share tells nothing of which is faster", "[verdict]") {
  const ForecastDoubt shared = with_term("per_iteration_overhead", 0.5, 1);
  ForecastDoubt its = shared;
  its.spread->terms.push_back({"encode_per_call of topk", 0.1, 0.5});
  CHECK(measure_first("topk", {Seconds{1.5}, its}, {Seconds{1.5}, shared}) ==
        "one run with topk on this cluster");
}

TEST_CASE("Costs that nobody saw are counted, each once", "[verdict]") {
  CHECK(no_data_words("").empty());
  CHECK(no_data_words("nic_share") == "no data for 1 software cost here");
  CHECK(no_data_words("nic_share, rank_spread,nic_share") == "no data for 2 software costs here");
}
