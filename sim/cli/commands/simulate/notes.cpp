#include "sim/cli/commands/simulate/notes.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/inputs/family_costs.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/options/assumption_notes.hpp"
#include "sim/plan/plan_summary.hpp"

namespace gradcast::commands {

/// SimGrid needs about a microsecond a message, flow 0.1 to 0.5 on rings.
void note_long_run(const Flags& flags, const Engine& engine, const Plan& plan,
                   const Cluster& cluster) {
  const bool flow = engine.name == "flow-exact";
  const std::int64_t many = flow ? 10'000'000 : 3'000'000;
  constexpr int kManyNodes = 1'500;  // each a zone of SimGrid's, of which it looks through all
  if (engine.name.starts_with("simgrid") && cluster.nodes > kManyNodes &&
      plan.ranks() > cluster.nodes)
    flags.note("a network of " + std::to_string(cluster.nodes) +
               " nodes may take a while to build; --engine analytic answers sooner");
  if (!flow && engine.name != "simgrid-exact") return;
  const std::int64_t messages = messages_of(plan, cluster);
  if (messages > many)
    flags.note("simulating " + std::to_string(messages) +
               " messages takes a while; --engine flow-fluid and analytic answer sooner");
}

void note_costs(const Flags& flags, const Request& request, const Scenario& scenario,
                const Plan& plan) {
  const std::string compressor(scenario.compressor->name);
  if (const std::string outside = outside_of(plan); !outside.empty())
    flags.note("some costs of '" + compressor + "' lie outside the cost table (" + outside + ")");
  if (saves_nothing(plan, scenario))
    flags.note(compressor +
               " saves nothing here: a rank sends as many bytes as the gradients have");
  if (!scenario.compressing) return;  // the notes below concern times
  const std::string evidence = evidence_of(plan);
  const bool partly = evidence.find("measured") != std::string::npos;
  const bool of_family = !plan.buckets.empty() && plan.buckets[0].cost.implementation == kOfFamily;
  // Costs that are derived or scaled have a note of their own.
  const bool told = !scaled_costs_words(request.costs, request.costs_device).empty();
  if (!told && !of_family && !evidence.empty() && evidence != "measured")
    flags.note(
        "the costs of '" + compressor + "' are " +
        (partly ? "measured in part only (" + evidence + ")" : evidence + ", not measured here") +
        "; `gradcast compare` shows how far such forecasts are off");
  if (scenario.compresses() && !told && !scenario.costs->device.empty() &&
      scenario.costs->device != scenario.trace->device)
    flags.note("compressing was timed on " + scenario.costs->device + ", the model on " +
               scenario.trace->device);
}

void note_selection(const Flags& flags, const Scenario& scenario, const Plan& plan) {
  if (!scenario.compresses() || scenario.selection == SelectionScope::Merged) return;
  for (const PlannedBucket& bucket : plan.buckets)
    if (bucket.cost.calls > 1) {
      flags.note("the cost table has no row of " + std::to_string(bucket.tensors) +
                 " tensors with " + std::to_string(bucket.elements) +
                 " elements in one call; each tensor is charged a call of its own");
      return;
    }
}

/// Notes flags that apply only to other families of compressors.
void note_of_family(const Flags& flags, const Scenario& scenario) {
  if (scenario.sparse()) return;
  const std::string name(scenario.compressor->name);
  if (flags.given("density"))
    flags.note("--density changes nothing here: " + name + " sends something of every element");
  if (flags.given("value-type"))
    flags.note("--value-type changes nothing here: it is of what selects elements, and " + name +
               " does not");
  for (const char* flag : {"wire-bytes-per-element", "wire-messages"})
    if (scenario.low_rank() && flags.given(flag))
      flags.note("--" + std::string(flag) + " changes nothing here: " + name + " sends matrices");
}

/// Notes that ranks could agree on what they select, where they do not: far less is then sent.
void note_shared_seed(const Flags& flags, const Scenario& scenario) {
  if (scenario.compressor->shared_seed && !flags.given("collective") &&
      scenario.aggregation() == Aggregation::AllGather)
    flags.note(
        "ranks select apart, and all of it is gathered; with a shared seed an all-reduce "
        "adds it up: --collective ring-all-reduce");
}

/// The bytes that are given are taken, whatever the type.
void note_value_type(const Flags& flags, const Scenario& scenario) {
  if (scenario.sparse() && flags.given("value-type") && flags.given("wire-bytes-per-element"))
    flags.note("--value-type changes nothing here: --wire-bytes-per-element says what is sent");
}

/// Notes flags of another sharding than the run's, and of micro-steps where there is one.
void note_training(const Flags& flags, const Scenario& scenario) {
  if (flags.given("optimizer") && !scenario.trace->optimizer)
    flags.note(
        "--optimizer counts for memory alone here: the trace does not say whose step its "
        "update is (`# optimizer:`)");
  if (scenario.sharding.kind != Sharding::Fsdp)
    for (const char* flag : {"unit-size", "prefetch", "reshard-after-forward"})
      if (flags.given(flag))
        flags.note("--" + std::string(flag) +
                   " changes nothing here: it is of units that FSDP gathers (--sharding fsdp)");
  if (scenario.sharding.kind == Sharding::Fsdp)
    for (const char* flag :
         {"fusion", "pipeline", "gradient-copies", "broadcast-buffers", "framework-in-compute"})
      if (flags.given(flag))
        flags.note(
            "--" + std::string(flag) +
            " changes nothing here: it is of DDP's buckets, and FSDP has units (--unit-size)");
  const std::optional<UsualSchedule> usual =
      scenario.stack == nullptr ? std::nullopt : scenario.stack->schedule;
  if (scenario.sharding.kind == Sharding::Zero2 && usual && usual->sharding &&
      usual->sharding->kind == Sharding::Fsdp)
    flags.note(
        "zero2 scatters each gradient by itself, as a sharded optimizer does; FSDP2's own way is "
        "--sharding fsdp --reshard-after-forward no");
  if (scenario.sharding.kind == Sharding::None && flags.given("shard-group"))
    flags.note("--shard-group changes nothing here: nothing is sharded (--sharding)");
  if (scenario.accumulation == 1 && flags.given("synchronise"))
    flags.note("--synchronise changes nothing here: there is one micro-step (--accumulation)");
}

void note_choices(const Flags& flags, const Scenario& scenario, const Plan& plan,
                  const NoiseChoice& noise) {
  if (noise.replicas > 1 && !noise.noise.any() && scenario.count_spread == 0)
    flags.note(
        "all replicas are the same: nothing is drawn without --compute-jitter, "
        "--network-jitter or --count-spread");
  const bool training = scenario.payload.count == 0;
  if (!training && flags.given("batch"))
    flags.note("--batch changes nothing here: --payload is a collective alone");
  if ((flags.given("batch") || flags.given("accumulation")) && training &&
      !flags.given("compute-seconds"))
    flags.note("forward and backward are taken as proportional to the batch");
  if (scenario.collective != nullptr && scenario.collective->name.starts_with("ring-") &&
      scenario.cluster.nics_per_node > 1 && scenario.cluster.nodes > 1)
    flags.note("a plain ring leaves each node through one GPU's share of its " +
               std::to_string(scenario.cluster.nics_per_node) +
               " NICs, which no library does: --collective nccl uses all of them");
  if (training) note_training(flags, scenario);
  if (flags.given("nccl-settings") && scenario.library != nullptr)
    flags.note("--nccl-settings changes nothing here: the collectives are those of " +
               std::string(scenario.library->name));
  note_links(flags, scenario.cluster);
  if (scenario.fusion.kind == Fusion::Kind::MgWfbp && scenario.compresses())
    flags.note("mg-wfbp merges for dense all-reduces; omgs weighs what encoding costs");
  if (scenario.overlap && scenario.sharding.kind != Sharding::Fsdp && flags.given("pipeline"))
    flags.note("--pipeline changes nothing here: with overlap buckets are always pipelined");
  if (flags.given("network-streams") && scenario.network_streams > plan.network_streams)
    flags.note(
        "--network-streams changes nothing here: without overlap collectives run one at a time, "
        "but for --pipeline yes");
  if (scenario.fusion.kind == Fusion::Kind::Cycle && scenario.compresses() && scenario.overlap)
    flags.note("cycle fuses what backward alone would make ready, without the time to encode it");
  if (scenario.encode_stream == EncodeStream::Side && scenario.encode_slowdown == 0 &&
      scenario.compresses())
    flags.note(
        "compressors on the side stream are taken to cost backward nothing; --encode-slowdown says "
        "what they do");
  if (scenario.count_spread > 0 && (!scenario.sparse() || scenario.compressor->exact_count))
    flags.note("--count-spread changes nothing here: every rank selects as many elements");
  if (scenario.compresses() && plan.ranks() > 1) {
    note_value_type(flags, scenario);
    note_shared_seed(flags, scenario);
    note_of_family(flags, scenario);
    return;
  }
  for (const char* flag : {"density", "mode", "costs", "scale-costs-to", "implementation",
                           "selection", "value-type", "wire-bytes-per-element", "wire-messages",
                           "compressing", "counts", "encode-stream", "encode-slowdown"})
    if (flags.given(flag))
      flags.note("--" + std::string(flag) + " changes nothing here: nothing is compressed");
}

}  // namespace gradcast::commands
