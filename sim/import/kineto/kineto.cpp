// The reader of PyTorch profiler traces: one rank's file, or those of all ranks.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/import/kineto/collectives.hpp"
#include "sim/import/kineto/gradients.hpp"
#include "sim/import/kineto/linking.hpp"
#include "sim/import/kineto/model.hpp"
#include "sim/import/kineto/profile.hpp"
#include "sim/import/kineto/sizes.hpp"
#include "sim/import/kineto/window_times.hpp"
#include "sim/import/readers.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast::kineto {
namespace {

/// The share of a step that the GPU waits for its host from which launches are part of the trace.
constexpr double kHostMatters = 0.1;

/// What is kept of one rank's file when it was looked through.
struct Rank {
  std::string file;
  Head head;
  std::string device;
  std::int64_t events = 0;
  std::size_t gpu_operations = 0;
  std::size_t linked = 0;
  Nanoseconds launch_latency = 0;
  Steps steps;
  bool sends_each = false;                   // gradient by itself, as compiled backwards do
  std::vector<WindowTimes> times;            // of the used steps
  std::vector<StepGradients> gradients;      // likewise
  std::vector<StepCollectives> collectives;  // likewise
};

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

Rank read_rank(const std::filesystem::path& path, const ReadEvents& read) {
  Recording recording = read_recording(path, read);
  Rank rank;
  rank.file = recording.file;
  rank.head = recording.head;
  rank.device = device_of(recording);
  rank.events = recording.events;
  rank.gpu_operations = recording.gpu.size();
  require_one_device(recording);
  if (recording.on_host_to_all) refuse_hybrids(recording, {}, 0);  // whatever else is amiss
  rank.linked = link_launches(recording);
  rank.steps = find_steps(recording);
  set_phases(recording, rank.steps.thread);
  rank.sends_each = separate_compiled_sends(recording, rank.steps);
  rank.times = times_of_windows(recording, rank.steps);
  rank.launch_latency = launch_latency(recording, rank.steps);
  rank.gradients = gradients_of_steps(recording, rank.steps);
  rank.collectives = collectives_of_steps(recording, rank.steps, true);
  refuse_hybrids(recording, collectives_of_steps(recording, rank.steps, false),
                 rank.head.world_size);
  return rank;
}

/// Leaves out the used steps whose gradients are not those of most steps: gradients that only add
/// up (no_sync), evaluation.
void drop_odd_steps(Rank& rank, ImportNotes& notes) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> count;
  const auto shape_of = [](const StepGradients& step) {
    return std::pair{step.gradients.size(), step.groups.size()};
  };
  for (const StepGradients& step : rank.gradients) ++count[shape_of(step)];
  const auto usual = std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  if (usual.first == 0)
    throw DataError(rank.file, 0,
                    "has no gradients (AccumulateGrad) in its steps: it is a trace of inference, "
                    "or its backward pass was compiled into one operator");
  std::size_t kept = 0, number = 0;
  for (Step& step : rank.steps.steps) {
    if (!step.used) continue;
    const std::size_t i = number++;
    if (shape_of(rank.gradients[i]) != usual) {
      step.used = false;
      notes.dropped.push_back(step.name + ": " +
                              std::to_string(rank.gradients[i].gradients.size()) +
                              " gradients, where others have " + std::to_string(usual.first));
      continue;
    }
    if (kept != i) {
      rank.times[kept] = rank.times[i];
      rank.gradients[kept] = std::move(rank.gradients[i]);
      rank.collectives[kept] = std::move(rank.collectives[i]);
    }
    ++kept;
  }
  rank.times.resize(kept);
  rank.gradients.resize(kept);
  rank.collectives.resize(kept);
}

std::size_t gradient_all_reduces(const StepCollectives& step) {
  return static_cast<std::size_t>(
      std::count_if(step.calls.begin(), step.calls.end(), [](const CollectiveCall& call) {
        return call.of_gradients && call.what.kind == CollectiveKind::AllReduce;
      }));
}

