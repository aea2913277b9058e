// Break-evens of scenarios drawn by chance, held against forecasts that were made without the
// search.
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/random.hpp"
#include "sim/breakeven/forecasts.hpp"
#include "sim/plan/stack_use.hpp"

using namespace gradcast;

namespace {

/// A member of a list, by the scenario's number and what is drawn for it.
template <class T>
const T& draw(std::uint64_t scenario, std::uint64_t what, const std::vector<T>& from) {
  const double at = uniform({20'261'121, 0, Draw::Count, 100 * scenario + what});
  return from[static_cast<std::size_t>(at * static_cast<double>(from.size()))];
}

struct Drawn {
  Request request;
  Quantity over = Quantity::NicBandwidth;
  const Engine* engine = nullptr;
  LookedAt range;
};

Drawn drawn_scenario(std::uint64_t number) {
  Drawn drawn;
  Request& request = drawn.request;
  request.model = draw<std::string>(number, 1, {"alexnet", "vgg-16", "resnet-50", "inception-v4"});
  request.compressor = draw<std::string>(number, 2, {"topk", "randk", "dgc", "gaussian"});
  request.cluster = draw<std::string>(number, 3, {"10gbe-4x4", "10gbe", "25gbe", "hkbu-v100-ib56"});
  request.costs = draw<std::string>(number, 4, {"cost-v100-pytorch-1.1", "cost-v100-floor"});
  request.density = draw<double>(number, 5, {0.0002, 0.001, 0.005});
  request.overlap = draw<int>(number, 6, {0, 1}) == 1;
  if (request.overlap) request.fusion = parse_fusion("25MiB");
  request.changed = {{"nodes", draw<std::string>(number, 7, {"2", "3", "4", "8"})},
                     {"gpus_per_node", draw<std::string>(number, 8, {"1", "2", "4"})}};
  if (request.costs == "cost-v100-floor")  // it has these
    request.compressor = draw<std::string>(number, 9, {"topk", "gaussian"});
  drawn.over = draw<Quantity>(
      number, 10,
      {Quantity::NicBandwidth, Quantity::Nodes, Quantity::Density, Quantity::KernelCost});
  drawn.range = usual_range(drawn.over);
  if (drawn.over == Quantity::Nodes) drawn.range.to = 16;
  if (drawn.over == Quantity::Density) drawn.range = {1e-4, 0.01};
  drawn.engine = find_engine(number % 4 == 0 ? "flow" : "analytic");
  return drawn;
}

/// The run with a value, without the code that is tested.
Scenario changed(Scenario scenario, Quantity over, double value) {
  if (over == Quantity::NicBandwidth) scenario.cluster.nic.bandwidth.value = value / 8;
  if (over == Quantity::Nodes) {
    scenario.cluster.nodes = static_cast<int>(value);
    scenario.cluster.lay_out_ranks();
  }
  if (over == Quantity::Density) scenario.density = value;
  if (over == Quantity::KernelCost)
    scenario.codec.encode_factor = scenario.codec.decode_factor = value;
  apply_stack(scenario);  // which of its terms were seen depends on the value
  return scenario;
}

/// Whether a compressed run is faster than a dense one, by 1e-9 at least.
bool wins(const Scenario& compressed, const Drawn& drawn, double value) {
  const Scenario its = changed(compressed, drawn.over, value);
  const double time = evaluate(its, *drawn.engine).result.iteration.count();
  const double dense = evaluate(dense_twin(its), *drawn.engine).result.iteration.count();
  return dense > time * (1 + 1e-9);
}

struct Counted {
  int roots = 0;
  int unchecked = 0;
  int constant = 0;
};

void hold(const Finding& finding, const Scenario& scenario, const Drawn& drawn, Counted& counted) {
  REQUIRE(finding.pays_at_start.has_value());
  REQUIRE(finding.unanswered == 0);
  const LookedAt& range = finding.range;
  for (const BreakEven& root : finding.roots) {
    ++counted.roots;
    CAPTURE(root.at, root.pays_above, root.unchecked);
    const bool whole = range.whole;
    const double below = !whole ? root.at * 0.99 : root.pays_above ? root.at - 1 : root.at;
    const double above = !whole ? root.at * 1.01 : root.pays_above ? root.at : root.at + 1;
    const bool as_said = wins(scenario, drawn, below) != root.pays_above &&
                         wins(scenario, drawn, above) == root.pays_above;
    CHECK(as_said == root.unchecked.empty());
    counted.unchecked += as_said ? 0 : 1;
  }
  if (!finding.roots.empty()) return;
  ++counted.constant;
  constexpr int kBetween = 20;
  for (int i = 0; i <= kBetween + 1; ++i) {
    double value = range.from * std::pow(range.to / range.from, i / (kBetween + 1.0));
    if (range.whole) value = std::round(value);
    CAPTURE(value);
    CHECK(wins(scenario, drawn, value) == *finding.pays_at_start);
  }
}

/// Physics alone, and fitted.
void hold_scenarios(std::uint64_t first, std::uint64_t end) {
  Counted counted;
  for (std::uint64_t number = first; number < end; ++number) {
    DataFiles files(GRADCAST_SOURCE_DIR);
    const Drawn drawn = drawn_scenario(number);
    CAPTURE(number, drawn.request.model, drawn.request.compressor, drawn.request.cluster,
            drawn.request.costs, to_text(drawn.over), drawn.engine->name);
    Request dense = drawn.request;
    dense.compressor = "dense";
    const Estimates its = estimates_of(drawn.request, kUsualSoftware, files);
    const Estimates other = estimates_of(dense, kUsualSoftware, files);
    Forecasts forecasts(drawn.over, *drawn.engine, files);
    const std::vector<Question> questions{
        {forecasts.add({its.physics}, true), forecasts.add({other.physics}, true), drawn.range},
        {forecasts.add({*its.fitted}, true), forecasts.add({*other.fitted}, true), drawn.range}};
    const std::vector<Finding> findings = answers_to(questions, forecasts, {});
    REQUIRE(findings.size() == 2);
    hold(findings[0], make_scenario(its.physics, files), drawn, counted);
    hold(findings[1], make_scenario(*its.fitted, files), drawn, counted);
    for (const BreakEven& root : findings[1].roots) {
      REQUIRE(root.interval.has_value());
      CHECK(root.interval->low <= root.at);
      CHECK(root.interval->high >= root.at);
    }
  }
  // There is something to hold, and little that cannot be.
  CHECK(counted.roots > static_cast<int>(end - first) / 4);
  CHECK(counted.constant > 0);
  CHECK(counted.unchecked * 20 <= counted.roots);
}

}  // namespace

TEST_CASE("1 % beside a root the winner changes, and without a root it never does", "[breakeven]") {
  hold_scenarios(20, 26);
}

TEST_CASE("1 % beside a root the winner changes, in fifty scenarios", "[breakeven][slow]") {
  hold_scenarios(0, 50);
}

TEST_CASE("an answer does not depend on the number of threads", "[breakeven]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request;
  request.model = "resnet-50";
  request.compressor = "dgc";
  Request dense = request;
  dense.compressor = "dense";
  const auto find = [&](std::size_t threads) {
    Forecasts forecasts(Quantity::NicBandwidth, *find_engine("analytic"), files);
    const Question question{
        forecasts.add({Asked{request}}, true), forecasts.add({Asked{dense}}, true), {1e9, 400e9}};
    Searching searching;
    searching.jobs = threads;
    return answers_to({question}, forecasts, searching).at(0);
  };
  const Finding alone = find(1);
  const Finding together = find(3);
  REQUIRE(alone.roots.size() == 1);
  REQUIRE(together.roots.size() == 1);
  CHECK(alone.roots[0].at == together.roots[0].at);
  CHECK(alone.forecasts == together.forecasts);
}
