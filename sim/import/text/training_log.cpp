// torchtitan prints a line for an iteration, "step: 10  loss: 9.88  memory: ...  tps: 7,026  mfu:
// ..." (components/metrics.py), Megatron-LM " iteration 10/ 500 | elapsed time per iteration (ms):
// 494.3 |" (training/training.py). Ranks may all print, launchers put their names before lines, and
// two processes may write into each other's line.
#include "sim/import/text/training_log.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/import/network/log_words.hpp"

namespace gradcast {
namespace {

constexpr std::array<std::string_view, 15> kArguments = {"use_distributed_optimizer",
                                                         "overlap_grad_reduce",
                                                         "overlap_param_gather",
                                                         "ddp_bucket_size",
                                                         "ddp_num_buckets",
                                                         "num_distributed_optimizer_instances",
                                                         "outer_dp_sharding_strategy",
                                                         "params_dtype",
                                                         "accumulate_allreduce_grads_in_fp32",
                                                         "use_torch_fsdp2",
                                                         "use_megatron_fsdp",
                                                         "use_custom_fsdp",
                                                         "data_parallel_sharding_strategy",
                                                         "deepspeed",
                                                         "zero_stage"};
constexpr std::array<std::string_view, 9> kGroups = {"world_size",
                                                     "data_parallel_size",
                                                     "model_parallel_size",
                                                     "tensor_model_parallel_size",
                                                     "pipeline_model_parallel_size",
                                                     "context_parallel_size",
                                                     "expert_model_parallel_size",
                                                     "expert_tensor_parallel_size",
                                                     "ds_sequence_parallel_size"};

/// The number that `text` begins with, after blanks and a sign that introduces it: "1,478" of
/// ":  1,478  mfu". None where something else stands there, or has cut the number: "7,0[rank3]".
std::optional<double> number_in(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t:=");
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin);
  std::string digits;
  std::size_t at = 0;
  constexpr std::size_t kMostLetters = 24;
  for (; at < text.size() && digits.size() < kMostLetters; ++at) {
    const bool groups = text[at] == ',' && at > 0 && at + 3 < text.size() &&
                        is_digit(text[at + 1]) && is_digit(text[at + 2]) &&
                        is_digit(text[at + 3]) &&
                        (at + 4 >= text.size() || !is_digit(text[at + 4]));
    if (groups) continue;
    if (!is_digit(text[at]) && text[at] != '.') break;
    digits += text[at];
  }
  while (!digits.empty() && digits.back() == '.') digits.pop_back();
  const bool ended = at >= text.size() ||
                     std::string_view(" \t\r,.|/;)]'").find(text[at]) != std::string_view::npos;
  if (!ended || (at + 1 < text.size() && text[at] == ',' && is_digit(text[at + 1])))
    return std::nullopt;
  try {
    return parse_number(digits);
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

/// The place behind `words`, where they are no part of a longer word; npos where they are not.
std::size_t place_behind(std::string_view line, std::string_view words, std::size_t from = 0) {
  for (std::size_t at = line.find(words, from); at != std::string_view::npos;
       at = line.find(words, at + 1)) {
    const char before = at == 0 ? ' ' : line[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '-' && before != '_')
      return at + words.size();
  }
  return std::string_view::npos;
}

std::optional<double> number_behind(std::string_view line, std::string_view words) {
  const std::size_t at = place_behind(line, words);
  return at == std::string_view::npos ? std::nullopt : number_in(line.substr(at));
}

/// Samples, tokens and ranks beyond it are nobody's, nor are parameters and iterations.
constexpr double kMostCounted = 1e9;
constexpr double kMostParameters = 1e15;

void take_count(std::string_view line, std::string_view words, std::int64_t& count,
                double most = kMostCounted) {
  if (const auto number = number_behind(line, words); number && *number >= 1 && *number < most)
    count = static_cast<std::int64_t>(*number);
}

std::string shown_name(std::string_view text) {
  return shortened(clean_text(one_line(std::string(text))), 60);
}

class TrainingLog {
 public:
  TrainingLog(const TextFile& file, Trainer trainer) : file_(file), trainer_(trainer) {}

  std::vector<LoggedRun> runs() {
    const std::string_view text = file_.content;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      ++line_;
      const std::string line = without_colours(text.substr(begin, end - begin));
      // The last word of a log that ends without a line break may be half of one.
      const std::size_t whole = end < text.size() ? line.size() : line.find_last_of(" \t");
      take(std::string_view(line).substr(0, whole == std::string::npos ? 0 : whole));
      begin = end + 1;
    }
    end_part();
    return std::move(runs_);
  }

 private:
  /// One printed iteration: a figure for each rank that printed it.
  struct Iteration {
    std::int64_t number;
    std::int64_t global_batch;
    std::vector<double> figures;
  };

  void take(std::string_view line) {
    if (const std::string_view version = nccl_version_in(line); !version.empty())
      setup_.nccl = version;
    take_count(line, "--nproc_per_node", setup_.gpus_per_node);
    take_count(line, "--nproc-per-node", setup_.gpus_per_node);
    take_count(line, "NGPU", setup_.gpus_per_node);
    if (trainer_ == Trainer::Torchtitan) {
      take_torchtitan(line);
      take_iterations(line, "step:", {"tps:", "wps:"});
    } else {
      take_megatron(line);
      take_iterations(line, "iteration", {"elapsed time per iteration (ms):"});
    }
  }

  void take_torchtitan(std::string_view line) {
    if (const std::size_t at = place_behind(line, "device mesh with ");
        at != std::string_view::npos)
      take_mesh(line.substr(at));
    const bool told = place_behind(line, "Trainer is initialized with") != std::string_view::npos;
    const bool starts = place_behind(line, "Training starts at step") != std::string_view::npos;
    if (told || starts) {
      end_part();
      if (told) setup_.accumulation = 0;
      take_count(line, "local batch size", setup_.micro_batch);
      take_count(line, "global batch size", setup_.global_batch);
      take_count(line, "gradient accumulation steps", setup_.accumulation);
      take_count(line, "gradient_accumulation_steps", setup_.accumulation);
      take_count(line, "sequence length", setup_.sequence);
      if (line.find("tokens per DP rank") != std::string_view::npos) {
        take_count(line, "Trainer is initialized with", setup_.rank_tokens);
        take_count(line, "tokens per DP rank,", setup_.step_tokens);
      }
    }
    if (const std::size_t at = place_behind(line, "Model "); at != std::string_view::npos)
      if (const std::size_t size = line.find(" size:", at); size != std::string_view::npos) {
        setup_.model = shown_name(line.substr(at, size - at));
        take_count(line, "size:", setup_.parameters, kMostParameters);
      }
    take_count(line, "Total parameter count: dense", setup_.parameters, kMostParameters);
    if (const std::size_t at = place_behind(line, "Applied "); at != std::string_view::npos)
      for (const std::string_view how : {"FSDP", "HSDP", "DDP", "replicate", "fully_shard"})
        if (line.substr(at).starts_with(std::string(how) + " to the ")) setup_.parallelised = how;
    if (const std::size_t at = place_behind(line, "capacity: "); at != std::string_view::npos)
      // "NVIDIA H100 80GB HBM3 (0) with ...", with the index among the node's
      setup_.device =
          shown_name(line.substr(at, std::min(line.find(" (", at), line.find(" with ", at)) - at));
    if (line.find("Float8 training active") != std::string_view::npos) setup_.float8 = true;
  }

  /// ['dp_shard', 'tp'], [4, 2], or parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, ep=1
  void take_mesh(std::string_view text) {
    end_part();
    setup_line_ = line_;
    setup_.groups.clear();
    if (text.starts_with("parallelism:")) {
      for (const std::string_view word : words_of(text.substr(text.find(':') + 1)))
        if (const std::size_t sign = word.find('='); sign != std::string_view::npos)
          if (const auto size = number_in(word.substr(sign)); size && *size < kMostCounted)
            add_group(word.substr(0, sign), *size);
      return;
    }
    std::vector<std::string_view> names;
    const std::string_view list = text.substr(0, text.find_first_of("])"));
    for (std::size_t begin = list.find('\''); begin != std::string_view::npos;) {
      const std::size_t end = std::min(list.find('\'', begin + 1), list.size());
      names.push_back(list.substr(begin + 1, end - begin - 1));
      begin = end < list.size() ? list.find('\'', end + 1) : std::string_view::npos;
    }
    std::size_t at = std::min(text.find('[', list.size()), text.size());
    for (const std::string_view name : names) {
      if (at >= text.size()) break;
      if (const auto size = number_in(text.substr(at + 1)); size && *size < kMostCounted)
        add_group(name, *size);
      at = std::min(text.find(',', at + 1), text.size());
    }
    if (names.empty()) setup_.groups["dp_shard"] = 1;  // one GPU has no mesh
  }

  void add_group(std::string_view name, double size) {
    constexpr std::size_t kMostGroups = 20;
    if (setup_.groups.size() < kMostGroups)
      setup_.groups[shown_name(name)] = static_cast<std::int64_t>(size);
  }

  void take_megatron(std::string_view line) {
    if (line.find("- arguments -") != std::string_view::npos) end_part();
    if (place_behind(line, "using world size") != std::string_view::npos) {
      end_part();
      setup_line_ = line_;
      setup_.groups.clear();
      for (const std::string_view group : kGroups) {
        std::string words(group.substr(0, group.rfind('_')));
        std::replace(words.begin(), words.end(), '_', '-');
        if (group == "world_size") words = "using world";
        for (const std::string& spelt : {words + " size", words + "-size"}) {
          std::int64_t size = 0;
          take_count(line, spelt, size);
          if (size > 0) setup_.groups[std::string(group)] = size;
        }
      }
    }
    take_count(line, "model parallel rank (0, 0)", setup_.parameters, kMostParameters);
    if (const auto all = number_behind(line, "Total number of parameters in billions"))
      billions_ = *all;
    if (const auto shard = number_behind(line, "parameters in most loaded shard in billions");
        shard && *shard > 0 && setup_.groups.empty() && billions_ > 1.5 * *shard) {
      setup_line_ = line_;
      add_group("model_parallel_size", std::min(kMostCounted, std::round(billions_ / *shard)));
    }
    const std::vector<std::string_view> words = words_of(line);
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
      if (words[i].size() >= 3 && words[i].find_first_not_of('.') == std::string_view::npos)
        return take_argument(words[i - 1], words[i + 1]);
  }

  void take_argument(std::string_view name, std::string_view value) {
    const auto count = [&](std::int64_t& counted) {
      take_count("is " + std::string(value), "is", counted);
    };
    if (std::find(kGroups.begin(), kGroups.end(), name) != kGroups.end()) {
      if (setup_line_ == 0) setup_line_ = line_;
      std::int64_t size = 0;
      count(size);
      if (size > 0) setup_.groups[std::string(name)] = size;
    }
    if (std::find(kArguments.begin(), kArguments.end(), name) != kArguments.end())
      setup_.arguments[std::string(name)] = shown_name(value);
    if (name == "micro_batch_size") count(setup_.micro_batch);
    if (name == "global_batch_size") count(setup_.global_batch);
    if (name == "seq_length") count(setup_.sequence);
    if (name == "num_gpus_per_node") count(setup_.gpus_per_node);
  }

  /// The iterations in a line: `mark` and a number begin one, one of `figures` has its time.
  void take_iterations(std::string_view line, std::string_view mark,
                       const std::vector<std::string_view>& figures) {
    std::vector<std::pair<std::size_t, std::int64_t>> begins;
    for (std::size_t at = place_behind(line, mark); at != std::string_view::npos;
         at = place_behind(line, mark, at)) {
      // Validation has lines of its own, "validate step: 100 ...".
      const std::string_view before = line.substr(0, at - mark.size());
      const auto number = number_in(line.substr(at));
      const std::size_t behind = line.find_first_not_of(" 0123456789", at);
      const bool counts = trainer_ == Trainer::Torchtitan
                              ? !before.ends_with("validate ")
                              : behind != std::string_view::npos && line[behind] == '/';
      if (number && *number < kMostParameters && counts)
        begins.emplace_back(at, static_cast<std::int64_t>(*number));
    }
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const std::size_t end = i + 1 < begins.size() ? begins[i + 1].first : line.size();
      const std::string_view record = line.substr(begins[i].first, end - begins[i].first);
      for (const std::string_view words : figures)
        if (const std::size_t at = place_behind(record, words); at != std::string_view::npos) {
          const auto figure = number_in(record.substr(at));
          if (figure && *figure > 0)
            take_iteration(begins[i].second, *figure, record);
          else
            ++cut_;
        }
    }
  }

