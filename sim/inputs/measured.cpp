#include "sim/inputs/measured.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "sim/base/csv.hpp"
#include "sim/base/limits.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/cluster_faults.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {
namespace {

constexpr std::array kMeasuredColumns = {
    "source", "model", "batch", "compute_seconds", "cluster", "nodes", "gpus_per_node",
    "compressor", "density", "fusion", "overlap", "iteration_seconds",
    // optional from here on
    "trace", "costs", "mode", "collective", "nic_bandwidth", "nic_latency",
    "wire_bytes_per_element", "wire_messages", "payload_bytes", "concurrent_jobs", "accumulation",
    "outside", "measured_encode_seconds", "measured_communication_seconds", "selection", "stack",
    "assumed", "compressing", "sharding", "reshard_after_forward", "parameter_type",
    "gradient_type", "sum_type", "parameter", "measured_decode_seconds", "nccl",
    "framework_in_compute", "broadcast_buffers", "implementation", "nccl_settings"};
constexpr std::size_t kMeasuredRequired = 12;

/// A measured time, or 0 where there is none.
Seconds time_or_none(const CsvReader& rows, const char* column) {
  const Seconds time{rows.number(column, 0, kLongestSeconds)};
  if (time > Seconds{0}) rows.number(column, kShortestMeasuredSeconds, kLongestSeconds);
  return time;
}

}  // namespace

std::string parse_stack(std::string_view text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (std::all_of(text.begin(), text.end(), fits)) return std::string(text);
  throw ValueError("'" + std::string(text) +
                   "' is not the name of a software stack: letters, digits, '-', '_' and '.', like "
                   "'horovod-mpi'");
}

int parse_wire_bytes(std::string_view text) { return parse_count_to(64, text); }

int parse_wire_messages(std::string_view text) { return parse_count_to(2, text); }

int parse_concurrent_jobs(std::string_view text) { return parse_count_to(64, text); }

int parse_accumulation(std::string_view text) { return parse_count_to(1024, text); }

