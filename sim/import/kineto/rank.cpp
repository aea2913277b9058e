#include "sim/import/kineto/rank.hpp"

#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/import/kineto/linking.hpp"
#include "sim/import/kineto/optimizer.hpp"
#include "sim/import/kineto/shards.hpp"

namespace gradcast::kineto {
namespace {

std::string device_of(const Recording& recording) {
  for (const auto& [id, name] : recording.head.devices)
    if (!recording.devices.empty() && id == recording.devices.front()) return name;
  return recording.head.devices.size() == 1 ? recording.head.devices.front().second : "";
}

void require_one_device(const Recording& recording) {
  if (recording.devices.size() > 1)
    throw DataError(recording.file, 0,
                    "has kernels on " + std::to_string(recording.devices.size()) +
                        " GPUs of one process (DataParallel, or a model in parts); gradcast "
                        "forecasts a process a GPU");
}

}  // namespace

Rank read_rank(const std::filesystem::path& path, const ReadEvents& read) {
  Recording recording = read_recording(path, read);
  Rank rank;
  rank.file = recording.file;
  rank.head = recording.head;
  rank.device = device_of(recording);
  rank.events = recording.events;
  rank.gpu_operations = recording.gpu.size();
  require_one_device(recording);
  if (recording.on_host_to_all) refuse_hybrids(recording, {}, 0, false);  // whatever else is amiss
  rank.linked = link_launches(recording);
  rank.optimizer_class = optimizer_class(recording);
  rank.optimizer = optimizer_of(recording, rank.optimizer_class);
  rank.fused_update = rank.optimizer && fused(recording, rank.optimizer_class);
  rank.steps = find_steps(recording);
  for (const Span& span : update_spans(recording, rank.steps))
    recording.operators.push_back(
        {span.start, span.end, -1, -1, 0, rank.steps.thread, OperatorKind::OptimizerStep});
  set_phases(recording, rank.steps.thread);
  rank.sends_each = separate_compiled_sends(recording, rank.steps);
  rank.times = times_of_windows(recording, rank.steps);
  rank.launch_latency = launch_latency(recording, rank.steps);
  rank.gradients = gradients_of_steps(recording, rank.steps);
  rank.collectives = collectives_of_steps(recording, rank.steps, true);
  const std::vector<StepCollectives> all = collectives_of_steps(recording, rank.steps, false);
  rank.shards = shards_of(rank.collectives, rank.head.world_size);
  refuse_hybrids(recording, all, rank.head.world_size, rank.shards.has_value());
  if (rank.shards) {
    require_data_parallel(recording, *rank.shards, rank.head.world_size);
    set_units(recording, rank.collectives, rank.gradients);
  }
  return rank;
}

double median_of(const Rank& rank, Nanoseconds WindowTimes::*member) {
  std::vector<double> values;
  for (const WindowTimes& times : rank.times) values.push_back(static_cast<double>(times.*member));
  return median(values) * 1e-9;
}

int element_bytes_of(const Rank& rank) {
  for (const StepCollectives& step : rank.collectives)
    for (const CollectiveCall& call : step.calls)
      if (call.of_gradients && call.what.element_bytes > 0) return call.what.element_bytes;
  return 4;
}

}  // namespace gradcast::kineto
