// The question of a user or of a measured row, as text and names, and the files behind it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/scenario.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {

/// Names and paths, as they were typed: the files behind them say the rest.
struct RequestNames {
  std::string model;
  std::string trace;  // "": iteration-<model>-v100
  std::string costs = "cost-v100-pytorch-1.1";
  std::string costs_device;  // to which they are scaled; "": as they are
  std::string costs_of;      // the device that they are of; "": as the table says
  std::string cluster = "10gbe-4x4";
  std::vector<ClusterProperty> changed;  // of the cluster
  std::string stack;                     // the software; "": physics alone
  std::string events;                    // a file of what goes on around the job; "": nothing
  std::string compressor = "dense";
  std::string mode;  // "": the cost table's choice
  /// "": the ring that serves the compressor; "auto": the fastest by size; "nccl": NCCL's choice;
  /// "gloo", "open-mpi", ...: the choice of another library.
  /// A payload may also be "nccl-all-gather", "nccl-reduce-scatter", "nccl-broadcast" or
  /// "nccl-send-receive"; the first two by other libraries too, like "gloo-all-gather". "rccl" is
  /// "nccl" on AMD's GPUs alone.
  std::string collective;
  std::string nccl;  // version of NCCL, like "2.27" or "torch-2.5"; "": kUsualNccl
  /// The folders in which relative paths begin: those of model, trace and cluster, and that of the
  /// cost table. "": the current directory.
  std::string folder;
  std::string costs_folder;

  friend bool operator==(const RequestNames&, const RequestNames&) = default;
};

/// Values that a question may leave open or that its scenario has in another form, and what of a
/// question was given.
struct RequestValues {
  std::optional<double> parameter;  // of the compressor; not given: its source's
  std::optional<int> batch;         // images a GPU, of the whole iteration; not given: the trace's
  std::optional<Seconds> compute;   // one iteration of one GPU, to which the trace is scaled
  Precision precision;
  std::optional<Optimizer> optimizer;      // not given: the trace's, else momentum
  std::optional<bool> broadcast_buffers;   // of the model, before forward; not given: the stack's
  std::optional<int> network_streams;      // collectives at a time; not given: the stack's
  ValueType value_type = ValueType::Fp32;  // in which a sparsifier's values travel
  std::optional<int> wire_bytes_per_element;  // not given: `usual_wire_bytes`
  std::optional<int> wire_messages;           // not given: 1
  std::optional<Bytes> payload;  // of a microbenchmark of a collective: no model, no trace
  int concurrent_jobs = 1;
  bool today = false;         // what is left open is today's software: see preset.hpp
  bool stack_given = false;   // somebody chose it, or that there be none
  bool others_trace = false;  // of another GPU than the cluster's
  /// No trace of the model is there: its FLOPs share out the iteration that `compute` says.
  bool shares_by_flops = false;
  /// The fastest schedule that the software can run takes the place of fusion and overlap.
  bool best_schedule = false;
  /// Whether somebody chose them. If not, those of the stack take their place.
  bool fusion_given = false;
  bool overlap_given = false;
  bool sharding_given = false;

  friend bool operator==(const RequestValues&, const RequestValues&) = default;
};

/// The defaults are those of the paper's run, with one difference: index-value pairs are sent
/// together, while the paper's authors send values and indices in a collective each.
struct Request : RequestNames, RequestValues, RunChoices {
  std::string trace_name() const;
  /// "iteration-<model>-<gpu>": how the model's trace of a GPU is named.
  std::string trace_of(std::string_view gpu) const;
  /// True where somebody named the GPU, or said how long it computes: the trace gives shares alone.
  bool knows_own_gpu() const;

  friend bool operator==(const Request&, const Request&) = default;
};

/// The values of `--collective`: the collectives of the table, "auto", and the rules of libraries.
std::vector<std::string> collective_names();

/// The request as a measured row says it, with a Request's own defaults in empty cells.
/// `request_of` in preset.hpp fills these in.
Request as_written(const MeasuredRun& run);

/// The stack that the request names. Throws as read_files does.
std::shared_ptr<const Stack> stack_of(const Request& request, DataFiles& files);

/// True if the request's stack was estimated from runs of this source. It must not be held against
/// them: a forecast never uses the row that it is judged by. Throws as read_files does.
bool stack_estimated_from(const Request& request, const std::string& source, DataFiles& files);

/// The request with a stack that has not seen runs of this source. If its stack was estimated from
/// such runs, the stack without their group takes its place, or no stack where there is none. A
/// fitted cluster has software of its own, and gets no stack. Throws as read_files does.
Request unseen_request(Request request, const std::string& source, DataFiles& files);

/// The files that a request reads; nullptr for one that it does not. They belong to the DataFiles.
struct RequestFiles {
  const TextFile* cluster = nullptr;
  const TextFile* collectives = nullptr;  // measured times of the cluster's, where it has them
  const TextFile* stack = nullptr;        // or the population of stacks, where none is named
  const TextFile* population_by_mpi = nullptr;
  const TextFile* model = nullptr;  // and its trace, if there is one: not of a collective alone
  const TextFile* trace = nullptr;
  const TextFile* events = nullptr;
  const TextFile* costs = nullptr;       // of what compresses
  const TextFile* compressor = nullptr;  // that describes it, where a file does

  /// All files that there are, in a fixed order.
  std::vector<const TextFile*> all() const;
};

/// The trace of a request that has a model. Throws ValueError where there is none: if none was
/// named, it says which one was looked for, and why.
const TextFile& read_trace(const Request& request, DataFiles& files);

/// The end of a sentence on a request whose `compute` the model's FLOPs share out.
inline constexpr const char* kByFlops = "forward_flops, a third of it forward if nothing is frozen";

/// The trace of that file, or one made of the model's FLOPs where the request has none. Throws as
/// read_trace does, and DataError for a wrong file.
std::shared_ptr<const IterationTrace> parsed_trace(const Request& request, DataFiles& files);

/// True if the request changes the property, and not only some nodes'.
bool changes_everywhere(const Request& request, std::string_view name);

/// "" where there is no such trace: the forecast says why, and which of its files is wrong first.
std::string device_of_trace(const Request& request, DataFiles& files);

/// Throws ValueError for an unknown name, DataError for a file that cannot be read.
RequestFiles read_files(const Request& request, DataFiles& files);

/// The named cluster with the request's changes. Throws as make_scenario does.
Cluster cluster_of(const Request& request, DataFiles& files);

/// Reads the files that the request names. Throws ValueError for an unknown name or an impossible
/// combination, DataError for a wrong file.
Scenario make_scenario(const Request& request, DataFiles& files);

/// Bytes of an element on the wire if the request does not set them: a value and its index for
/// sparsifiers, the value alone where an all-reduce adds up values, 0 for all other compressors.
int usual_wire_bytes(const Scenario& scenario, ValueType value_type);

}  // namespace gradcast
