#include "sim/options/request_flags.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {
namespace {

void add_training_flags(Flags& flags) {
  flags.add("synchronise",
            "of several micro-steps: every or last, whose gradients are sent; usual: every where "
            "gradients are sharded (zero2, fsdp, hsdp), else last",
            "usual");
  flags.add("sharding",
            "what a rank keeps a shard of: none, zero1 (the optimizer's state), zero2 (gradients "
            "too), fsdp (parameters too), hsdp (as fsdp inside each node, with nodes as replicas)",
            "none");
  flags.add("shard-group",
            "how many neighbouring ranks share a copy of what is sharded (default: all; with hsdp "
            "those of a node)");
  flags.add("unit-size",
            "of fsdp and hsdp: parameters of a unit, at least, like 20M (default: the units "
            "that the model names)");
  flags.add("prefetch",
            "of fsdp and hsdp: how many units are gathered ahead of the one that is computed "
            "(default: 1 with overlap, else 0)");
  flags.add("reshard-after-forward",
            "of fsdp and hsdp: whether a unit's parameters are dropped after its forward, and "
            "gathered again for backward",
            "yes");
  flags.add("parameter-type",
            "type of the parameters, and of their gradients: fp32, bf16 or fp16 (default: the "
            "model's)");
  flags.add("gradient-type", "type of the gradients (default: that of the parameters)");
  flags.add("sum-type",
            "type in which gradients are added up, and so sent where they are not compressed "
            "(default: that of the gradients)");
  flags.add("activation-type",
            "type of what forward keeps for backward; counts for memory, not for time (default: "
            "--parameter-type, else the trace's, else the model's)");
  flags.add("recompute",
            "none; or full: each unit of the model but the last keeps its input alone, and its "
            "forward is computed again in backward (activation checkpointing)",
            "none");
  flags.add("optimizer",
            "sgd, momentum or adam (also adamw): memory for what it keeps, and time for its step "
            "where the trace says whose step it has (default: the trace's, else momentum)");
}

/// Fills that part of the request. Throws UsageError.
void read_training(const Flags& flags, Request& request) {
  request.synchronise = flags.value("synchronise", parse_synchronise);
  request.sharding = flags.value("sharding", parse_sharding);
  request.sharding_given = flags.given("sharding");
  if (flags.given("shard-group")) request.sharding.group = flags.value("shard-group", parse_count);
  if (flags.given("unit-size"))
    request.sharding.unit_elements = flags.value("unit-size", parse_unit_size);
  if (flags.given("prefetch")) request.sharding.prefetch = flags.value("prefetch", parse_prefetch);
  request.sharding.reshard_after_forward = flags.value("reshard-after-forward", parse_yes_no);
  const auto type = [&](const char* flag, std::optional<NumberType>& asked) {
    if (flags.given(flag)) asked = flags.value(flag, parse_tensor_type);
  };
  type("parameter-type", request.precision.parameter);
  type("gradient-type", request.precision.gradient);
  type("sum-type", request.precision.sum);
  type("activation-type", request.precision.activation);
  request.recompute = flags.value("recompute", parse_recompute);
  if (flags.given("optimizer")) request.optimizer = flags.value("optimizer", parse_optimizer);
}

std::string flag_of(std::string property) {
  std::replace(property.begin(), property.end(), '_', '-');
  return property;
}

Bytes parse_payload(std::string_view text) {
  const Bytes payload = parse_bytes(text);
  if (payload.count > 0) return payload;
  throw ValueError("a collective carries at least one byte; write a size like '100MiB'");
}

void read_schedule(const Flags& flags, Request& request) {
  request.best_schedule = flags.text("fusion") == kBestFusion;
  request.fusion_given = flags.given("fusion");
  request.overlap_given = flags.given("overlap");
  if (request.best_schedule && request.overlap_given)
    throw UsageError("--fusion best chooses the overlap too: leave --overlap out");
  if (!request.best_schedule) request.fusion = flags.value("fusion", parse_fusion);
  request.overlap = flags.value("overlap", parse_yes_no);
}

}  // namespace

