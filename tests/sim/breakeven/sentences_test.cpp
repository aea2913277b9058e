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

/// The words of the first sentence on the forecast with software.
std::string verdict(Quantity over, const Finding& fitted) {
  const std::string question = "gaussian against dense, net on here (4 nodes of 4 GPUs): ";
  const std::string first = sentences_of(told_of(over, found(fitted.range, true), fitted)).at(0);
  REQUIRE_THAT(first, Catch::StartsWith(question));
  return first.substr(question.size());
}

/// The finding with software, and with these stretches in which the two cannot be told apart.
Finding with_software(Finding finding, const std::vector<Stretch>& unsure = {}) {
  finding.fitted = true;
  finding.unsure = unsure;
  return finding;
}

const std::string kFaster = "gaussian is faster ";
const std::string kOpen =
    " (within the forecast's error): measure a dense run and one with "
    "gaussian on this cluster.";

}  // namespace

TEST_CASE("a clause says on which side of a bandwidth a forecast is faster", "[breakeven]") {
  const auto rates = [](bool start, const std::vector<Root>& roots = {}) {
    return clause(Quantity::NicBandwidth, found(kRates, start, roots));
  };
  CHECK(rates(true, {{38.21e9, false}}) == kFaster + "up to 38.2 Gb/s; above it is not");
  CHECK(rates(false, {{38.21e9, true}}) == kFaster + "from 38.2 Gb/s on; below it is not");
  CHECK(rates(false, {{2e9, true}, {38.21e9, false}}) ==
        kFaster + "between 2 and 38.2 Gb/s; below and above it is not");
  CHECK(rates(true, {{2e9, false}, {38.21e9, true}}) ==
        kFaster + "up to 2 Gb/s and from 38.2 Gb/s on; in between it is not");
  CHECK(rates(true, {{2e9, false}, {5e9, true}, {10e9, false}, {38e9, true}}) ==
        kFaster + "up to 2 Gb/s, between 5 and 10 Gb/s and from 38 Gb/s on, and nowhere else");
  CHECK(rates(true) == kFaster + "throughout");
  CHECK(rates(false) == "gaussian is never faster");
}

TEST_CASE("nodes come with their GPUs", "[breakeven]") {
  const auto nodes = [](bool start, const std::vector<Root>& roots) {
    return clause(Quantity::Nodes, found(kNodes, start, roots));
  };
  CHECK(nodes(false, {{3, true}}) == kFaster + "from 3 nodes (12 GPUs) on; on fewer it is not");
  CHECK(nodes(true, {{1, false}}) == kFaster + "up to 1 node (4 GPUs); on more it is not");
  CHECK(nodes(false, {{3, true}, {12, false}}) ==
        kFaster + "between 3 and 12 nodes (12 and 48 GPUs); on fewer or more it is not");
  CHECK(nodes(false, {{3, true}, {3, false}}) ==
        kFaster + "on 3 nodes (12 GPUs); on fewer or more it is not");
}

TEST_CASE("densities and kernel costs have words of their own", "[breakeven]") {
  CHECK(clause(Quantity::Density, found(kDensities, true, {{0.002, false}})) ==
        kFaster + "up to density 0.002; above it is not");
  CHECK(clause(Quantity::KernelCost, found(kCosts, true, {{2.4, false}})) ==
        kFaster + "with kernels up to 2.4 times as slow; with slower ones it is not");
  CHECK(clause(Quantity::KernelCost, found(kCosts, true, {{0.4, false}})) ==
        kFaster + "with kernels at least 2.5 times as fast; with slower ones it is not");
  CHECK(between_in_words(Quantity::KernelCost, 0.25, 0.5, 4, 2) == "between 2 and 4 times as fast");
  CHECK(between_in_words(Quantity::KernelCost, 0.5, 3, 4, 2) ==
        "between 2 times as fast and 3 times as slow");
  CHECK(between_in_words(Quantity::NicBandwidth, 0.25e9, 3e9, 4, 2) ==
        "between 250 Mb/s and 3 Gb/s");
}

TEST_CASE("the verdict comes first, and its parts by how sure they are", "[breakeven]") {
  const auto rates = [](const Finding& finding) {
    return verdict(Quantity::NicBandwidth, finding);
  };
  const Finding root = found(kRates, true, {{38e9, false}});
  CHECK(rates(with_software(root)) ==
        "surely pays up to 38 Gb/s; surely does not pay from 38 Gb/s "
        "on.");
  CHECK(rates(with_software(root, {{29e9, 51e9}})) ==
        "surely pays up to 29 Gb/s; surely does not pay from 51 Gb/s on; cannot be told between 29 "
        "and 51 Gb/s" +
            kOpen);
  CHECK(rates(with_software(root, {{29e9, 400e9, false, true}})) ==
        "surely pays up to 29 Gb/s; cannot be told from 29 Gb/s on" + kOpen);
  CHECK(rates(with_software(root, {{1e9, 400e9, true, true}})) ==
        "cannot be told anywhere from 1 Gb/s to 400 Gb/s" + kOpen);
  CHECK(rates(with_software(found(kRates, true))) ==
        "surely pays anywhere from 1 Gb/s to 400 Gb/s.");
  CHECK(rates(with_software(found(kRates, false))) ==
        "surely does not pay anywhere from 1 Gb/s to 400 Gb/s.");
  CHECK(verdict(Quantity::Nodes, with_software(found(kNodes, true, {{9, false}}), {{6, 20}})) ==
        "surely pays up to 5 nodes (20 GPUs); surely does not pay from 21 nodes (84 GPUs) on; "
        "cannot be told between 6 and 20 nodes (24 and 80 GPUs)" +
            kOpen);
}

