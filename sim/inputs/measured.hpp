// Published or own measurements of whole iterations, with which forecasts are compared.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/compressor_costs.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast {

/// One measured run. Text columns stay text: the command that forecasts the row resolves them, and
/// names the line where it cannot.
struct MeasuredRun {
  std::size_t line = 0;  // of its file
  std::string folder;    // of its file: where paths in the columns begin
  std::string source;
  std::string model;
  int batch = 0;       // of the whole iteration, per GPU
  Seconds compute{0};  // one iteration of one GPU alone: an input of the forecast
  std::string cluster;
  int nodes = 0;
  int gpus_per_node = 0;
  std::string compressor;
  double density = 1;
  std::optional<double> parameter;  // of the compressor; not given: its source's
  Fusion fusion;
  bool overlap = false;
  Seconds iteration{0};  // what was measured

  // Optional columns; "" where the file does not say.
  std::string trace;
  std::string costs;
  std::string mode;
  bool sharding_given = false;  // by the row: else the stack's own may take its place
  std::string implementation;   // whose kernels compressed: torch, gradcast-cuda, ...; "": not said
  std::string collective;
  std::string nccl;  // version, where NCCL chose the collective
  std::string nic_bandwidth;
  std::string nic_latency;
  std::string nccl_settings;  // NCCL's environment, in place of the cluster's
  std::optional<int> wire_bytes_per_element;
  int wire_messages = 1;
  Bytes payload{};          // of a microbenchmark of a collective; 0: a training run
  int concurrent_jobs = 1;  // equal ones, on the same nodes at the same time
  int accumulation = 1;     // micro-steps whose gradients add up before anything is sent
  std::string outside;      // why the model does not claim this row; "": it does
  // Times of a published breakdown: making what is sent, making the gradient of what is received,
  // and all communication, hidden or not.
  std::optional<Seconds> measured_encode, measured_decode, measured_communication;
  SelectionScope selection = SelectionScope::Merged;
  std::string stack;    // the name of the software that ran it; "": not said
  std::string assumed;  // what of this row the source does not say; only reported
  /// False: what the compressor would have sent was sent, without the work of compressing.
  bool compressing = true;
  ShardingChoice sharding;
  Precision precision;
  /// `compute` was measured with the framework at work, such as DDP on one GPU: what it spends on
  /// gradient tensors is in both times.
  bool framework_in_compute = false;
  std::optional<bool> broadcast_buffers;  // before forward; not given: not said
};

struct MeasuredRuns {
  std::string path;
  std::vector<MeasuredRun> runs;
};

/// Bytes of a sparse element, 1 to 64; collectives that carry it, 1 or 2; equal jobs, 1 to 64;
/// micro-steps of an iteration, 1 to 1024. Throw ValueError.
int parse_wire_bytes(std::string_view text);
int parse_wire_messages(std::string_view text);
int parse_concurrent_jobs(std::string_view text);
int parse_accumulation(std::string_view text);

/// The name of a software stack: a word of letters, digits, '-', '_' and '.'; "" is none. Throws
/// ValueError.
std::string parse_stack(std::string_view text);

/// Reads `traces/measured-<source>.csv`. Throws DataError.
MeasuredRuns load_measured_runs(const TextFile& file);

/// True where two rows have the same set-up: what a compressor is chosen for. Each compressor may
/// have a density, a fusion and an overlap of its own, because those who train choose the fastest.
bool same_setup(const MeasuredRun& a, const MeasuredRun& b);

}  // namespace gradcast
