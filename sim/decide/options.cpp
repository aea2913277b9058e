#include "sim/decide/options.hpp"

#include <algorithm>
#include <array>

#include "sim/base/units.hpp"
#include "sim/breakeven/asked.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/property_name.hpp"

namespace gradcast {
namespace {

/// Buckets four times as large as DDP's.
constexpr const char* kLargeBuckets = "ddp:100MiB";

std::string flag_of(std::string property) {
  std::replace(property.begin(), property.end(), '_', '-');
  return property;
}

/// Gives the option's cluster another value of a property.
void change(Option& option, const std::string& property, const std::string& value) {
  auto& changed = option.request.changed;
  std::erase_if(changed, [&](const ClusterProperty& each) { return each.name == property; });
  changed.push_back({property, value});
  option.flags.emplace_back(flag_of(property), value);
}

std::string twice(BytesPerSecond rate) { return to_text(BytesPerSecond{2 * rate.value}); }

Option refused(std::string name, Change change, std::string why) {
  return {std::move(name), change, {}, {}, std::move(why)};
}

bool on_platform(const Cluster& cluster) { return !cluster.platform_file.empty(); }

Option faster_network(const Request& asked, const Cluster& cluster) {
  Option option{"network x 2 (" + twice(cluster.nic.bandwidth) + ")", Change::Network, asked};
  change(option, "nic_bandwidth", twice(cluster.nic.bandwidth));
  // Switches that carry twice the bytes belong to such a network.
  if (cluster.leaf_uplink_bandwidth.value > 0)
    change(option, "leaf_uplink_bandwidth", twice(cluster.leaf_uplink_bandwidth));
  if (cluster.pod_uplink_bandwidth.value > 0)
    change(option, "pod_uplink_bandwidth", twice(cluster.pod_uplink_bandwidth));
  return option;
}

Option more_nics(const Request& asked, const Cluster& cluster) {
  const int nics = 2 * cluster.nics_per_node;
  Option option{"NICs x 2 (" + std::to_string(nics) + " a node)", Change::Network, asked};
  if (nics > cluster.gpus_per_node)
    option.refused = cluster.gpus_per_node == cluster.nics_per_node
                         ? "every GPU has a NIC of its own"
                         : "a node has fewer GPUs";
  else
    change(option, "nics_per_node", std::to_string(nics));
  return option;
}

void add_network(std::vector<Option>& options, const Request& asked, const Cluster& cluster) {
  if (on_platform(cluster))
    options.push_back(refused("network x 2", Change::Network, "the platform file gives the links"));
  else if (cluster.nodes == 1)
    options.push_back(
        refused("network x 2", Change::Network, "one node sends nothing by its NICs"));
  else if (!cluster.nodes_alike())
    options.push_back(refused("network x 2", Change::Network, "nodes differ; name a bandwidth"));
  else {
    options.push_back(faster_network(asked, cluster));
    options.push_back(more_nics(asked, cluster));
  }
}

void add_nodes(std::vector<Option>& options, const Request& asked, const Cluster& cluster) {
  if (on_platform(cluster) || !cluster.nodes_alike()) {
    options.push_back(
        refused("nodes x 2", Change::Nodes,
                on_platform(cluster) ? "the platform file gives the nodes" : "nodes differ"));
    return;
  }
  const auto add = [&](const std::string& name, int nodes) {
    Option option{name + " (" + std::to_string(nodes) + ")", Change::Nodes, asked};
    change(option, "nodes", std::to_string(nodes));
    options.push_back(std::move(option));
  };
  add("nodes x 2", 2 * cluster.nodes);
  if (cluster.nodes > 1 && cluster.nodes % 2 == 0) add("nodes / 2", cluster.nodes / 2);
}

Option larger_batch(const Request& asked, const Scenario& now) {
  const int batch = 2 * now.batch();
  Option option{"batch x 2 (" + std::to_string(batch) + " a GPU)", Change::Batch, asked};
  set_batch(option, batch, now);
  return option;
}

/// Says what differs from today's schedule.
std::string schedule_name(const Schedule& schedule, const Schedule& own) {
  const std::string when = schedule.overlap ? "overlap" : "no overlap";
  const std::string fusion = to_text(schedule.fusion);
  if (fusion == to_text(own.fusion)) return when;
  const bool ddp = schedule.fusion.kind == Fusion::Kind::Ddp;
  const bool resized = !(schedule.fusion.size == own.fusion.size);
  const std::string buckets =
      ddp && own.fusion.finds_unused && !schedule.fusion.finds_unused
          ? "no find_unused_parameters" +
                (resized ? ", buckets of " + to_text(schedule.fusion.size) : "")
      : fusion == "layer"  ? "each tensor alone"
      : fusion == "merged" ? "all gradients in one"
      : ddp                ? "buckets of " + to_text(schedule.fusion.size)
                           : fusion;
  return buckets + (schedule.overlap == own.overlap ? "" : ", " + when);
}

/// Schedules that the software has: overlap the other way, larger buckets, and what `schedules_of`
/// names. Merged gradients have nothing to overlap with, so that `no overlap` stands for them.
void add_schedules(std::vector<Option>& options, const Request& asked, const Request& today,
                   DataFiles& files) {
  const bool sharded = today.sharding.kind == Sharding::Fsdp;
  const Schedule own = schedule_of(today);
  std::vector<Schedule> known = schedules_of(today, files);
  const bool overlaps = std::any_of(known.begin(), known.end(),
                                    [](const Schedule& schedule) { return schedule.overlap; });
  std::vector<Schedule> tried;
  const bool merged = to_text(own.fusion) == "merged" && !sharded;  // nothing of it can overlap
  if (own.overlap || (overlaps && !merged)) tried.push_back({own.fusion, !own.overlap});
  if (overlaps && !sharded) {
    Fusion large = parse_fusion(kLargeBuckets);
    large.finds_unused = own.fusion.finds_unused;
    tried.push_back({large, true});
  }
  if (own.fusion.finds_unused && !sharded) {
    Fusion without = own.fusion;
    without.finds_unused = false;
    tried.push_back({without, own.overlap});
  }
  for (const Schedule& schedule : known)
    if (schedule.overlap || !own.overlap) tried.push_back(schedule);
  std::vector<std::string> seen{to_text(own)};
  for (const Schedule& schedule : tried) {
    if (std::find(seen.begin(), seen.end(), to_text(schedule)) != seen.end()) continue;
    seen.push_back(to_text(schedule));
    Option option{schedule_name(schedule, own), Change::Schedule, with_schedule(asked, schedule)};
    if (!sharded) option.flags.emplace_back("fusion", to_text(schedule.fusion));
    option.flags.emplace_back("overlap", schedule.overlap ? "yes" : "no");
    options.push_back(std::move(option));
  }
}

/// DDP need not broadcast buffers that are the same on all ranks, as tables of rotary embeddings
/// are. Those of batch normalisation are small.
void add_buffers(std::vector<Option>& options, const Request& asked, const Scenario& now) {
  constexpr double kLarge = 0.01;  // of the gradients
  if (!now.broadcast_buffers) return;
  double buffers = 0;
  double gradients = 0;
  for (const Bytes bytes : now.model->buffers()) buffers += static_cast<double>(bytes.count);
  for (const GradientTensor& tensor : now.model->tensors)
    gradients += static_cast<double>(tensor.gradient_bytes().count);
  if (buffers < kLarge * gradients) return;
  Option option{"broadcast_buffers=False", Change::Schedule, asked};
  option.request.broadcast_buffers = false;
  option.flags = {{"broadcast-buffers", "no"}};
  options.push_back(std::move(option));
}

/// True for PyTorch's DDP on NCCL, also as it was learned on a cluster.
bool is_ddp_on_nccl(const Request& request, DataFiles& files) {
  const auto stack = stack_of(request, files);
  const std::optional<UsualSchedule>& usual = stack->schedule;
  return stack_label(request.stack) == "ddp-nccl" ||
         (stack->factor && usual && usual->collective == "nccl" &&
          usual->fusion.kind == Fusion::Kind::Ddp);
}

}  // namespace

void set_software(Option& option, DataFiles& files) {
  if (!option.request.stack_given || option.request.stack.empty()) return;
  const std::string missing = missing_sharding(option.request, files);
  if (missing.empty()) return;
  if (is_ddp_on_nccl(option.request, files)) {
    option.request.stack = "fsdp2-nccl";
    option.flags.emplace_back("stack", option.request.stack);
  } else {
    option.refused = missing;
  }
}

namespace {

void add_shardings(std::vector<Option>& options, const Request& asked, const Scenario& now,
                   DataFiles& files) {
  struct Named {
    const char* flag;
    const char* name;
  };
  constexpr std::array kNamed{Named{"none", "no sharding"}, Named{"zero1", "ZeRO-1"},
                              Named{"fsdp", "FSDP"}, Named{"hsdp", "FSDP in a node (HSDP)"}};
  for (const Named& named : kNamed) {
    const std::string flag = named.flag;
    const bool alone = now.cluster.nodes == 1 || now.cluster.gpus_per_node == 1;
    if (flag == to_text(now.sharding) || (flag == "hsdp" && alone)) continue;
    Option option{named.name, Change::Sharding, asked};
    option.request.sharding = parse_sharding(flag);
    option.request.sharding_given = true;
    option.flags = {{"sharding", flag}};
    set_software(option, files);
    options.push_back(std::move(option));
  }
}

/// A cast halves what is sent in fp32, and nothing that is sent in 16 bits already.
bool sends_fp32(const Model& model) {
  return std::any_of(model.tensors.begin(), model.tensors.end(), [](const GradientTensor& tensor) {
    return tensor.sum_type == NumberType::Fp32;
  });
}

void add_compressors(std::vector<Option>& options, const Request& asked, const Scenario& now,
                     const std::vector<std::string>& compressors) {
  const bool several = compressors.size() > 1;
  for (const std::string& name : compressors) {
    const Compressor& compressor = known_compressor(name, false);
    Option option{std::string(compressor.name), Change::Compressor,
                  with_compressor(asked, std::string(compressor.name), several)};
    option.flags = {{"compressor", name}};  // as it was typed: perhaps a path
    if (compressor.family == Family::Sparsifier)
      option.name += " (density " + number_to_text(asked.density) + ")";
    else if (!compressor.parameter.name.empty())
      option.name +=
          " (" + parameter_text(compressor, parameter_of(compressor, option.request.parameter)) +
          ")";
    if (now.cluster.ranks() == 1)
      option.refused = "one GPU sends nothing";
    else if (now.sharding.kind == Sharding::Fsdp && now.replicas() == 1)
      option.refused = "FSDP over all GPUs leaves no gradients to compress; HSDP does";
    else if (compressor.family == Family::Cast && !sends_fp32(now.model))
      option.refused = "gradients are sent in 16 bits already";
    options.push_back(std::move(option));
  }
}

}  // namespace

std::string_view to_text(Change change) {
  constexpr std::array<std::string_view, 7> kWords{"network",  "nodes",     "batch",     "schedule",
                                                   "sharding", "recompute", "compressor"};
  return kWords.at(static_cast<std::size_t>(change));
}

Request dense_request(Request request) {
  request.compressor = "dense";
  request.parameter.reset();
  request.mode.clear();
  request.implementation.clear();
  return request;
}

void set_batch(Option& option, int batch, const Scenario& now) {
  option.request.batch = batch;
  option.flags.emplace_back("batch", std::to_string(batch));
  std::optional<Seconds>& compute = option.request.compute;
  if (!compute) return;
  const Seconds update = std::min(now.trace->update, *compute);
  *compute = update + (*compute - update) * (static_cast<double>(batch) / now.batch());
  option.flags.emplace_back("compute-seconds", to_text(*compute));
}

std::vector<std::string> usual_compressors() {
  return {"fp16", "powersgd", "int8", "topk", "dgc", "gaussian"};
}

std::vector<Option> options_of(const Request& asked, const Request& today, const Scenario& now,
                               const std::vector<std::string>& compressors, DataFiles& files) {
  std::vector<Option> options;
  const Request dense = dense_request(asked);
  add_network(options, dense, now.cluster);
  add_nodes(options, dense, now.cluster);
  options.push_back(larger_batch(dense, now));
  if (now.cluster.ranks() > 1) {
    add_schedules(options, dense, today, files);
    add_buffers(options, dense, now);
    add_shardings(options, dense, now, files);
  }
  if (now.recompute == Recompute::None && !now.model->tensors.front().unit.empty()) {
    Option option{"recomputation", Change::Recompute, dense};
    option.request.recompute = Recompute::Full;
    option.flags = {{"recompute", to_text(Recompute::Full)}};
    options.push_back(std::move(option));
  }
  add_compressors(options, asked, now, compressors);
  return options;
}

}  // namespace gradcast