/// The steps whose collectives are told. Gradients that add up over several steps
/// (no_sync) are sent in the last of them only: the mean of all steps would be no step's.
std::vector<StepCollectives> sending_steps(const Rank& rank, ImportNotes& notes) {
  std::vector<StepCollectives> sending;
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const StepCollectives& step : rank.collectives) {
    const std::size_t count = gradient_all_reduces(step);
    least = std::min(least, count);
    most = std::max(most, count);
    if (count > 0) sending.push_back(step);
  }
  if (sending.empty()) return rank.collectives;
  if (sending.size() < rank.collectives.size())
    notes.unknown.push_back(
        "how often gradients are sent: only " + std::to_string(sending.size()) + " of " +
        std::to_string(rank.collectives.size()) +
        " steps all-reduce them, so they add up over several steps (gradient accumulation, "
        "no_sync). Collectives and buckets are those of a step that sends; a forecast needs "
        "--accumulation, and the batch of all its micro-steps");
  else if (least != most)
    notes.unknown.push_back("the all-reduces of a step: " + std::to_string(least) + " to " +
                            std::to_string(most) + ", so steps send different gradients");
  return sending;
}

void note_steps(const Rank& rank, Imported& imported) {
  std::vector<std::string> used;
  bool first_full = true;
  for (const Step& step : rank.steps.steps) {
    if (step.used) {
      used.push_back(step.name);
      ++imported.steps_used;
    } else {
      ++imported.steps_dropped;
      if (!step.full)
        imported.notes.dropped.push_back(
            step.name + ": no step follows whose first kernel would end it on the GPU");
      else if (first_full)
        imported.notes.dropped.push_back(step.name +
                                         ": the first full step, which the profiler may slow");
    }
    if (step.full) first_full = false;
  }
  if (rank.steps.by_optimizer)
    imported.notes.inferred.push_back("the " + std::to_string(rank.steps.steps.size()) +
                                      " steps, from the optimizer's calls: the trace marks none");
  const std::string which = used.size() > 3 ? used.front() + " to " + used.back() : join(used);
  imported.notes.used.push_back(std::to_string(used.size()) + " of " +
                                std::to_string(rank.steps.steps.size()) + " steps: " + which);
}

double median_of(const Rank& rank, Nanoseconds WindowTimes::*member) {
  std::vector<double> values;
  for (const WindowTimes& times : rank.times) values.push_back(static_cast<double>(times.*member));
  return median(values) * 1e-9;
}

ImportedTimes times_of(const Rank& rank) {
  const auto seconds = [&](Nanoseconds WindowTimes::*member) {
    return Seconds{median_of(rank, member)};
  };
  ImportedTimes times;
  times.window = seconds(&WindowTimes::window);
  times.compute = seconds(&WindowTimes::compute);
  times.exposed = seconds(&WindowTimes::exposed);
  times.idle = seconds(&WindowTimes::idle);
  times.busy = seconds(&WindowTimes::busy);
  times.host = seconds(&WindowTimes::host);
  times.wait = seconds(&WindowTimes::wait);
  times.other = seconds(&WindowTimes::other);
  times.forward = seconds(&WindowTimes::forward);
  times.backward = seconds(&WindowTimes::backward);
  times.update = seconds(&WindowTimes::update);
  return times;
}

/// The dtype of the gradients' all-reduces; 4 where the trace does not say.
int element_bytes_of(const Rank& rank) {
  for (const StepCollectives& step : rank.collectives)
    for (const CollectiveCall& call : step.calls)
      if (call.of_gradients && call.what.element_bytes > 0) return call.what.element_bytes;
  return 4;
}

void set_buckets(const std::vector<StepCollectives>& steps, int element_bytes, Imported& imported) {
  for (const StepCollectives& step : steps) {
    const std::vector<std::int64_t> its = buckets_of(step);
    if (imported.buckets.empty()) imported.buckets = its;
    if (its != imported.buckets) {
      imported.notes.unknown.push_back("buckets differ from step to step; those of " +
                                       steps.front().step + " are told");
      break;
    }
  }
  // The least a bucket took: in one step or another ranks came together.
  for (const StepCollectives& step : steps) {
    std::size_t number = 0;
    for (const CollectiveCall& call : step.calls) {
      if (!call.of_gradients || call.what.kind != CollectiveKind::AllReduce ||
          call.what.elements < 1)
        continue;
      const Seconds seconds = to_seconds(call.span.end - call.span.start);
      if (number == imported.transfers.size())
        imported.transfers.push_back({Bytes{call.what.elements * element_bytes}, seconds});
      imported.transfers[number].seconds = std::min(imported.transfers[number].seconds, seconds);
      ++number;
    }
  }
}

