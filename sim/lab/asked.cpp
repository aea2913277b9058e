#include "sim/lab/asked.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/lab/cifar.hpp"
#include "sim/lab/networks.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::lab {
namespace {

constexpr int kMostWorkers = 1024;
constexpr int kMostEpochs = 10'000;
constexpr const char* kMade = "made";
constexpr const char* kFashion = "fashion-mnist";
constexpr const char* kLicences = "common-licenses";
/// Debian's package dataset-fashion-mnist installs its files here.
constexpr const char* kFashionFolder = "/usr/share/datasets/fashion-mnist";
/// Texts of free licences, on every Debian machine.
constexpr const char* kLicencesFolder = "/usr/share/common-licenses";

int parse_workers(std::string_view text) { return parse_count_to(kMostWorkers, text); }
int parse_epochs(std::string_view text) { return parse_count_to(kMostEpochs, text); }

std::vector<int> parse_iterations(std::string_view text) {
  return parse_counts_to(kMostIterations, text);
}

/// 0 to the longest training.
int parse_warmup(std::string_view text) { return text == "0" ? 0 : parse_epochs(text); }

template <class Value>
Value parse_word(std::string_view text, const std::vector<std::pair<std::string, Value>>& words) {
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.push_back(word);
  }
  throw ValueError("unknown word '" + std::string(text) + "'" + did_you_mean(text, known) +
                   " (known: " + join(known) + ")");
}

Scope parse_scope(std::string_view text) {
  return parse_word<Scope>(text, {{"merged", Scope::Model}, {"per-tensor", Scope::Layer}});
}

Combination parse_combination(std::string_view text) {
  return parse_word<Combination>(text, {{"gather", Combination::Gather},
                                        {"gtopk", Combination::GTopK},
                                        {"global", Combination::Global}});
}

/// A number from 0 to below `end`.
auto parse_below(double end) {
  return [end](std::string_view text) {
    const double number = parse_number(text);
    if (number >= 0 && number < end) return number;
    throw ValueError("'" + std::string(text) + "' is not a number from 0 to below " +
                     number_to_text(end));
  };
}

double parse_learning_rate(std::string_view text) {
  const double rate = parse_number(text);
  if (rate > 0 && rate <= 1000) return rate;
  throw ValueError("'" + std::string(text) + "' is not a learning rate above 0, like 0.01");
}

double parameter_for(const Compressor& compressor, const Flags& flags) {
  if (!flags.given("parameter")) return parameter_of(compressor, std::nullopt);
  return flags.value("parameter", [&](const std::string& text) {
    return parameter_of(compressor, parse_parameter(text));
  });
}

/// "powersgd's rank 2, int8's block 256".
std::string usual_parameters() {
  std::string text;
  for (const Compressor* compressor : all_compressors()) {
    const Parameter& parameter = compressor->parameter;
    if (parameter.name.empty()) continue;
    text += (text.empty() ? "" : ", ") + std::string(compressor->name) + "'s " +
            std::string(parameter.name) + " " + number_to_text(parameter.usual);
  }
  return text;
}

/// Names of compressors whose feedback is off by default.
std::string without_feedback() {
  std::vector<std::string> names;
  for (const Compressor* compressor : all_packers())
    if (!compressor->feedback) names.emplace_back(compressor->name);
  return join(names);
}

/// Names of compressors whose workers may share a scale.
std::string sharers_of_scales() {
  std::vector<std::string> names;
  for (const Compressor* compressor : all_packers())
    if (compressor->levels() != nullptr) names.emplace_back(compressor->name);
  return join(names);
}

bool draws(const Compressor& compressor) {
  if (compressor.packing != nullptr) return compressor.packing->unbiased;  // no other does
  return compressor.rule == Rule::Randk || compressor.rule == Rule::Rtopk ||
         compressor.rule == Rule::Dgc;
}

/// The mathematics that trains under that name: a compressor that a file describes has none of its
/// own.
const Compressor& trainable(const std::string& name) {
  const Compressor& known = known_compressor(name);
  if (known.payload == nullptr) return known;
  if (known.mathematics != nullptr) return *known.mathematics;
  throw ValueError("the file of '" + std::string(known.name) +
                   "' says what it sends, not what it computes: name the compressor that trains in "
                   "its place by a property 'mathematics', like topk");
}