Seconds parse_compute_seconds(std::string_view text) {
  double bare = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bare);
  const bool has_unit = error != std::errc{} || end != text.data() + text.size();
  const Seconds time = has_unit ? parse_time(text) : Seconds{bare};
  if (std::isfinite(time.count()) && time > Seconds{0}) return time;
  throw ValueError("an iteration takes more than 0 s; write a time like '120ms'");
}

void add_request_flags(Flags& flags) {
  const Request defaults;
  flags.add("model", "a name of `gradcast list`, or a .csv file");
  flags.add("payload", "one collective of this size instead of a model, like 100MiB");
  flags.add(
      "preset",
      "what is assumed where no flag says otherwise. today: PyTorch's DistributedDataParallel "
      "on NCCL, its buckets overlapped with backward, NCCL's choice of collectives over all "
      "NICs, a trace of the cluster's GPUs; paper: the run of 2019, one merged all-reduce "
      "after backward on a plain ring, on V100, without any software's costs",
      "today");
  flags.add("trace",
            "iteration trace (default: iteration-<model>-<the cluster's GPU>, or the nearest GPU's "
            "scaled, or where the model has none and --compute-seconds is given, shares by its "
            "forward_flops; by --preset paper iteration-<model>-v100)");
  flags.add("batch", "images per GPU (default: the trace's)");
  flags.add("compute-seconds",
            "time of an iteration on one GPU alone, like 120ms or 0.12: forward, backward and the "
            "optimizer's step. The trace is scaled to it; what --recompute adds comes on top "
            "(default: the trace's)");
  flags.add("framework-in-compute",
            "yes: the trace was taken with DDP or FSDP at work, so that per_tensor_overhead and "
            "shard_copy_passes are in it and not added again",
            "no");
  flags.add(
      "gradient-copies",
      "how DDP copies gradients into buckets and back: each (a tensor at a time, as it does by "
      "itself), view (gradient_as_bucket_view), batched (batched_grad_copy)",
      to_text(defaults.gradient_copies));
  flags.add("broadcast-buffers",
            "whether rank 0 broadcasts the model's buffers, as running statistics, before forward: "
            "yes or no (default: the stack's: DDP does; FSDP never does)");
  flags.add("accumulation",
            "micro-steps that the batch is divided into: their gradients add up and are sent after "
            "the last, or each time (--synchronise)",
            "1");
  add_training_flags(flags);
  flags.add("compressor", "a name of `gradcast list`, or a .csv file that describes one",
            defaults.compressor);
  flags.add("density", "share of the elements that a sparse compressor keeps, like 0.01 or 1%",
            number_to_text(defaults.density));
  flags.add("parameter",
            "the number that a compressor takes beside or in place of a density: levels, rank, ... "
            "(default: its source's; `gradcast list` names it)");
  flags.add("mode",
            "paper or code: which definition to take, where a compressor's paper and its authors' "
            "code differ");
  flags.add("costs",
            "cost table of the compressors; what a file of yours lacks comes from the usual one "
            "(default: cost-v100-derived, scaled to the GPU at hand; by `--preset paper` on a V100 "
            "and with `--implementation torch`: " +
                defaults.costs + ")");
  flags.add("implementation",
            "whose kernels the costs are of: gradcast-cuda, torch, ... (default: the project's "
            "own, where the costs have them)");
  flags.add(
      "fusion",
      "layer, merged, a bucket size such as 25MiB, ddp (PyTorch's buckets: 1 MiB, then 25 MiB "
      "each; or ddp:50MiB, all of that size), ddp-find-unused (the same with "
      "find_unused_parameters=True), cycle:5ms,64MiB (Horovod's: every 5 ms all that is ready, up "
      "to 64 MiB together), mg-wfbp or omgs (planned mergings), best (the fastest of merged, ddp "
      "and layer, "
      "overlapped where that helps; the stack's own too)",
      to_text(defaults.fusion));
  flags.add("selection",
            "merged: k elements of the whole bucket; per-tensor: k of each of its tensors, in one "
            "call where the costs have it",
            to_text(defaults.selection));
  flags.add("overlap",
            "whether communication overlaps with backward: yes or no (default: the stack's, as for "
            "the fusion; by --preset paper no)",
            "no");
  flags.add("extrapolate",
            "yes: also answer where a density is beyond the cost table by more than a factor of 3, "
            "or a size above it by as much",
            "no");
  flags.add("pipeline",
            "without overlap: whether a bucket is sent while others are encoded and decoded; no: "
            "all are encoded, then sent one at a time, then decoded",
            "no");
  flags.add("queue",
            "order of the buckets. fifo: as they are ready, and the update waits for all; "
            "priority: nearest to the input first, and the next forward begins layer by layer",
            to_text(defaults.queue));
  flags.add("network-streams",
            "how many collectives of a communicator may run at the same time "
            "(default: the stack's: 2 with ddp-gloo on Gloo, else 1)");
  flags.add("encode-stream",
            "stream on which compressors run: compute (after backward's kernels) or side",
            to_text(defaults.encode_stream));
  flags.add("encode-slowdown",
            "how much longer backward takes while a compressor runs on the side stream", "0%");
  flags.add(
      "compressing",
      "no: what the compressor would send is sent, but compressing takes no time (how fast it "
      "could be at best)",
      "yes");
  flags.add("count-spread",
            "how far apart the ranks' counts of selected elements are (standard deviation over "
            "mean), where a compressor selects a varying number",
            "0%");
  flags.add(
      "collective",
      "nccl: NCCL's choice of algorithm and protocol, by its own tables, or RCCL's on AMD's GPUs; "
      "rccl: the same, on AMD's alone; gloo, open-mpi (4.1) "
      "or open-mpi-4.0: that library's choice; a name of `gradcast list`; "
      "or auto: ring or tree, by size (default: nccl; by --preset paper the compressor's "
      "ring). A payload may also be "
      "nccl-all-gather, nccl-reduce-scatter, nccl-broadcast or nccl-send-receive, all of them by "
      "rccl, and the first two by any library, like gloo-all-gather. An all-reduce "
      "also adds up the values of "
      "randk, whose seed the ranks share, and "
      "the levels of qsgd and terngrad, whose scale they share");
  flags.add("nccl",
            "version of NCCL whose tables choose, like 2.18 or 2.27.5; or torch-2.5: what that "
            "PyTorch brings; on AMD's GPUs that of RCCL, from 2.25 on",
            "2.27.5");
  flags.add("value-type",
            "the type in which a sparsifier's values travel: fp32, fp16 or bf16 (indices have 4 "
            "bytes)",
            "fp32");
  flags.add("wire-bytes-per-element",
            "bytes that one element of a sparse gradient takes when sent (default: a value of "
            "--value-type and its index of 4; the value alone where an all-reduce adds up values)");
  flags.add("wire-messages",
            "1: one collective of index-value pairs; 2: one of values and one of indices", "1");
  flags.add("events", "a .csv file of events around the job: pauses, changed links, other traffic");
  flags.add("concurrent-jobs", "how many equal jobs use the same network at the same time", "1");
  flags.add("seed", "seed of everything that is drawn at random", "1");
  flags.add("stack",
            "software beside the hardware: a name of `gradcast list`, or a .csv file; none: "
            "physics alone "
            "(default: ddp-nccl, of --sharding fsdp and hsdp fsdp2-nccl, of zero2 "
            "deepspeed-zero; by --preset paper none)");
  add_cluster_flags(flags);
}