/// The least that each all-reduce took, where the trace does not say how much it sent: the k-th
/// largest gradient is taken to be what took the k-th longest.
void pair_by_size(const Rank& rank, int element_bytes, Imported& imported) {
  std::vector<Seconds> least;
  for (const StepCollectives& step : rank.collectives) {
    std::size_t number = 0;
    for (const CollectiveCall& call : step.calls) {
      if (!call.of_gradients || call.what.kind != CollectiveKind::AllReduce) continue;
      const Seconds seconds = to_seconds(call.span.end - call.span.start);
      if (number == least.size()) least.push_back(seconds);
      least[number] = std::min(least[number], seconds);
      ++number;
    }
  }
  std::vector<std::int64_t> sizes = imported.buckets;
  if (least.size() != sizes.size()) return;
  std::sort(sizes.begin(), sizes.end());
  std::sort(least.begin(), least.end());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    imported.transfers.push_back({Bytes{sizes[i] * element_bytes}, least[i]});
}

/// Buckets and transfers where the backward pass sends each gradient by itself.
void set_separate_sends(const Rank& rank, const Sizes& sizes, int element_bytes,
                        Imported& imported) {
  imported.buckets = sizes.elements;
  pair_by_size(rank, element_bytes, imported);
  imported.notes.inferred.push_back(
      "each gradient is sent by itself, by a backward pass that was compiled with its all-reduces: "
      "backward ends where the first is sent, and copies of gradients behind it count as update");
  imported.notes.inferred.push_back(
      "what each all-reduce sent: the trace does not say, so the largest gradient is taken for the "
      "one that took longest, and so on");
}

void require_fitting(const std::vector<Parameter>& parameters, const TextFile& file,
                     const Rank& rank, const Sizes& sizes) {
  const std::vector<Gradient>& gradients = rank.gradients.front().gradients;
  const std::string path = file.path.string();
  if (parameters.size() != gradients.size())
    throw DataError(path, 0,
                    "has " + std::to_string(parameters.size()) + " parameters, and " + rank.file +
                        " has " + std::to_string(gradients.size()) +
                        " gradients; list those that are trained");
  const std::vector<std::size_t> places = forward_places(gradients);
  for (std::size_t i = 0; i < places.size() && !sizes.elements.empty(); ++i) {
    const Parameter& parameter = parameters[places[i]];
    const std::int64_t seen = sizes.elements[i];
    const std::int64_t off = sizes.from == ShapesFrom::Recorded ? 0 : 511;
    if (parameter.elements < seen - off || parameter.elements > seen + off)
      throw DataError(path, 0,
                      "parameter " + std::to_string(places[i] + 1) + ", '" + parameter.name +
                          "', has " + std::to_string(parameter.elements) +
                          " elements, and the trace's has " + std::to_string(seen) +
                          "; list them in the order of the forward pass");
  }
}