Mode mode_for(const Compressor& compressor, const Flags& flags) {
  const std::string mode = flags.value("mode", parse_mode);
  if (compressor.two_modes) return mode == "paper" ? Mode::Paper : Mode::Code;
  if (!mode.empty() && flags.typed("mode"))
    throw UsageError("--mode: " + std::string(compressor.name) + " has one definition");
  return Mode::Only;
}

/// Says which flag changes nothing with these settings.
void require_sense(const Flags& flags, const TrainingSettings& settings) {
  const auto refuse = [&](const std::string& flag, const std::string& why) {
    if (flags.typed(flag)) throw UsageError("--" + flag + ": " + why);
  };
  if (!settings.compresses())
    for (const char* flag : {"density", "density-warmup", "feedback", "selection", "aggregation",
                             "momentum-correction", "masking", "value-type"})
      refuse(flag, "dense sends everything; name a --compressor");
  const std::string name(settings.compressor->name);
  if (!settings.selects())
    for (const char* flag : {"density", "density-warmup", "aggregation", "masking", "value-type"})
      refuse(flag,
             name + " sends something of every element; only compressors that select have it");
  if (settings.compressor->parameter.selects)
    for (const char* flag : {"density", "density-warmup"})
      refuse(flag, name + " sends whatever is above its --parameter");
  if (settings.compressor->low_rank != nullptr) {
    refuse("shared-seed", "all workers of " + name + " always draw alike");
    refuse("selection", name + " sends a matrix in place of each tensor");
  }
  if (settings.compressor->rule != Rule::Rtopk)
    refuse("candidates", "only rtopk draws from candidates");
  if (!draws(*settings.compressor)) refuse("shared-seed", name + " draws nothing");
  if (settings.compressor->levels() == nullptr)
    refuse("shared-scale", name + " has no levels that add up; " + sharers_of_scales() + " have");
  if (settings.masking && !settings.momentum_correction)
    throw UsageError(
        "--masking forgets momentum of what was sent: it needs --momentum-correction yes");
  if (settings.combination == Combination::Gather) return;
  if (settings.value_type != ValueType::Fp32)
    throw UsageError(
        "--aggregation gtopk and global add up what is sent on the way: --value-type is fp32 "
        "there");
  if (settings.compressor->rule != Rule::Topk)
    throw UsageError("--aggregation gtopk and global are defined for topk alone");
  if (settings.scope == Scope::Layer)
    throw UsageError("--aggregation gtopk and global select over the model, not per tensor");
  if (!settings.feedback)
    throw UsageError("--aggregation gtopk and global return what is not kept: they need feedback");
}

}  // namespace

namespace {

/// "128; char-lstm 4": the first network's, then those that differ.
std::string network_defaults(const char* NetworkKind::*which) {
  const std::string usual = all_networks().front().*which;
  std::string text = usual;
  for (const NetworkKind& kind : all_networks())
    if (kind.*which != usual) text += "; " + std::string(kind.name) + " " + kind.*which;
  return text;
}

std::string dataset_for(const NetworkKind& network, const Flags& flags) {
  const std::string usual = network.takes == DatasetKind::Text ? kLicences : kFashion;
  if (!flags.given("dataset")) return usual;
  return flags.value("dataset", [&](const std::string& text) {
    const std::vector<std::string> known{kFashion, kLicences, kMade};
    if (std::find(known.begin(), known.end(), text) == known.end())
      throw ValueError("unknown dataset '" + text + "'" + did_you_mean(text, known) +
                       " (known: " + join(known) + "; or files: --data)");
    if (text != kMade && text != usual)
      throw ValueError(std::string(network.name) + " learns from " + to_text(network.takes) + ": " +
                       usual + " or made");
    return text;
  });
}

}  // namespace

