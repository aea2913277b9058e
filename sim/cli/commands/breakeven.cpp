// `gradcast breakeven`: at which bandwidth, size, density or kernel cost a compressor surely pays,
// surely does not, or cannot be told. It asks here; sim/breakeven/ searches and tells.
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/breakeven/answer.hpp"
#include "sim/breakeven/asked.hpp"
#include "sim/breakeven/contestants.hpp"
#include "sim/breakeven/mapping.hpp"
#include "sim/breakeven/questions.hpp"
#include "sim/breakeven/win_map.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/assumption_notes.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/options/transfer_flags.hpp"

namespace gradcast::commands {
namespace {

Flags breakeven_flags() {
  Flags flags(
      "breakeven",
      "Says where a compressor surely pays, where it surely does not, and where it cannot be told\n"
      "and what to measure: over NIC bandwidth, number of nodes, density or kernel cost. Then by "
      "how\n"
      "much, and why: by the forecast with software costs, and by physics alone. --compressor "
      "takes\n"
      "a name, a list, or all that the costs have.",
      {"breakeven --model resnet-50 --compressor gaussian --over nic-bandwidth",
       "breakeven --model vgg-16 --compressor topk,dgc --over nodes --to 128 --nic-bandwidth "
       "25Gbps",
       "breakeven --model alexnet --compressor topk --against gaussian --over kernel-cost",
       "breakeven --model resnet-50 --map --nodes 1..32 --nic-bandwidth 1Gbps..100Gbps"});
  add_breakeven_flags(flags);
  add_request_flags(flags);
  add_transfer_flags(flags);
  add_engine_flag(flags);
  return flags;
}

void note_own_fit(const Flags& flags, const Contestant& contestant) {
  if (const auto& fitted = contestant.estimates.fitted;
      flags.given("fitted") && fitted && fitted->software.empty() && fitted->request.stack.empty())
    flags.note("the cluster has a fit of its own, " + fitted->request.cluster +
               ": --fitted changes nothing");
}

std::vector<UsedCosts> used_costs(const Request& request,
                                  const std::vector<Contestant>& contestants) {
  std::vector<UsedCosts> used;
  for (const Contestant& contestant : contestants)
    used.push_back({request.costs, contestant.name, request.implementation, request.costs_folder});
  return used;
}

}  // namespace

int breakeven(int argc, const char* const* argv) {
  Flags flags = breakeven_flags();
  if (!flags.parse(argc, argv)) return 0;
  BreakEvenAsked asked = read_breakeven(flags);
  const Engine& engine = chosen_engine(flags);

  DataFiles files = DataFiles::standard();
  try {
    const TransferChoice transfer = read_transfer(flags, files);
    transfer.apply(asked.request);
    asked.request = with_defaults(asked.request, files);
    require_fitted_software(flags, asked, files);
    const std::vector<Contestant> contestants = contestants_of(flags, asked, files);

    std::vector<Answered> answers;
    std::optional<WinMap> map;
    if (asked.over) answers = answer_questions(asked, contestants, engine, files, flags.quiet());
    for (Answered& each : answers) each.told.verbose = flags.given("verbose");
    if (asked.map) map = make_map(asked, contestants, engine, files, flags.quiet());

    Answer answer = breakeven_answer(answers, map, flags.format());
    answer.seed = asked.request.count_spread > 0 ? Json(asked.request.seed) : Json();
    deliver(flags, files.inputs(), engines_of(answers, map), answer);
    note_own_fit(flags, contestants.front());
    const Estimates& first = contestants.front().estimates;
    note_assumed(flags, (first.fitted ? *first.fitted : first.physics).request, files);
    note_trace_evidence(flags, asked.request, files);
    note_cpus_trace(flags, {asked.request}, files);
    note_usual_cluster(flags, asked.request);
    note_sharding(flags, {asked.request}, files);
    note_gpus_of_node(flags, {asked.request}, files);
    note_transfer(flags, transfer, used_costs(asked.request, contestants), files);
    note_usual_costs(flags, transfer, asked.request, files);
    std::vector<std::string> names;
    std::vector<Request> requests;
    for (const Contestant& contestant : contestants) {
      names.push_back(contestant.name);
      requests.push_back(contestant.estimates.physics.request);
    }
    note_untimed(flags, requests, files);
    note_memory(flags, requests, files);
    note_density(flags, names);
    if (asked.request.collective.empty()) note_collective(flags, names);
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  return 0;
}

}  // namespace gradcast::commands
