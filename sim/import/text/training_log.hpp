// The logs of trainings, line by line: those of torchtitan and of Megatron-LM.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"

namespace gradcast {

enum class Trainer { Torchtitan, Megatron };

/// The settings of a run. Numbers are 0 and texts "" where the log does not say.
struct LoggedSetup {
  std::string model;         // "llama3 8B"
  std::string device;        // "NVIDIA H200"
  std::string nccl;          // its version
  std::string parallelised;  // torchtitan "Applied ... to the model": "FSDP", "HSDP", "DDP"
  std::int64_t parameters = 0;
  std::int64_t gpus_per_node = 0;
  std::int64_t micro_batch = 0;  // samples of a GPU in a micro-step
  std::int64_t global_batch = 0;
  std::int64_t accumulation = 0;  // micro-steps of an iteration
  std::int64_t sequence = 0;      // tokens of a sample
  std::int64_t rank_tokens = 0;   // of a GPU in a micro-step, where the log counts in tokens alone
  std::int64_t step_tokens = 0;   // of all GPUs in an iteration
  bool float8 = false;
  /// Sizes of groups by the log's own names: "dp_shard", "tensor_model_parallel_size".
  std::map<std::string, std::int64_t, std::less<>> groups{};
  /// Megatron-LM's arguments that decide what is sent.
  std::map<std::string, std::string, std::less<>> arguments{};

  friend bool operator==(const LoggedSetup&, const LoggedSetup&) = default;

  /// 0 for a group that the log does not name.
  std::int64_t group(std::string_view name) const;
  /// "" for an argument that the log does not show.
  std::string argument(std::string_view name) const;
};

/// One run of a log. A run that was restarted with the same settings is one.
struct LoggedRun {
  LoggedSetup setup;
  std::size_t setup_line = 0;  // which says the groups
  /// One for each printed iteration: seconds (Megatron-LM), or tokens that a GPU took in a second
  /// (torchtitan).
  std::vector<double> figures{};
  std::size_t starts = 0;      // the first printed iteration of each is left out: warm-up
  std::size_t cut = 0;         // iterations without a whole number
  std::size_t other_size = 0;  // iterations with another global batch than the last
};

/// True for the beginning of a log of this trainer.
bool is_training_log(std::string_view begin, Trainer trainer);

/// The runs in the log, in their order; none where no iteration is printed.
std::vector<LoggedRun> runs_in_log(const TextFile& file, Trainer trainer);

}  // namespace gradcast