Flags train_flags() {
  std::vector<std::string> networks;
  for (const NetworkKind& kind : all_networks()) networks.emplace_back(kind.name);
  Flags flags(
      "train",
      "Trains a network with simulated workers that exchange compressed gradients, and shows loss\n"
      "and accuracy after each epoch: how many iterations a compressor costs. Of text the "
      "accuracy\n"
      "is the share of next characters that are predicted right. Each worker has its\n"
      "shard of the data, its residual and its draws. It takes no time of a cluster into account:\n"
      "`gradcast simulate` forecasts that. The data of fashion-mnist are Debian's package\n"
      "dataset-fashion-mnist.",
      {"train --network fnn-3 --dataset fashion-mnist --compressor topk --density 0.001",
       "train --dataset made --compressor gaussian --workers 4 --epochs 3",
       "train --compressor randk --feedback no --seed 2 --format json -o randk-2.json",
       "train --network lenet-5 --data my-mnist --checkpoint lenet.state --epochs 30",
       "train --network char-lstm --data my-text.txt --compressor topk --density 0.01"});
  flags.add("network", join(networks), "fnn-3");
  flags.add(
      "dataset",
      "fashion-mnist; for char-lstm common-licenses, the texts that every Debian has; or made: "
      "computed samples that need no files (default: the first that the network can learn)");
  flags.add("data",
            "a folder with the four IDX files of MNIST or the like, or with CIFAR-10's six binary "
            "files; for char-lstm a text or a folder of texts; in place of --dataset");
  flags.add("compressor",
            "a name of `gradcast list`, or a .csv file that describes one and names its "
            "mathematics",
            "dense");
  flags.add("parameter", "the compressor's (default: " + usual_parameters() + ")");
  flags.add("mode", "paper or code, of compressors where the two differ (default: code)");
  flags.add("density", "share of the elements that each worker is to send, like 0.01 or 1%",
            "0.001");
  flags.add("candidates", "rTop-k's r (default: 5 k)");
  flags.add("selection", "merged: k of all elements; per-tensor: of each tensor its own k",
            "merged");
  flags.add("aggregation",
            "gather: the sum of all that was sent; gtopk: its k largest, by a tree; global: the k "
            "largest of the sum of all u",
            "gather");
  flags.add("feedback",
            "yes: what is not sent stays in the residual; no: it is lost (default: no for " +
                without_feedback() + ", yes for others)");
  flags.add("momentum-correction", "yes: workers accumulate momentum before they select (DGC)",
            "no");
  flags.add("masking", "yes: a worker forgets its momentum of what it sent (DGC)", "no");
  flags.add("shared-seed", "yes: all workers draw alike", "no");
  flags.add("shared-scale",
            "yes: all workers take the largest of their scales, so that an all-reduce adds up what "
            "they send (" +
                sharers_of_scales() + ")",
            "no");
  flags.add("workers", "workers, each with its shard", "16");
  flags.add("batch", "samples of a worker in an iteration; of char-lstm windows of " +
                         std::to_string(kTextWindow) +
                         " characters (default: " + network_defaults(&NetworkKind::batch) + ")");
  flags.add("epochs", "times that all samples are gone through", "10");
  flags.add("learning-rate", "of the mean gradient (default: " +
                                 network_defaults(&NetworkKind::learning_rate) + ")");
  flags.add("learning-rate-warmup", "epochs in which the learning rate rises to its value", "0");
  flags.add("value-type", "the type in which selected values travel: fp32, fp16 or bf16", "fp32");
  flags.add("density-warmup", "epochs in which the density falls to its value", "0");
  flags.add("momentum", "of the mean gradient, after aggregation", "0.9");
  flags.add("weight-decay", "of weights, not of biases", "0.0001");
  flags.add("evaluate-every", "iterations between two looks at the test set (default: an epoch)");
  flags.add("seed", "of the first parameters, the shards, their order, and the compressors' draws",
            "1");
  flags.add_written(
      "checkpoint", Writes::File,
      "a file that keeps the state after each epoch and at ctrl-C; the same command goes on "
      "from it");
  flags.add_written("counts", Writes::File,
                    "a CSV file for the elements that each worker sent in each iteration");
  flags.add("observe",
            "iterations in which to look at u of the first worker, like 200,400; the answer says "
            "its moments, and as JSON the histogram of each tensor");
  flags.add_written("observations", Writes::File,
                    "a CSV file for what was seen: moments and histogram of each tensor");
  flags.add_written("record", Writes::Folder,
                    "a folder for u itself: u-<iteration>.npy, for `gradcast theory`");
  flags.add("check-bound",
            "yes: count where Top-k would leave more than (1 - k/d)^2 of u's square, whole and in "
            "each tensor; takes twice the time",
            "no");
  add_jobs_flag(flags);
  return flags;
}

