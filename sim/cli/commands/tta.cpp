// `gradcast tta`: how long until a training reaches an accuracy. It asks here; sim/tta/ multiplies
// and tells.
#include <string>
#include <vector>

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/breakeven/contestants.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/assumption_notes.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/options/transfer_flags.hpp"
#include "sim/tta/tta_answer.hpp"

namespace gradcast::commands {
namespace {

Flags tta_flags() {
  Flags flags(
      "tta",
      "Time to accuracy: the iterations that trainings took to an accuracy, times the seconds\n"
      "that an iteration is forecast to take, for each compressor beside dense. Compressor,\n"
      "density, mode, batch and the mean of what was sent are those of the trainings; the\n"
      "cluster needs as many GPUs as they had workers. Trainings that differ in their seed\n"
      "alone are one row. What did not reach the target is never extrapolated. Intervals\n"
      "multiply the ends of both: the trainings' and the forecast's.",
      {"tta --training dense.json,topk.json --model fnn-3 --target 80,85",
       "tta --training dense.json,topk.json --model fnn-3 --over nic-bandwidth",
       "tta --training dense.json,topk.json --model fnn-3 --target best-1 --curve -o curves.csv"});
  add_tta_flags(flags);
  add_request_flags(flags);
  add_transfer_flags(flags);
  add_engine_flag(flags);
  return flags;
}

std::vector<UsedCosts> used_costs_of(const TtaFound& found, const Request& request) {
  std::vector<UsedCosts> used;
  for (const TrainedSetup& setup : found.setups.all)
    if (!setup.setup.dense())
      used.push_back(
          {request.costs, setup.setup.compressor, request.implementation, request.costs_folder});
  return used;
}

}  // namespace

int tta(int argc, const char* const* argv) {
  Flags flags = tta_flags();
  if (!flags.parse(argc, argv)) return 0;
  TtaAsked asked = read_tta(flags);
  const Engine& engine = chosen_engine(flags);

  DataFiles files = DataFiles::standard();
  try {
    const TransferChoice transfer = read_transfer(flags, files);
    transfer.apply(asked.request);
    asked.request = with_defaults(asked.request, files);
    BreakEvenAsked software;  // the part that this check reads
    software.software = asked.software;
    require_fitted_software(flags, software, files);
    const TtaFound found = find_times_to_accuracy(asked, engine, files);

    Answer answer = tta_answer(found, asked.curve, flags.format());
    answer.seed = asked.request.count_spread > 0 ? Json(asked.request.seed) : Json();
    deliver(flags, files.inputs(), engines_of(found), answer);
    note_assumed(flags, asked.request, files);
    note_trace_evidence(flags, asked.request, files);
    note_cpus_trace(flags, {asked.request}, files);
    note_usual_cluster(flags, asked.request);
    note_gpus_of_node(flags, {asked.request}, files);
    note_transfer(flags, transfer, used_costs_of(found, asked.request), files);
    note_usual_costs(flags, transfer, asked.request, files);
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  return 0;
}

}  // namespace gradcast::commands