void set_model(const Rank& rank, const ImportOptions& options, int element_bytes,
               Imported& imported) {
  const StepGradients& first = rank.gradients.front();
  imported.gradients = static_cast<int>(first.gradients.size());
  Sizes sizes = sizes_of(first, imported.buckets, element_bytes);
  std::vector<Parameter> parameters;
  if (options.params) {
    parameters = load_parameters(*options.params);
    require_fitting(parameters, *options.params, rank, sizes);
    const std::vector<std::size_t> places = forward_places(first.gradients);
    sizes = {ShapesFrom::Given, {}, options.params->path.string()};
    for (const std::size_t place : places) sizes.elements.push_back(parameters[place].elements);
  }
  imported.shapes = sizes.from;
  if (sizes.from == ShapesFrom::Unknown) {
    imported.notes.unknown.push_back(
        "the sizes of " + std::to_string(imported.gradients) +
        " gradients: no shapes, no copies into buckets, no kernels of the optimizer tell them; "
        "record with record_shapes=True, or give --params");
    return;
  }
  const std::string told = std::string("the sizes of ") + std::to_string(imported.gradients) +
                           " gradients, from " + sizes.how;
  (sizes.from == ShapesFrom::Inferred ? imported.notes.inferred : imported.notes.used)
      .push_back(told);
  if (imported.buckets.empty() && rank.sends_each) {
    set_separate_sends(rank, sizes, element_bytes, imported);
  } else if (imported.buckets.empty() && sizes.from != ShapesFrom::Unknown) {
    // Of a run whose NCCL kernels do not say: what was done before each call.
    const int begin = first.gradients.front().bucket;
    const int calls = first.gradients.back().bucket - begin;
    if (calls > 0) {
      imported.buckets.resize(static_cast<std::size_t>(calls) + 1);
      for (std::size_t i = 0; i < sizes.elements.size(); ++i)
        imported.buckets[static_cast<std::size_t>(first.gradients[i].bucket - begin)] +=
            sizes.elements[i];
    }
  }
  TimedModel made = timed_model(rank.gradients, sizes.elements, parameters);
  made.model.name = options.name;
  imported.model = made.model;
  IterationTrace trace;
  trace.device = rank.device.empty() ? "unknown GPU" : rank.device;
  trace.tensors = made.times;
  const double update = median_of(rank, &WindowTimes::update);
  const double beside =
      median_of(rank, &WindowTimes::copy_back) + median_of(rank, &WindowTimes::zero);
  trace.update = rounded_to_nanosecond(Seconds{update + beside});
  if (beside > 0)
    imported.notes.used.push_back(
        "the update has what clearing gradients and copying them out of "
        "buckets takes: " +
        to_text(Seconds{rounded_to(3, beside)}));
  if (!made.forward_known)
    imported.notes.inferred.push_back(
        "the forward time of each tensor, in proportion to its backward time: the trace has no "
        "sequence numbers; the sum is measured");
  trace.batch = made.batch;
  if (options.batch) {
    trace.batch = *options.batch;
  } else if (made.batch > 0) {
    imported.notes.inferred.push_back("the batch, " + std::to_string(made.batch) +
                                      ", from the first operator's input");
  } else {
    trace.batch = 1;
    imported.notes.unknown.push_back(
        "the batch: 1 stands for whatever it was, so that --batch cannot scale it; give --batch "
        "here");
  }
  // Where the GPU hardly waits for its host, launches run ahead and say nothing of the host's pace.
  if (imported.times->host > kHostMatters * imported.times->window) {
    set_launches(rank.gradients, rank.launch_latency, trace);
    imported.notes.used.push_back(
        "the dates of the host's launches, and " + to_text(to_seconds(rank.launch_latency)) +
        " from a launch to its kernel: no part of a forecast begins earlier");
  }
  imported.trace = trace;
}

/// From here on a difference of clocks is said: below it is what ranks end apart anyway.
constexpr Nanoseconds kClockMatters = 100'000;
/// Ends of the same collectives that lie further apart than this are not of one run.
constexpr Nanoseconds kMostSpread = 2'000'000;

/// Refuses ranks that have no step in common: nothing says that they are of one run.
void require_same_collectives(const std::vector<Rank>& ranks) {
  for (const Rank& rank : ranks)
    if (const std::string found = mismatch(rank.collectives, ranks.front().collectives);
        !found.empty())
      throw DataError(rank.file, 0,
                      "does not fit " + ranks.front().file + ": " + found +
                          "; give the ranks' files of the same steps of one run, or one rank's "
                          "file alone");
}

/// Sets all ranks' clocks by the first one's.
void align_clocks(std::vector<Rank>& ranks, ImportNotes& notes) {
  for (Rank& rank : ranks) {
    const auto offset = clock_offset(ranks.front().collectives, rank.collectives);
    if (!offset) continue;
    if (offset->spread > kMostSpread)
      throw DataError(rank.file, 0,
                      "does not fit " + ranks.front().file +
                          ": the same collectives end on both ranks " +
                          to_text(Seconds{rounded_to(3, to_seconds(offset->spread).count())}) +
                          " apart even with the clocks aligned, so the files are of two runs, or a "
                          "clock was set in between");
    for (StepCollectives& step : rank.collectives)
      for (CollectiveCall& call : step.calls) {
        call.span.start -= offset->ahead;
        call.span.end -= offset->ahead;
      }
    if (std::abs(offset->ahead) >= kClockMatters)
      notes.inferred.push_back(
          "the clock of rank " + std::to_string(rank.head.rank) + " is " +
          to_text(Seconds{rounded_to(4, to_seconds(std::abs(offset->ahead)).count())}) +
          (offset->ahead > 0 ? " ahead of" : " behind") + " that of rank " +
          std::to_string(ranks.front().head.rank) +
          ", by the ends of their collectives; its dates are aligned");
  }
}