TEST_CASE("physics alone gives no verdict, and unknown software costs never one that pays",
          "[breakeven]") {
  Told told = told_of(Quantity::NicBandwidth, found(kRates, true));
  CHECK_THAT(sentences_of(told)[0],
             Contains("cannot be told anywhere from 1 Gb/s to 400 Gb/s by physics alone, which has "
                      "no error of its own: measure a dense run and one with gaussian"));
  CHECK_THAT(sentences_of(told)[1], Contains("By physics alone gaussian is faster throughout."));
  told.fitted = with_software(found(kRates, true, {{38e9, false}}));
  told.unfitted = {"gaussian"};
  CHECK_THAT(sentences_of(told)[0],
             Contains("surely does not pay from 38 Gb/s on; cannot be told up to 38 Gb/s (nobody "
                      "measured what its software costs): measure one run with gaussian"));
}

// At the beginning 3 s against 2 s: 2/3 times as fast. The deviation of 0.3 s is 1.645 x 0.3 = 0.49
// s: (2 - 0.49) / 3 to (2 + 0.49) / 3.
TEST_CASE("after the verdict stands by how much, with the interval", "[breakeven]") {
  RunForecast its;
  its.iteration = Seconds{3};
  its.deviations = ForecastDeviations{};
  RunForecast other = its;
  other.iteration = Seconds{2};
  other.deviations->own = Seconds{0.3};
  Finding finding = with_software(found(kRates, false));
  finding.first = Duel{its, other};
  finding.last = Duel{its, its};
  CHECK(sentences_of(told_of(Quantity::NicBandwidth, finding, finding))[1] ==
        "At 1 Gb/s it is 0.667 times as fast (90 %: 0.502 to 0.831); at 400 Gb/s it is as fast "
        "(90 %: 1 to 1).");
}

TEST_CASE("then it is said why: by the forecast with software, and by physics alone",
          "[breakeven]") {
  const auto up_to = [](double at) { return found(kRates, true, {{at, false}}); };
  const auto reasons = [&](double physics, double fitted) {
    auto sentences =
        sentences_of(told_of(Quantity::NicBandwidth, up_to(physics), with_software(up_to(fitted))));
    sentences.erase(sentences.begin());
    return sentences;
  };
  CHECK(reasons(38e9, 29e9) ==
        std::vector<std::string>{
            "By the forecast with software (here-fitted) gaussian is faster up to 29 Gb/s; above "
            "it is not.",
            "By physics alone gaussian is faster up to 38 Gb/s; above it is not."});
  CHECK(reasons(38e9, 38e9) ==
        std::vector<std::string>{"By the forecast with software (here-fitted) and by physics alone "
                                 "gaussian is faster up to 38 Gb/s; above it is not."});
}

TEST_CASE("what an answer rests on is said", "[breakeven]") {
  Told told = told_of(Quantity::NicBandwidth, found(kRates, true), found(kRates, true));
  told.physics.evidence = "derived";
  told.physics.outside = "workers 300 outside 1..256";
  told.unfitted = {"gaussian"};
  told.fitted->outside_seen = "nic_share, rank_spread";
  const auto sentences = sentences_of(told);
  REQUIRE(sentences.size() == 6);
  CHECK_THAT(sentences[2],
             Contains("There is no data for 2 software costs here: ") && !Contains("nic_share"));
  CHECK_THAT(sentences[3], Contains("No run with gaussian was fitted"));
  CHECK_THAT(sentences[4], Contains("derived, not measured"));
  CHECK_THAT(sentences[5], Contains("lie outside the cost table (workers 300 outside 1..256)"));
  told.verbose = true;
  CHECK_THAT(sentences_of(told)[2], Contains("(nic_share, rank_spread)"));
  told.physics.evidence = "measured";
  CHECK(sentences_of(told).size() == 5);
  told.physics.roots = {{38e9, false, "1 % beside it it is faster on both sides"}};
  CHECK_THAT(sentences_of(told)[3], Contains("Do not trust 38 Gb/s: 1 % beside it"));
}

TEST_CASE("where nothing has an answer, it is said why", "[breakeven]") {
  Finding none;
  none.range = kRates;
  none.problem = "the collective needs 2, 4, 8 ... ranks";
  const auto sentences = sentences_of(told_of(Quantity::NicBandwidth, none, none));
  REQUIRE(sentences.size() == 1);
  CHECK_THAT(sentences[0], Contains("there is no answer: the collective needs 2, 4, 8 ... ranks"));
}
