#include "sim/breakeven/sentences.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;
using Catch::Contains;

namespace {

struct Root {
  double at;
  bool pays_above;
  std::optional<Stretch> interval{};
};

Finding found(const LookedAt& range, bool pays_at_start, const std::vector<Root>& roots = {}) {
  Finding finding;
  finding.range = range;
  finding.pays_at_start = pays_at_start;
  for (const Root& root : roots) {
    finding.roots.push_back({root.at, root.pays_above, "", root.interval});
    if (root.interval) finding.unsure.push_back(*root.interval);
    finding.fitted = finding.fitted || root.interval.has_value();
  }
  return finding;
}

constexpr LookedAt kRates{1e9, 400e9};
constexpr LookedAt kNodes{1, 64, true};
constexpr LookedAt kDensities{1e-4, 0.1};
constexpr LookedAt kCosts{0.01, 100};

Told told_of(Quantity over, const Finding& physics,
             const std::optional<Finding>& fitted = std::nullopt) {
  Told told;
  told.over = over;
  told.setting = "net on here (4 nodes of 4 GPUs)";
  told.compressor = "gaussian";
  told.against = "dense";
  told.gpus_per_node = 4;
  told.software = "here-fitted";
  told.physics = physics;
  told.fitted = fitted;
  return told;
}

std::string clause(Quantity over, const Finding& finding) {
  return clause_of(told_of(over, finding), finding);
}

const std::string kPays = "gaussian pays against dense ";

}  // namespace

TEST_CASE("a clause says on which side of a bandwidth it pays", "[breakeven]") {
  const auto rates = [](bool start, const std::vector<Root>& roots = {}) {
    return clause(Quantity::NicBandwidth, found(kRates, start, roots));
  };
  CHECK(rates(true, {{38.21e9, false}}) == kPays + "up to 38.2 Gb/s; above it does not");
  CHECK(rates(false, {{38.21e9, true}}) == kPays + "from 38.2 Gb/s on; below it does not");
  CHECK(rates(false, {{2e9, true}, {38.21e9, false}}) ==
        kPays + "between 2 and 38.2 Gb/s; below and above it does not");
  CHECK(rates(true, {{2e9, false}, {38.21e9, true}}) ==
        kPays + "up to 2 Gb/s and from 38.2 Gb/s on; in between it does not");
  CHECK(rates(true, {{2e9, false}, {5e9, true}, {10e9, false}, {38e9, true}}) ==
        kPays + "up to 2 Gb/s, between 5 and 10 Gb/s and from 38 Gb/s on, and nowhere else");
  CHECK(rates(true) == kPays + "throughout, from 1 Gb/s to 400 Gb/s");
  CHECK(rates(false) == "gaussian never pays against dense from 1 Gb/s to 400 Gb/s");
}

TEST_CASE("nodes come with their GPUs", "[breakeven]") {
  const auto nodes = [](bool start, const std::vector<Root>& roots) {
    return clause(Quantity::Nodes, found(kNodes, start, roots));
  };
  CHECK(nodes(false, {{3, true}}) == kPays + "from 3 nodes (12 GPUs) on; on fewer it does not");
  CHECK(nodes(true, {{1, false}}) == kPays + "up to 1 node (4 GPUs); on more it does not");
  CHECK(nodes(false, {{3, true}, {12, false}}) ==
        kPays + "between 3 and 12 nodes (12 and 48 GPUs); on fewer or more it does not");
  CHECK(nodes(false, {{3, true}, {3, false}}) ==
        kPays + "on 3 nodes (12 GPUs); on fewer or more it does not");
}

TEST_CASE("densities and kernel costs have words of their own", "[breakeven]") {
  CHECK(clause(Quantity::Density, found(kDensities, true, {{0.002, false}})) ==
        kPays + "up to density 0.002; above it does not");
  CHECK(clause(Quantity::KernelCost, found(kCosts, true, {{2.4, false}})) ==
        kPays + "with kernels up to 2.4 times as slow; with slower ones it does not");
  CHECK(clause(Quantity::KernelCost, found(kCosts, true, {{0.4, false}})) ==
        kPays + "with kernels at least 2.5 times as fast; with slower ones it does not");
  CHECK(between_in_words(Quantity::KernelCost, 0.25, 0.5, 4, 2) == "between 2 and 4 times as fast");
  CHECK(between_in_words(Quantity::KernelCost, 0.5, 3, 4, 2) ==
        "between 2 times as fast and 3 times as slow");
  CHECK(between_in_words(Quantity::NicBandwidth, 0.25e9, 3e9, 4, 2) ==
        "between 250 Mb/s and 3 Gb/s");
}

TEST_CASE("an interval is said, and where it is open", "[breakeven]") {
  const auto with = [](Quantity over, const LookedAt& range, double at, const Stretch& interval) {
    return clause(over, found(range, true, {{at, false, interval}}));
  };
  CHECK(with(Quantity::NicBandwidth, kRates, 38.2e9, {29.1e9, 51.2e9}) ==
        kPays + "up to 38.2 Gb/s (somewhere between 29 and 51 Gb/s); above it does not");
  CHECK(with(Quantity::NicBandwidth, kRates, 38.2e9, {29.1e9, 400e9, false, true}) ==
        kPays + "up to 38.2 Gb/s (29 Gb/s or more); above it does not");
  CHECK(with(Quantity::NicBandwidth, kRates, 38.2e9, {1e9, 51.2e9, true, false}) ==
        kPays + "up to 38.2 Gb/s (51 Gb/s or less); above it does not");
  CHECK(with(Quantity::NicBandwidth, kRates, 38.2e9, {1e9, 400e9, true, true}) ==
        kPays +
            "up to 38.2 Gb/s (nowhere in the range can the two be told apart); above it does "
            "not");
  CHECK(with(Quantity::Nodes, kNodes, 9, {6, 20}) ==
        kPays + "up to 9 nodes (36 GPUs; somewhere between 6 and 20 nodes); on more it does not");
  CHECK(with(Quantity::Nodes, kNodes, 2, {1, 2, true, false}) ==
        kPays + "up to 2 nodes (8 GPUs; 1 or 2 nodes); on more it does not");
  CHECK(with(Quantity::Nodes, kNodes, 9, {9, 9}) ==
        kPays + "up to 9 nodes (36 GPUs); on more it does not");
}