/// Brings the ranks' collectives together, step by step.
void set_shared(const std::vector<Rank>& ranks, Imported& imported) {
  std::map<CollectiveKind, std::pair<std::vector<double>, std::vector<double>>> sums;
  std::size_t steps = 0;
  for (const StepCollectives& first : ranks.front().collectives) {
    std::vector<StepCollectives> same;
    for (const Rank& rank : ranks)
      for (const StepCollectives& step : rank.collectives)
        if (step.step == first.step) same.push_back(step);
    if (same.size() != ranks.size()) continue;
    const std::vector<SharedCall> shared = shared_calls(same);
    if (shared.empty()) continue;
    ++steps;
    std::map<CollectiveKind, std::pair<double, double>> of_step;
    std::size_t bucket = 0;
    for (std::size_t i = 0; i < shared.size(); ++i) {
      of_step[shared[i].kind].first += to_seconds(shared[i].transfer).count();
      of_step[shared[i].kind].second += to_seconds(shared[i].skew).count();
      const CollectiveCall& call = same.front().calls[i];
      if (call.of_gradients && call.what.kind == CollectiveKind::AllReduce &&
          call.what.elements > 0 && bucket < imported.transfers.size()) {
        ImportedTransfer& transfer = imported.transfers[bucket++];
        if (shared[i].transfer > 0)
          transfer.seconds = std::min(transfer.seconds, to_seconds(shared[i].transfer));
      }
    }
    for (const auto& [kind, its] : of_step) {
      sums[kind].first.push_back(its.first);
      sums[kind].second.push_back(its.second);
    }
  }
  if (steps == 0) {
    imported.notes.unknown.push_back(
        "how long data moved: no step has the same collectives in all ranks' files");
    return;
  }
  imported.transfers_with_waiting = static_cast<int>(ranks.size()) < imported.world_size;
  for (ImportedCollective& collective : imported.collectives)
    for (const auto& [kind, its] : sums)
      if (to_string(kind) == collective.name) {
        collective.transfer = Seconds{median(its.first)};
        collective.skew = Seconds{median(its.second)};
      }
  imported.notes.used.push_back(
      "the collectives of " + std::to_string(ranks.size()) +
      " ranks: data moves from the last one's start to the first one's end");
}

void sort_ranks(std::vector<Rank>& ranks) {
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const Rank& a, const Rank& b) { return a.head.rank < b.head.rank; });
  std::set<int> seen;
  for (const Rank& rank : ranks) {
    if (ranks.size() > 1 && rank.head.rank < 0)
      throw DataError(rank.file, 0,
                      "does not say which rank it is (distributedInfo); import one rank's file");
    if (!seen.insert(rank.head.rank).second)
      throw DataError(rank.file, 0,
                      "is of rank " + std::to_string(rank.head.rank) +
                          ", as another of these files is; give each rank's file once");
    if (rank.head.world_size != ranks.front().head.world_size)
      throw DataError(rank.file, 0,
                      "is of a run of " + std::to_string(rank.head.world_size) + " ranks, and " +
                          ranks.front().file + " of one of " +
                          std::to_string(ranks.front().head.world_size));
  }
}