  void take_iteration(std::int64_t number, double figure, std::string_view record) {
    std::int64_t batch = 0;
    if (trainer_ == Trainer::Megatron) {
      figure /= 1e3;
      take_count(record, "global batch size", batch);
    }
    // A slow rank may print an iteration after others have printed the next.
    constexpr std::size_t kLate = 3;
    for (std::size_t i = part_.size(); i > 0 && part_.size() - i < kLate; --i)
      if (part_[i - 1].number == number) return part_[i - 1].figures.push_back(figure);
    if (!part_.empty() && number < part_.back().number) end_part();
    if (part_.empty()) {
      part_setup_ = setup_;
      part_setup_line_ = setup_line_;
    }
    part_.push_back({number, batch, {figure}});
  }

  /// The iterations since the last start become those of a run.
  void end_part() {
    if (part_.empty()) return;
    if (const std::int64_t batch = part_.back().global_batch; batch > 0)
      part_setup_.global_batch = batch;
    if (runs_.empty() || !(runs_.back().setup == part_setup_))
      runs_.push_back({part_setup_, part_setup_line_});
    LoggedRun& run = runs_.back();
    ++run.starts;
    run.cut += std::exchange(cut_, 0);
    for (std::size_t i = 1; i < part_.size(); ++i)  // the first has the warm-up
      if (part_[i].global_batch == part_.back().global_batch)
        run.figures.push_back(median(part_[i].figures));
      else
        ++run.other_size;
    part_.clear();
  }

