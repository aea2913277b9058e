// The assumptions about a run where nobody says otherwise: the software that people run today, or
// the paper's run of 2019.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/forecast/request.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {

enum class Preset {
  Today,  // PyTorch's DistributedDataParallel on NCCL
  Paper,  // one merged all-reduce after backward, on a plain ring
};

/// "today" or "paper". Throws ValueError.
Preset parse_preset(std::string_view text);

/// The request with every choice made that it leaves open. By today's preset these are the stack
/// ddp-nccl with its buckets and overlap, NCCL's choice of collectives, and the trace of the
/// cluster's GPUs, or the nearest GPU's, scaled. A named trace of another GPU is scaled too. By the
/// paper's, and for a fitted cluster or a
/// platform of SimGrid's, they are a Request's own defaults. A stack's usual schedule and the
/// trace's usual cost table come with either. Throws as read_files does.
Request with_defaults(Request request, DataFiles& files);

/// The request that forecasts a measured row. Its software makes the choices that the row leaves
/// open, as `simulate --stack` does: the collective, the trace of the cluster's GPU, and the costs
/// of compressing there. A row that names no software, or one without a file, has the one of
/// `stack`. Where there is neither, and for one whose schedule names no collective (the paper's),
/// these choices are a Request's own. So they are on a fitted cluster and on a platform of
/// SimGrid's. Throws as read_files does.
Request request_of(const MeasuredRun& run, DataFiles& files, const std::string& stack = "");

/// True if the cluster's file names its GPU, by itself or by its generation.
bool names_gpu(const Cluster& cluster);

/// The row of traces/devices.csv that the cluster's GPU has: by its name, else the usual one of its
/// generation.
const Device& gpu_of(const Cluster& cluster, const std::vector<Device>& devices);

/// "PyTorch DDP on NCCL 2.27.5 over 8 NICs of 24 GB/s a node, buckets of 25 MiB, overlapped": the
/// software that the scenario stands for.
std::string assumed_words(const Request& request, const Scenario& scenario);

/// "; compressing by gradcast's kernels ...": whose operators compress, where nobody named them and
/// no GPU ran them; "" elsewhere.
std::string compressing_words(const Request& request);

}  // namespace gradcast