void note_world(const std::vector<Rank>& ranks, Imported& imported) {
  const Rank& rank = ranks.front();
  imported.world_size = std::max(1, rank.head.world_size);
  int named = 0;  // ranks of the group that the trace calls the data-parallel one
  for (const StepCollectives& step : rank.collectives)
    for (const CollectiveCall& call : step.calls) {
      const auto size =
          static_cast<int>(std::clamp<std::int64_t>(call.what.group_size, 1, 1'000'000));
      imported.world_size = std::max(imported.world_size, size);
      if (call.data_parallel) named = std::max(named, size);
    }
  if (named > 0 && named < imported.world_size) {
    imported.notes.dropped.push_back(
        "everything but the data-parallel group of " + std::to_string(named) + " of " +
        std::to_string(imported.world_size) +
        " ranks: the model is this rank's part, and what other groups send is in no forecast");
    imported.world_size = named;
  }
  if (imported.world_size > 1 && ranks.size() == 1)
    imported.notes.unknown.push_back(
        "one rank only, of " + std::to_string(imported.world_size) +
        ": collectives include waiting for the others; give all ranks' files to tell them apart");
  else if (static_cast<int>(ranks.size()) < imported.world_size)
    imported.notes.unknown.push_back(std::to_string(ranks.size()) + " of " +
                                     std::to_string(imported.world_size) +
                                     " ranks: collectives may include waiting for the others");
  std::size_t others = 0;
  for (const CollectiveCall& call : rank.collectives.front().calls)
    others += call.what.kind != CollectiveKind::AllReduce || !call.of_gradients;
  if (others > 0)
    imported.notes.dropped.push_back(std::to_string(others) +
                                     " collectives a step that send no gradients");
}

/// Both 16-bit types take as long.
void set_element_type(int element_bytes, Imported& imported) {
  if (element_bytes == 4) return;
  if (element_bytes != 2 || !imported.model) {
    imported.notes.unknown.push_back("gradients of " + std::to_string(element_bytes) +
                                     " bytes an element: forecasts send 4 bytes an element");
    return;
  }
  set_types(*imported.model, {.parameter = NumberType::Bf16});
  imported.notes.inferred.push_back(
      "gradients of 2 bytes an element are taken to be bf16, and so are the parameters");
}

Imported imported_from(std::vector<Rank> ranks, const ImportOptions& options,
                       const std::string& kind) {
  sort_ranks(ranks);
  Imported imported;
  imported.kind = kind;
  Rank& rank = ranks.front();
  imported.device = rank.device;
  drop_odd_steps(rank, imported.notes);
  note_steps(rank, imported);
  imported.linked = static_cast<int>(rank.linked);
  if (rank.linked < rank.gpu_operations)
    imported.notes.dropped.push_back(
        std::to_string(rank.gpu_operations - rank.linked) +
        " GPU operations without a launch: they count as time, and belong to no tensor");
  imported.times = times_of(rank);
  note_world(ranks, imported);
  const std::vector<StepCollectives> sending = sending_steps(rank, imported.notes);
  imported.collectives = summary_of(sending);
  const int element_bytes = element_bytes_of(rank);
  set_buckets(sending, element_bytes, imported);
  set_model(rank, options, element_bytes, imported);
  set_element_type(element_bytes, imported);
  for (ImportedCollective& one : imported.collectives)
    if (rank.sends_each && one.name == to_string(CollectiveKind::AllReduce) && one.bytes.count == 0)
      for (const std::int64_t elements : imported.buckets)
        one.bytes = one.bytes + Bytes{elements * element_bytes};
  if (ranks.size() > 1) {
    require_same_collectives(ranks);
    align_clocks(ranks, imported.notes);
    set_shared(ranks, imported);
  }
  if (rank.device.empty()) imported.notes.unknown.push_back("the GPU: the trace does not name it");
  return imported;
}

}  // namespace

Imported import_profile(const std::vector<std::filesystem::path>& paths,
                        const ImportOptions& options, const std::string& kind,
                        const ReadEvents& read) {
  std::vector<Rank> ranks;
  for (const std::filesystem::path& path : paths) ranks.push_back(read_rank(path, read));
  return imported_from(std::move(ranks), options, kind);
}

}  // namespace gradcast::kineto

namespace gradcast::import_readers {

bool kineto_recognises(const FileHead& head) {
  const std::size_t begin = head.bytes.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (begin == std::string::npos) return false;
  const char first = head.bytes[begin];
  const auto has = [&](const char* text) { return head.bytes.find(text) != std::string::npos; };
  if (first == '[') return has("\"ph\"");
  return first == '{' && (has("\"traceEvents\"") || has("\"deviceProperties\"") ||
                          has("\"schemaVersion\"") || has("\"distributedInfo\""));
}

Imported kineto_read(const std::vector<std::filesystem::path>& paths,
                     const ImportOptions& options) {
  return kineto::import_profile(paths, options, "kineto", kineto::read_events);
}

}  // namespace gradcast::import_readers
