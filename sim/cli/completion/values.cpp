// The known values of flags, in one table.
#include <algorithm>
#include <functional>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/calibration/points.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/completion/completion.hpp"
#include "sim/cli/help_topics.hpp"
#include "sim/engine/engine.hpp"
#include "sim/forecast/request.hpp"
#include "sim/import/readers.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/lab/networks.hpp"
#include "sim/plan/stack.hpp"
#include "sim/theory/law.hpp"

namespace gradcast {
namespace {

constexpr bool kFiles = true;
constexpr bool kList = true;

constexpr ValueKind kKinds[] = {
    {"model", "models", "", kFiles},
    {"models", "models", "all none", kFiles, kList},
    {"per-layer", "models", "", kFiles},
    {"trace", "traces", "", kFiles},
    {"costs", "costs", "", kFiles},
    {"measured", "measured", "", kFiles},
    {"structures", "structures", "", kFiles},
    {"events", "events", "", kFiles},
    {"cluster", "clusters", "", kFiles},
    {"stack", "stacks", "", kFiles},
    {"compressor", "compressors", "", kFiles},
    {"compressors", "compressors", "all", false, kList},
    {"collective", "collectives", ""},
    {"kind", "import-kinds", ""},
    {"params", "", "", kFiles},
    {"engine", "engines", ""},
    {"against", "compressors", ""},
    {"distributions", "inputs", "", kFiles, kList},
    {"distribution", "distributions", "", kFiles, kList},
    {"over", "", "nic-bandwidth nodes density kernel-cost"},
    {"training", "", "", kFiles, kList},
    {"target", "", "best best-1"},
    {"fitted", "stacks", "none", kFiles},
    {"shard", "", "auto"},
    {"scale-costs-to", "devices", ""},
    {"costs-of", "devices", ""},
    {"format", "", "table csv json"},
    {"preset", "", "today paper"},
    {"color", "", "auto always never"},
    {"config", "", "none", kFiles},
    {"overlap", "", "yes no"},
    {"extrapolate", "", "yes no"},
    {"pipeline", "", "yes no"},
    {"compressing", "", "yes no"},
    {"framework-in-compute", "", "yes no"},
    {"gradient-copies", "", "each view batched"},
    {"broadcast-buffers", "", "yes no"},
    {"fusion", "", "layer merged ddp ddp-find-unused mg-wfbp omgs best"},
    {"queue", "", "fifo priority"},
    {"synchronise", "", "usual every last"},
    {"sharding", "", "none zero1 zero2 fsdp hsdp"},
    {"reshard-after-forward", "", "yes no"},
    {"parameter-type", "", "fp32 bf16 fp16"},
    {"gradient-type", "", "fp32 bf16 fp16"},
    {"sum-type", "", "fp32 bf16 fp16"},
    {"activation-type", "", "fp32 bf16 fp16"},
    {"recompute", "", "none full"},
    {"optimizer", "", "sgd momentum adam"},
    {"selection", "", "merged per-tensor"},
    {"encode-stream", "", "compute side"},
    {"mode", "", "paper code"},
    {"implementation", "", "gradcast-cuda gradcast-cpu torch cub"},
    {"wire-messages", "", "1 2"},
    {"device", "devices", "cpu gpu"},
    {"baselines", "", "cub torch none", false, kList},
    {"network", "networks", ""},
    {"dataset", "", "fashion-mnist common-licenses made"},
    {"data", "", "", kFiles},
    {"aggregation", "", "gather gtopk global"},
    {"feedback", "", "yes no"},
    {"momentum-correction", "", "yes no"},
    {"masking", "", "yes no"},
    {"shared-scale", "", "yes no"},
    {"shared-seed", "", "yes no"},
    {"value-type", "", "fp32 fp16 bf16"},
    {"check-bound", "", "yes no"},
    {"counts", "", "", kFiles},
    {"leave-one-out", "", "model row source method trace"},
    {"names", "kinds", ""},
    {"SHELL", "", "bash zsh fish"},
    {"COMMAND", "commands", ""},
    {"TOPIC", "topics", ""},
    {"PAGE", "pages", ""},
};

using Names = std::vector<std::string>;

Names of_files(const DataKind& kind) { return DataFiles::standard().names(kind); }

template <class Range>
Names names_in(const Range& range) {
  Names names;
  for (const auto& entry : range) names.emplace_back(entry.name);
  return names;
}

template <class Range>
Names names_behind(const Range& pointers) {
  Names names;
  for (const auto* entry : pointers) names.emplace_back(entry->name);
  return names;
}

Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct NameSource {
  std::string_view kind;
  std::function<Names()> names;
};

const std::vector<NameSource>& sources() {
  static const std::vector<NameSource> all = {
      {"models", [] { return of_files(kModels); }},
      {"traces", [] { return of_files(kIterationTraces); }},
      {"costs", [] { return of_files(kCostTables); }},
      {"measured", [] { return of_files(kMeasuredRuns); }},
      {"structures", [] { return of_files(kFitStructures); }},
      {"events", [] { return of_files(kEvents); }},
      {"clusters", [] { return of_files(kClusters); }},
      {"stacks",
       [] {
         Names names = of_files(kStacks);
         std::erase_if(names, is_for_judging);
         return names;
       }},
      {"devices",
       [] {
         DataFiles files = DataFiles::standard();
         return names_in(load_devices(files.read(kDevices, "devices")));
       }},
      {"compressors", [] { return names_behind(all_compressors()) + of_files(kCompressorFiles); }},
      {"collectives", collective_names},
      {"engines", [] { return names_in(all_engines()); }},
      {"networks", [] { return names_in(lab::all_networks()); }},
      {"distributions", law_names},
      {"inputs", input_names},
      {"import-kinds", [] { return names_in(import_readers_in_order()); }},
      {"commands", [] { return names_in(all_commands()); }},
      {"topics", [] { return names_in(all_commands()) + names_in(all_help_topics()); }},
      {"pages",
       [] {
         return names_in(all_commands()) + Names{"gradcast", "formats"};
       }},
      {"kinds", name_kinds},
  };
  return all;
}

}  // namespace

std::span<const ValueKind> all_value_kinds() { return kKinds; }

const ValueKind* find_value_kind(std::string_view of) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const ValueKind& kind) { return kind.of == of; });
  return found == std::end(kKinds) ? nullptr : found;
}

ValueKind value_kind_of(const FlagInfo& flag) {
  if (const ValueKind* kind = find_value_kind(flag.name)) return *kind;
  return {"", "", "", flag.value == "FILE" || flag.writes != Writes::Nothing};
}

ValueKind value_kind_of_words(const CommandInfo& command) {
  if (const ValueKind* kind = find_value_kind(command.words)) return *kind;
  return {"", "", "", kFiles};
}

std::vector<std::string> name_kinds() {
  Names kinds;
  for (const NameSource& source : sources()) kinds.emplace_back(source.kind);
  return kinds;
}

std::vector<std::string> names_of_kind(const std::string& kind) {
  for (const NameSource& source : sources())
    if (source.kind == kind) return source.names();
  throw ValueError("there are no names of '" + kind + "'" + did_you_mean(kind, name_kinds()) +
                   " (known: " + join(name_kinds()) + ")");
}

}  // namespace gradcast