TEST_CASE("an answer without a root says how sure it is", "[breakeven]") {
  Finding finding = found(kRates, false);
  finding.fitted = true;
  const std::string never = "gaussian never pays against dense from 1 Gb/s to 400 Gb/s; ";
  CHECK(clause(Quantity::NicBandwidth, finding) ==
        never + "the difference is larger than the forecast's own error everywhere");
  finding.unsure = {{1e9, 400e9, true, true}};
  CHECK(clause(Quantity::NicBandwidth, finding) ==
        never + "but nowhere by more than the forecast's own error");
  finding.unsure = {{1e9, 5e9, true, false}};
  CHECK(clause(Quantity::NicBandwidth, finding) ==
        never + "but up to 5 Gb/s by less than the forecast's own error");
  finding.unsure = {{50e9, 400e9, false, true}};
  CHECK(clause(Quantity::NicBandwidth, finding) ==
        never + "but from 50 Gb/s on by less than the forecast's own error");
  finding.unsure = {{5e9, 50e9}};
  CHECK(clause(Quantity::NicBandwidth, finding) ==
        never + "but at times by less than the forecast's own error (between 5 and 50 Gb/s)");
}

TEST_CASE("two answers are the same, or it is said where they differ", "[breakeven]") {
  const auto third = [](Quantity over, const Finding& physics, const Finding& fitted) {
    const auto sentences = sentences_of(told_of(over, physics, fitted));
    REQUIRE(sentences.size() == 3);
    CHECK_THAT(sentences[0], Catch::StartsWith("net on here (4 nodes of 4 GPUs), by physics "
                                               "alone: gaussian "));
    CHECK_THAT(sentences[1],
               Catch::StartsWith("With software fitted to published runs (here-fitted): gaussian"));
    return sentences[2];
  };
  const auto up_to = [](double at) { return found(kRates, true, {{at, false}}); };
  CHECK(third(Quantity::NicBandwidth, up_to(38e9), up_to(38.2e9)) == "Both say the same, to 1 %.");
  CHECK(third(Quantity::NicBandwidth, up_to(38e9), up_to(29e9)) ==
        "The two disagree between 29 and 38 Gb/s, where physics alone says that it pays and the "
        "fitted forecast that it does not.");
  CHECK(third(Quantity::NicBandwidth, up_to(29e9),
              found(kRates, true, {{38e9, false, Stretch{20e9, 60e9}}})) ==
        "The two disagree between 29 and 38 Gb/s, where physics alone says that it does not pay "
        "and the fitted forecast that it does, by less than its own error.");
  CHECK(third(Quantity::NicBandwidth, found(kRates, true), found(kRates, false)) ==
        "The two disagree throughout, from 1 Gb/s to 400 Gb/s, where physics alone says that it "
        "pays and the fitted forecast that it does not.");
  CHECK(third(Quantity::NicBandwidth, found(kRates, true), found(kRates, true)) ==
        "Both say the same.");
  CHECK(third(Quantity::Nodes, found(kNodes, false, {{3, true}}),
              found(kNodes, false, {{6, true}, {20, false}})) ==
        "The two disagree between 3 and 5 nodes (12 and 20 GPUs), where physics alone says that it "
        "pays and the fitted forecast that it does not; and between 21 and 64 nodes (84 and 256 "
        "GPUs), where physics alone says that it pays and the fitted forecast that it does not.");
  CHECK(third(Quantity::Nodes, found(kNodes, false, {{3, true}}),
              found(kNodes, false, {{3, true}})) == "Both say the same.");
}

TEST_CASE("what an answer rests on is said", "[breakeven]") {
  Told told = told_of(Quantity::NicBandwidth, found(kRates, true), found(kRates, true));
  told.physics.evidence = "derived";
  told.physics.outside = "workers 300 outside 1..256";
  told.unfitted = {"gaussian"};
  const auto sentences = sentences_of(told);
  REQUIRE(sentences.size() == 6);
  CHECK_THAT(sentences[3], Contains("No run with gaussian was fitted"));
  CHECK_THAT(sentences[4], Contains("derived, not measured"));
  CHECK_THAT(sentences[5], Contains("lie outside the cost table (workers 300 outside 1..256)"));
  told.physics.evidence = "measured";
  CHECK(sentences_of(told).size() == 5);
  told.physics.roots = {{38e9, false, "1 % beside it it pays on both sides"}};
  CHECK_THAT(sentences_of(told)[3], Contains("Do not trust 38 Gb/s: 1 % beside it"));
}

TEST_CASE("where nothing has an answer, it is said why", "[breakeven]") {
  Finding none;
  none.range = kRates;
  none.problem = "the collective needs 2, 4, 8 ... ranks";
  const auto sentences = sentences_of(told_of(Quantity::NicBandwidth, none, none));
  REQUIRE(sentences.size() == 2);
  CHECK_THAT(sentences[0], Contains("has no answer: the collective needs 2, 4, 8 ... ranks"));
}