void add_cluster_flags(Flags& flags) {
  flags.add("cluster", "a name of `gradcast list`, a .csv file, or SimGrid's platform .xml",
            Request{}.cluster);
  for (const ClusterProperty& property : properties_of(Cluster{}))
    flags.add(flag_of(property.name), property.help + " (default: the cluster's)");
}

void read_cluster(const Flags& flags, Request& request, const std::set<std::string>& lists) {
  request.cluster = flags.text("cluster");
  for (const ClusterProperty& property : properties_of(Cluster{})) {
    const std::string flag = flag_of(property.name);
    if (!flags.given(flag) || lists.count(flag) > 0) continue;
    // Checked here, where the flag is known; applied by make_scenario.
    flags.value(flag, [&](const std::string& text) {
      Cluster tried;
      set_property(tried, property.name, text);
      return 0;
    });
    request.changed.push_back({property.name, flags.text(flag)});
  }
}

Request read_request(const Flags& flags, const std::set<std::string>& lists) {
  Request request;
  request.model = flags.text("model");
  if (flags.given("payload")) {
    if (!request.model.empty())
      throw UsageError("--payload asks for a collective without a model: leave --model out");
    request.payload = flags.value("payload", parse_payload);
  } else if (request.model.empty()) {
    throw UsageError("--model is missing: a name of `gradcast list`, or a .csv file");
  }
  request.trace = flags.text("trace");
  if (flags.given("batch")) request.batch = flags.value("batch", parse_count);
  if (flags.given("compute-seconds")) {
    if (request.payload)
      throw UsageError("--compute-seconds is for a model, and --payload has none: leave it out");
    request.compute = flags.value("compute-seconds", parse_compute_seconds);
  }
  request.framework_in_compute = flags.value("framework-in-compute", parse_yes_no);
  request.gradient_copies = flags.value("gradient-copies", parse_gradient_copies);
  if (flags.given("broadcast-buffers"))
    request.broadcast_buffers = flags.value("broadcast-buffers", parse_yes_no);
  request.accumulation = flags.value("accumulation", parse_accumulation);
  read_training(flags, request);
  request.compressor = flags.value("compressor", compressor_name);
  request.density = flags.value("density", parse_density);
  if (flags.given("parameter")) request.parameter = flags.value("parameter", parse_parameter);
  request.mode = flags.value("mode", parse_mode);
  request.costs = flags.text("costs");
  request.implementation = flags.text("implementation");
  read_schedule(flags, request);
  request.selection = flags.value("selection", parse_selection);
  request.pipeline = flags.value("pipeline", parse_yes_no);
  request.collective = flags.text("collective");
  if (flags.given("nccl")) {
    flags.value("nccl", parse_nccl_version);
    request.nccl = flags.text("nccl");
  }
  request.value_type = flags.value("value-type", parse_value_type);
  if (flags.given("wire-bytes-per-element"))
    request.wire_bytes_per_element = flags.value("wire-bytes-per-element", parse_wire_bytes);
  if (flags.given("wire-messages"))
    request.wire_messages = flags.value("wire-messages", parse_wire_messages);
  request.queue = flags.value("queue", parse_queue);
  if (flags.given("network-streams"))
    request.network_streams = flags.value("network-streams", parse_network_streams);
  request.encode_stream = flags.value("encode-stream", parse_encode_stream);
  request.encode_slowdown = flags.value("encode-slowdown", parse_percent);
  request.extrapolate = flags.value("extrapolate", parse_yes_no);
  request.compressing = flags.value("compressing", parse_yes_no);
  request.count_spread = flags.value("count-spread", parse_percent);
  request.events = flags.text("events");
  request.concurrent_jobs = flags.value("concurrent-jobs", parse_concurrent_jobs);
  request.seed = flags.value("seed", parse_seed);
  const std::vector<std::string> own = flags.own_names();
  const bool names_fitted =
      std::find(own.begin(), own.end(), "fitted") != own.end() && flags.given("fitted");
  request.today = flags.value("preset", parse_preset) == Preset::Today;
  request.stack = flags.text("stack") == "none" ? "" : flags.text("stack");
  request.stack_given = flags.given("stack") || names_fitted;
  read_cluster(flags, request, lists);
  return request;
}

}  // namespace gradcast