MeasuredRuns load_measured_runs(const TextFile& file) {
  MeasuredRuns measured{file.path.string(), {}};
  CsvReader rows(file, kMeasuredColumns, kMeasuredRequired);
  // An empty cell keeps the default of MeasuredRun.
  const auto optional = [&](const char* column, auto& value, auto parse) {
    if (!rows.text(column).empty()) value = rows.value(column, parse);
  };
  while (rows.next()) {
    MeasuredRun run;
    run.line = rows.line();
    run.folder = file.path.parent_path().string();
    run.source = rows.word("source");
    run.model = rows.word("model");
    run.batch = rows.value("batch", parse_count);
    run.compute = time_or_none(rows, "compute_seconds");
    if (!rows.text("payload_bytes").empty())
      run.payload = Bytes{rows.integer("payload_bytes", 1, std::int64_t{1} << 50)};
    if (run.payload.count == 0 && run.compute <= Seconds{0})
      throw rows.failure("compute_seconds", "an iteration takes more than 0 s");
    if (run.payload.count > 0 && run.compute > Seconds{0})
      throw rows.failure("compute_seconds",
                         "a collective alone (payload_bytes) computes nothing: write 0");
    run.cluster = rows.word("cluster");
    run.nodes = rows.value("nodes", parse_count);
    run.gpus_per_node = rows.value("gpus_per_node", parse_count);
    try {
      Cluster shape;
      shape.nodes = run.nodes;
      shape.gpus_per_node = run.gpus_per_node;
      require_possible(shape);
    } catch (const ValueError& error) {
      throw rows.failure(error.what());
    }
    run.compressor = rows.word("compressor");
    if (is_path(run.compressor))
      run.compressor = rows.value("compressor", [&](const std::string& path) {
        return compressor_name((file.path.parent_path() / path).string());
      });
    run.density = rows.value("density", parse_density);
    if (run.compressor == "dense" && run.density != 1)
      throw rows.failure("density", "a dense run sends all: its density is 1");
    optional("parameter", run.parameter, parse_parameter);
    run.fusion = rows.value("fusion", parse_fusion);
    run.overlap = rows.value("overlap", parse_yes_no);
    run.iteration = time_or_none(rows, "iteration_seconds");
    if (run.iteration <= Seconds{0})
      throw rows.failure("iteration_seconds", "an iteration takes more than 0 s");
    run.trace = rows.text("trace");
    run.costs = rows.text("costs");
    run.mode = rows.value("mode", parse_mode);
    run.implementation = rows.text("implementation");
    run.collective = rows.text("collective");
    run.nccl = rows.text("nccl");
    run.nic_bandwidth = rows.text("nic_bandwidth");
    if (!run.nic_bandwidth.empty()) rows.value("nic_bandwidth", parse_rate);
    run.nic_latency = rows.text("nic_latency");
    if (!run.nic_latency.empty()) rows.value("nic_latency", parse_time);
    run.nccl_settings = rows.text("nccl_settings");
    if (!run.nccl_settings.empty()) rows.value("nccl_settings", parse_nccl_settings);
    optional("wire_bytes_per_element", run.wire_bytes_per_element, parse_wire_bytes);
    optional("wire_messages", run.wire_messages, parse_wire_messages);
    optional("concurrent_jobs", run.concurrent_jobs, parse_concurrent_jobs);
    optional("accumulation", run.accumulation, parse_accumulation);
    if (run.batch % run.accumulation != 0)
      throw rows.failure("accumulation", "a batch of " + std::to_string(run.batch) +
                                             " is not divided by " +
                                             std::to_string(run.accumulation) + " micro-steps");
    run.outside = rows.text("outside");
    optional("selection", run.selection, parse_selection);
    run.stack = rows.value("stack", parse_stack);
    run.assumed = rows.text("assumed");
    optional("compressing", run.compressing, parse_yes_no);
    optional("sharding", run.sharding, parse_sharding);
    run.sharding_given = !rows.text("sharding").empty();
    optional("reshard_after_forward", run.sharding.reshard_after_forward, parse_yes_no);
    optional("parameter_type", run.precision.parameter, parse_tensor_type);
    optional("gradient_type", run.precision.gradient, parse_tensor_type);
    optional("sum_type", run.precision.sum, parse_tensor_type);
    optional("framework_in_compute", run.framework_in_compute, parse_yes_no);
    optional("broadcast_buffers", run.broadcast_buffers, parse_yes_no);
    const auto part = [&](const char* column) {
      return rows.text(column).empty() ? std::nullopt : std::optional(time_or_none(rows, column));
    };
    run.measured_encode = part("measured_encode_seconds");
    run.measured_decode = part("measured_decode_seconds");
    run.measured_communication = part("measured_communication_seconds");
    measured.runs.push_back(std::move(run));
  }
  if (measured.runs.empty()) throw rows.failure("the file has no measured run");
  return measured;
}

bool same_setup(const MeasuredRun& a, const MeasuredRun& b) {
  return a.source == b.source && a.model == b.model && a.batch == b.batch &&
         a.compute == b.compute && a.trace == b.trace && a.cluster == b.cluster &&
         a.nodes == b.nodes && a.gpus_per_node == b.gpus_per_node &&
         a.nic_bandwidth == b.nic_bandwidth && a.nic_latency == b.nic_latency &&
         a.nccl_settings == b.nccl_settings && a.payload == b.payload &&
         a.concurrent_jobs == b.concurrent_jobs && a.accumulation == b.accumulation &&
         a.stack == b.stack && a.sharding == b.sharding && a.precision == b.precision &&
         a.framework_in_compute == b.framework_in_compute &&
         a.broadcast_buffers == b.broadcast_buffers;
}

}  // namespace gradcast
