// `gradcast decide`: what binds a run, and what each change of it is worth. It asks here;
// sim/decide/ weighs and tells.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/decide/answer.hpp"
#include "sim/decide/decision.hpp"
#include "sim/decide/next_steps.hpp"
#include "sim/decide/options.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/options/assumption_notes.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/options/transfer_flags.hpp"

namespace gradcast::commands {
namespace {

double parse_positive(std::string_view text, const char* example) {
  const double value = parse_number(text);
  if (value > 0) return value;
  throw ValueError("'" + std::string(text) + "' is not above 0; write a number like " + example);
}

Flags decide_flags() {
  Flags flags(
      "decide",
      "Forecasts a training run as it is today, says what binds it, and ranks what one\n"
      "could change: network, nodes, batch, schedule, sharding, compressors. Each option\n"
      "is compared with today's run per sample, with the 90 % interval of the gain and a\n"
      "verdict. Flags describe today's run, as for `simulate`. --compressor names what to try:\n"
      "a list, or all that the costs have (default: fp16, powersgd, int8, topk, dgc,\n"
      "gaussian).",
      {"decide --model gpt2-xl --cluster dgx-a100 --nodes 16",
       "decide --model resnet-50 --cluster 25gbe --nodes 8 --price-per-gpu-hour 2 "
       "--samples 1281167",
       "decide my-cluster/"});
  flags.add_folder_word();
  flags.add("price-per-gpu-hour", "price of an hour of one GPU, in any currency, like 2.50");
  flags.add("samples", "samples of an epoch, like 1281167: gives the hours and cost of an epoch");
  flags.add("gpu-memory",
            "memory of a GPU, like 40GB (default: that of the cluster's usual GPU, as "
            "traces/devices.csv has it)");
  add_jobs_flag(flags);
  add_request_flags(flags);
  add_transfer_flags(flags);
  add_engine_flag(flags);
  return flags;
}

/// --compressor: those to try.
std::vector<std::string> read_compressors(const Flags& flags) {
  if (!flags.given("compressor")) return usual_compressors();
  return flags.value("compressor", [](const std::string& text) {
    std::vector<std::string> names = parse_words(text);
    for (const std::string& name : names) {
      if (name == "dense") throw ValueError("dense compresses nothing; name what to try");
      if (name != "all") (void)known_compressor(name, false);
    }
    if (names.size() > 1 && std::find(names.begin(), names.end(), "all") != names.end())
      throw ValueError("all is all; leave the other names out");
    return names;
  });
}

DecideAsked read_decide(const Flags& flags) {
  if (flags.given("payload")) throw UsageError("--payload is no training: name a --model");
  DecideAsked asked;
  asked.request = read_request(flags);
  asked.compressors = read_compressors(flags);
  if (flags.given("parameter") && asked.compressors.size() > 1)
    throw UsageError("--parameter is one compressor's number: name one with --compressor");
  if (flags.given("price-per-gpu-hour"))
    asked.price = flags.value("price-per-gpu-hour",
                              [](const std::string& text) { return parse_positive(text, "2.50"); });
  if (flags.given("samples"))
    asked.samples = flags.value(
        "samples", [](const std::string& text) { return parse_positive(text, "1281167"); });
  if (asked.price && !asked.samples)
    throw UsageError("--price-per-gpu-hour needs --samples: how many samples an epoch has");
  if (flags.given("gpu-memory")) {
    asked.gpu_memory = flags.value("gpu-memory", parse_bytes);
    if (asked.gpu_memory->count == 0) throw UsageError("--gpu-memory: a GPU has more than 0 bytes");
  }
  asked.jobs = chosen_jobs(flags);
  asked.quiet = flags.quiet();
  return asked;
}

}  // namespace

int decide(int argc, const char* const* argv) {
  Flags flags = decide_flags();
  if (!flags.parse(argc, argv)) return 0;
  DecideAsked asked = read_decide(flags);
  const Engine& engine = chosen_engine(flags);

  DataFiles files = DataFiles::standard();
  try {
    const TransferChoice transfer = read_transfer(flags, files);
    transfer.apply(asked.request);
    const Decision decision = gradcast::decide(asked, engine, files);
    deliver(flags, files.inputs(), decision.forecast.result.engine,
            decide_answer(decision, asked, next_steps(decision, flags.arguments())));
    note_trace_evidence(flags, decision.request, files);
    note_cpus_trace(flags, {decision.request}, files);
    note_usual_cluster(flags, decision.request);
    note_sharding(flags, {decision.request}, files);
    note_gpus_of_node(flags, {decision.request}, files);
    note_links(flags, decision.now.cluster);
    note_usual_costs(flags, transfer, decision.request, files);
    std::vector<Request> compressed;
    for (const WeighedOption& weighed : decision.ranked)
      compressed.push_back(weighed.option.request);
    note_untimed(flags, compressed, files);
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  return 0;
}

}  // namespace gradcast::commands