  const TextFile& file_;
  Trainer trainer_;
  std::size_t line_ = 0;
  LoggedSetup setup_;
  std::size_t setup_line_ = 0;
  std::vector<Iteration> part_;  // since the last start
  LoggedSetup part_setup_;
  std::size_t part_setup_line_ = 0;
  std::size_t cut_ = 0;
  double billions_ = 0;  // parameters, as Megatron-LM counts them
  std::vector<LoggedRun> runs_;
};

}  // namespace

std::int64_t LoggedSetup::group(std::string_view name) const {
  const auto found = groups.find(name);
  return found == groups.end() ? 0 : found->second;
}

std::string LoggedSetup::argument(std::string_view name) const {
  const auto found = arguments.find(name);
  return found == arguments.end() ? "" : found->second;
}

bool is_training_log(std::string_view begin, Trainer trainer) {
  const auto has = [&](std::string_view words) {
    return begin.find(words) != std::string_view::npos;
  };
  if (trainer == Trainer::Megatron)
    return has("elapsed time per iteration (ms)") || has("using world size: ") ||
           has("_parallel_size ...");
  return has("[titan]") || has("device mesh with ") || has("Trainer is initialized with ") ||
         has("Training starts at step ") ||
         (has("step:") && has("loss:") && (has("tps:") || has("wps:")));
}

std::vector<LoggedRun> runs_in_log(const TextFile& file, Trainer trainer) {
  return TrainingLog(file, trainer).runs();
}

}  // namespace gradcast