TrainAsked read_train_asked(const Flags& flags) {
  TrainAsked asked;
  TrainingSettings& settings = asked.settings;
  const NetworkKind& network =
      flags.value("network", [](const std::string& name) { return find_network(name); });
  settings.network = network.name;
  asked.data = flags.text("data");
  asked.dataset = dataset_for(network, flags);
  if (flags.typed("data") && flags.typed("dataset"))
    throw UsageError("--data and --dataset both say what to learn from");
  settings.compressor =
      flags.value("compressor", [](const std::string& name) { return &trainable(name); });
  settings.mode = mode_for(*settings.compressor, flags);
  settings.parameter = parameter_for(*settings.compressor, flags);
  settings.density = settings.takes_density() ? flags.value("density", parse_density) : 1;
  if (!flags.text("candidates").empty())
    settings.candidates = flags.value("candidates", parse_count);
  settings.scope = settings.compressor->low_rank != nullptr ? Scope::Layer
                                                            : flags.value("selection", parse_scope);
  settings.value_type = flags.value("value-type", parse_value_type);
  settings.combination = flags.value("aggregation", parse_combination);
  settings.feedback = flags.given("feedback") ? flags.value("feedback", parse_yes_no)
                                              : settings.compressor->feedback;
  settings.momentum_correction = flags.value("momentum-correction", parse_yes_no);
  settings.masking = flags.value("masking", parse_yes_no);
  settings.shared_seed = flags.value("shared-seed", parse_yes_no);
  settings.workers = flags.value("workers", parse_workers);
  settings.shared_scale = flags.value("shared-scale", parse_yes_no);
  settings.batch =
      flags.given("batch") ? flags.value("batch", parse_count) : parse_count(network.batch);
  settings.epochs = flags.value("epochs", parse_epochs);
  settings.learning_rate = flags.given("learning-rate")
                               ? flags.value("learning-rate", parse_learning_rate)
                               : parse_learning_rate(network.learning_rate);
  settings.learning_rate_warmup = flags.value("learning-rate-warmup", parse_warmup);
  settings.density_warmup = flags.value("density-warmup", parse_warmup);
  settings.momentum = flags.value("momentum", parse_below(1));
  settings.weight_decay = flags.value("weight-decay", parse_below(1));
  if (!flags.text("evaluate-every").empty())
    settings.evaluate_every = flags.value("evaluate-every", parse_count);
  settings.seed = flags.value("seed", parse_seed);
  asked.checkpoint = flags.written("checkpoint");
  if (!asked.checkpoint.empty()) kept_file_at(asked.checkpoint);
  asked.counts = flags.written("counts");
  asked.observations = flags.written("observations");
  asked.record = flags.written("record");
  asked.check_bound = flags.value("check-bound", parse_yes_no);
  if (asked.check_bound && !settings.takes_density())
    throw UsageError("--check-bound: the bound is of what selects k elements, and " +
                     std::string(settings.compressor->name) + " does not");
  if (flags.given("observe")) asked.observe = flags.value("observe", parse_iterations);
  for (const char* where : {"observations", "record"})
    if (asked.observe.empty() && flags.given(where))
      throw UsageError("--" + std::string(where) + ": --observe says in which iterations to look");
  const bool only_recorded = asked.observations.empty() && !asked.record.empty();
  if (!asked.checkpoint.empty() &&
      (asked.check_bound || (!asked.observe.empty() && !only_recorded)))
    throw UsageError(
        "--check-bound and --observe tell of a training from its beginning: they do not go with "
        "--checkpoint (--observe with --record alone does)");
  require_sense(flags, settings);
  return asked;
}

Dataset read_dataset(const TrainAsked& asked, std::vector<InputFile>& inputs) {
  const bool text = find_network(asked.settings.network).takes == DatasetKind::Text;
  if (!asked.data.empty()) {
    const std::filesystem::path folder = asked.data;
    const auto name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    if (text) return read_text_dataset(name, folder, inputs);
    return holds_cifar(folder) ? read_cifar_dataset(name, folder, inputs)
                               : read_idx_dataset(name, folder, inputs);
  }
  if (asked.dataset == kMade) return text ? made_text_dataset() : made_dataset();
  std::error_code ignored;
  if (text) {
    if (std::filesystem::is_directory(kLicencesFolder, ignored))
      return read_text_dataset(kLicences, kLicencesFolder, inputs);
    throw MissingError(std::string("there is no ") + kLicencesFolder +
                       ": name a text with --data, or try --dataset made");
  }
  if (!std::filesystem::is_directory(kFashionFolder, ignored))
    throw MissingError(std::string("there is no ") + kFashionFolder +
                       ": install the package dataset-fashion-mnist, name a folder with --data, or "
                       "try --dataset made");
  return read_idx_dataset(kFashion, kFashionFolder, inputs);
}

}  // namespace gradcast::lab
