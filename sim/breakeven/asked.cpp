#include "sim/breakeven/asked.hpp"

#include <algorithm>
#include <set>

#include "sim/base/lists.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/options/transfer_flags.hpp"

namespace gradcast {
namespace {

constexpr const char* kUsualBandwidths =
    "1Gbps,2Gbps,5Gbps,10Gbps,20Gbps,25Gbps,40Gbps,50Gbps,100Gbps,200Gbps,400Gbps";

std::vector<std::string> list_of(const Flags& flags, const std::string& flag) {
  return flags.value(flag, [](const std::string& text) { return expand_list(text); });
}

template <class Parse>
auto parsed_list(const std::string& flag, const std::string& text, Parse parse) {
  try {
    std::vector<decltype(parse(std::string()))> values;
    for (const std::string& word : expand_list(text)) values.push_back(parse(word));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  } catch (const ValueError& error) {
    throw UsageError("--" + flag + ": " + error.what());
  }
}

std::vector<std::string> read_compressors(const Flags& flags, bool map) {
  if (!flags.given("compressor")) {
    if (map) return {};
    throw UsageError("--compressor is missing: a name, a list like 'topk,gaussian', or all");
  }
  std::vector<std::string> names =
      flags.value("compressor", [](const std::string& text) { return parse_words(text); });
  if (names == std::vector<std::string>{"all"}) return {};
  if (std::find(names.begin(), names.end(), "dense") != names.end())
    throw UsageError("--compressor: dense compresses nothing; name what may pay against it");
  if (std::find(names.begin(), names.end(), "all") != names.end())
    throw UsageError("--compressor: all is all; leave the other names out");
  for (std::string& name : names) name = compressor_name(name);
  return names;
}

/// A flag whose quantity is looked over has no value of its own.
void require_free(const Flags& flags, Quantity over) {
  const std::string flag = to_text(over);
  if (over == Quantity::KernelCost || !flags.given(flag)) return;
  throw UsageError("--" + flag +
                   " is what is looked over: leave it out (--from and --to bound it)");
}

}  // namespace

void add_breakeven_flags(Flags& flags) {
  flags.add("over",
            "what to vary: nic-bandwidth, nodes, density or kernel-cost (times the costs')");
  flags.add("against",
            "what it is to pay against: best (the fastest dense run: merged, ddp or layer, "
            "overlapped; the stack's own too; a compressor takes its fastest likewise where no "
            "schedule is named), same (dense by the compressor's own schedule), or "
            "another compressor",
            to_text(Against::Best));
  flags.add("from",
            "where to begin looking (default: 1Gbps, 1 node, density 0.00001 or what the costs "
            "have, a hundredth of the kernel cost)");
  flags.add("to", "where to end (default: 400Gbps, 64 nodes, density 0.1, a hundredfold)");
  flags.add(
      "fitted",
      "the software of the second answer: a stack of `gradcast list` or a file; a fitted cluster, "
      "for its own and for those without a fit; or none",
      kUsualSoftware);
  flags.add_switch("map",
                   "who wins over NIC bandwidth and nodes; --nic-bandwidth and --nodes are lists "
                   "then, like 1Gbps..100Gbps and 4..64");
  flags.add_switch("verbose", "also name the software costs that have no data here");
  add_jobs_flag(flags);
}

BreakEvenAsked read_breakeven(const Flags& flags) {
  BreakEvenAsked asked;
  asked.map = flags.given("map");
  if (flags.given("payload")) throw UsageError("--payload compresses nothing: name a --model");
  if (flags.given("over")) asked.over = flags.value("over", parse_quantity);
  if (!asked.over && !asked.map)
    throw UsageError(
        "--over is missing: nic-bandwidth, nodes, density or kernel-cost; or --map without it");
  std::set<std::string> lists;
  if (asked.map) {
    for (const char* axis : {"nodes", "nic-bandwidth"})
      if (flags.given(axis) && list_of(flags, axis).size() > 1) lists.insert(axis);
    if (flags.given("nodes"))
      asked.map_nodes = parsed_list("nodes", flags.text("nodes"),
                                    [](const std::string& text) { return parse_count(text); });
    asked.map_bandwidths = parsed_list(
        "nic-bandwidth",
        flags.given("nic-bandwidth") ? flags.text("nic-bandwidth") : kUsualBandwidths,
        [](const std::string& text) { return parse_value(Quantity::NicBandwidth, text); });
    if (asked.over && flags.format() == Format::Csv)
      throw UsageError("a CSV file is one table: leave --map or --over out, or use --format json");
  } else if (asked.over) {
    require_free(flags, *asked.over);
  }
  asked.compressors = read_compressors(flags, asked.map);
  asked.against = flags.value("against", compressor_name);
  if (asked.against == "best" || asked.against == "same") {
    asked.dense = parse_against(asked.against);
    asked.against = "dense";
  } else if (asked.against_dense()) {
    asked.dense = Against::Same;
  }
  if (std::find(asked.compressors.begin(), asked.compressors.end(), asked.against) !=
      asked.compressors.end())
    throw UsageError("--against " + asked.against + ": nothing pays against itself");
  if (flags.given("parameter") && asked.compressors.size() > 1)
    throw UsageError(
        "--parameter is one compressor's number, and several compete: name one, or "
        "leave it out");
  for (const char* end : {"from", "to"}) {
    if (!flags.given(end)) continue;
    if (!asked.over) throw UsageError("--" + std::string(end) + " bounds --over: leave it out");
    (end == std::string("from") ? asked.from : asked.to) =
        flags.value(end, [&](const std::string& text) { return parse_value(*asked.over, text); });
  }
  asked.request = read_request(flags, lists);
  asked.software = flags.text("fitted");
  asked.jobs = chosen_jobs(flags);
  return asked;
}

Request with_compressor(Request request, const std::string& compressor, bool one_of_several) {
  request.compressor = compressor;
  const Compressor* known = find_compressor(compressor);
  if (known == nullptr) return request;  // make_scenario says so
  const bool dense = known->family == Family::Dense;
  // A collective is named for the compressor: dense has its usual one, and so has, among several,
  // one that the named collective cannot carry. A library's rule is of all runs, and so is auto.
  const Collective* named = find_collective(request.collective);
  const bool cannot = one_of_several && named != nullptr && !carries(*named, *known);
  if (named != nullptr && (dense || cannot)) request.collective.clear();
  if (known->parameter.name.empty() || one_of_several) request.parameter.reset();
  if (dense) request.implementation.clear();
  if (dense || (one_of_several && !known->two_modes)) request.mode.clear();
  return request;
}

LookedAt range_of(const BreakEvenAsked& asked, const std::vector<const Scenario*>& compressors) {
  const Quantity over = *asked.over;
  LookedAt range = usual_range(over);
  if (over == Quantity::Nodes)
    range.to = std::min<double>(
        range.to, kMostRanks / std::max(1, compressors.front()->cluster.gpus_per_node));
  if (over == Quantity::Density) {
    bool sparse = false;
    for (const Scenario* scenario : compressors) {
      if (!scenario->sparse()) continue;
      sparse = true;
      const CompressorCosts costs(scenario->costs, cost_choice(*scenario));
      const auto [least, most] = std::minmax_element(
          costs.rows().begin(), costs.rows().end(),
          [](const CostRow* a, const CostRow* b) { return a->density < b->density; });
      range.from = std::max(range.from, (*least)->density);
      range.to = std::min(range.to, (*most)->density);
    }
    if (!sparse)
      throw UsageError(
          "--over density: none of these compressors has a density; name a sparsifier");
  }
  if (asked.from) range.from = *asked.from;
  if (asked.to) range.to = *asked.to;
  if (range.from < range.to) return range;
  throw UsageError("there is nothing between " + value_text(over, range.from) + " and " +
                   value_text(over, range.to) +
                   ": --from and --to say from where to where to look");
}

}  // namespace gradcast
