#include "sim/import/weights/derive.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/roofline.hpp"
#include "sim/inputs/sharding.hpp"

namespace gradcast {
namespace {

NumberType type_stored(const std::string& stored) {
  if (stored == "F16") return NumberType::Fp16;
  if (stored == "BF16") return NumberType::Bf16;
  if (stored.starts_with("F8")) return NumberType::Bf16;  // what such weights were rounded from
  return NumberType::Fp32;
}

/// The type that the arithmetic is done in. PyTorch trains fp32 weights in fp32 unless it is told
/// otherwise.
NumberType type_meant(const std::string& stored, const DeriveChoice& choice, ImportNotes& notes) {
  if (choice.type) return *choice.type;
  const NumberType type = type_stored(stored);
  notes.inferred.push_back("arithmetic in " + std::string(to_text(type)) +
                           ", as the weights are stored (" + stored + "); --dtype says another");
  return type;
}

FlopsPerSecond peak_of(const Device& device, NumberType type) {
  if (const auto peak = device.peak(type)) return *peak;
  std::vector<std::string> known;
  for (const NumberType each : kNumberTypes)
    if (device.peak(each)) known.emplace_back(to_text(each));
  throw UsageError("traces/devices.csv has no peak of " + device.name + " in " +
                   std::string(to_text(type)) +
                   (known.empty() ? ", nor in another type" : "; --dtype " + join(known, " or ")));
}

/// Samples of an iteration on one GPU.
int samples_of(const WeightsNetwork& network, const DeriveChoice& choice) {
  if (choice.tokens && choice.batch)
    throw UsageError("--tokens and --batch are two ways to say the same: give one");
  if (network.language && choice.batch && !choice.weights.sequence)
    throw UsageError("--batch " + std::to_string(*choice.batch) +
                     " of a language model needs --sequence: the tokens of a sample");
  if (network.images && choice.tokens)
    throw UsageError("--tokens is for language models; this graph works on images: --batch N");
  if (choice.tokens) return *choice.tokens;
  if (choice.batch) return *choice.batch;
  throw UsageError(network.language
                       ? "--device needs --tokens N: tokens of an iteration on one GPU (or "
                         "--batch N with --sequence N)"
                       : "--device needs --batch N: samples of an iteration on one GPU");
}

/// "model.layers.0" of "model.layers.0.mlp.up_proj.weight"; "" where the tensor is of no block.
std::string block_of(const std::string& tensor) {
  constexpr std::array<std::string_view, 5> kLists = {"layers", "layer", "h", "blocks", "block"};
  const std::vector<std::string> parts = split_words(tensor, '.');
  std::string block;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    block += (i == 0 ? "" : ".") + parts[i];
    const bool is_list = std::find(kLists.begin(), kLists.end(), parts[i]) != kLists.end();
    if (is_list && !parts[i + 1].empty() &&
        parts[i + 1].find_first_not_of("0123456789") == std::string::npos)
      return block + "." + parts[i + 1];
  }
  return "";
}

/// FSDP gathers as one each block of a transformer, all before the first, and all behind the last.
/// A model in another order stays without units.
void set_units(Model& model) {
  std::vector<std::string> units;
  std::set<std::string> blocks;
  bool ended = false;
  for (const GradientTensor& tensor : model.tensors) {
    const std::string block = block_of(tensor.tensor);
    if (!block.empty() && (units.empty() || units.back() != block) &&
        (ended || !blocks.insert(block).second))
      return;
    ended = ended || (block.empty() && !blocks.empty());
    units.push_back(!block.empty() ? block : blocks.empty() ? "embeddings" : "head");
  }
  if (blocks.size() < 2) return;
  for (std::size_t i = 0; i < units.size(); ++i) model.tensors[i].unit = units[i];
}

std::string percent(double share) { return percent_to_text(share); }

IterationTrace derive(const WeightsNetwork& network, const std::string& stored,
                      const DeriveChoice& choice, Imported& imported) {
  const Device& device = *choice.device;
  if (!network.lacking.empty()) throw UsageError("no times can be derived: " + network.lacking);
  const int samples = samples_of(network, choice);
  const NumberType type = type_meant(stored, choice, imported.notes);
  const FlopsPerSecond peak = peak_of(device, type);
  const double mfu = choice.mfu.value_or(kUsualMfu);
  if (!(mfu > 0 && mfu <= 1))
    throw UsageError("--mfu " + percent(mfu) + " is no share of a peak; write one like 40%");
  const RooflinePeaks peaks{peak.value * mfu, device.memory_bandwidth,
                            static_cast<double>(bytes_of(type))};
  IterationTrace trace;
  trace.device = device.name;
  trace.batch = samples;
  trace.tensors =
      tensor_times(network.operators, roofline_times(network.operators, samples, peaks));
  for (TensorTime& time : trace.tensors) {
    time.forward = rounded_to_nanosecond(time.forward);
    time.backward = rounded_to_nanosecond(time.backward);
  }
  if (trace.iteration() <= Seconds{0} || trace.iteration() > Seconds{kLongestSeconds})
    throw UsageError("an iteration would take " + number_to_text(trace.iteration().count()) +
                     " s on " + device.name + "; are --tokens or --batch right?");
  const bool tokens = network.language && !choice.weights.whole_sequences;
  imported.provenance.insert(
      imported.provenance.end(),
      {"evidence: derived. Nothing here was measured: a roofline of traces/devices.csv's " +
           device.name + " (" + device.source + ")",
       "  batch: " + std::to_string(samples) + (tokens ? " tokens" : " samples") +
           " on a GPU. Each operator takes FLOPs / (" + to_text(peak) + " in " +
           std::string(to_text(type)) + " x " + percent(mfu) + "), or its bytes / " +
           number_to_text(device.memory_bandwidth.value / 1e9) + " GB/s, whichever is longer",
       "  " + percent(mfu) + " of the peak (MFU) is " +
           std::string(choice.mfu ? "what --mfu says" : "assumed: --mfu says another") +
           ". Such shares are of whole iterations, so that the update has no time of its own"});
  if (!choice.mfu)
    imported.notes.inferred.push_back(percent(mfu) +
                                      " of the device's peak is assumed (MFU); --mfu says another");
  imported.notes.used.push_back(device.name + ": " + to_text(peak) + " in " +
                                std::string(to_text(type)) + " at " + percent(mfu) + ", " +
                                number_to_text(device.memory_bandwidth.value / 1e9) + " GB/s");
  imported.notes.inferred.push_back(
      "an update of 0: the MFU is a share of whole iterations, so it stands for the optimizer too");
  imported.notes.unknown.push_back(
      "what activation functions, softmax and sums beside a layer take: a list of weights does "
      "not show them, and the MFU stands for them");
  return trace;
}

}  // namespace

std::string stored_type(const std::vector<Weight>& weights) {
  std::map<std::string, std::int64_t> elements;
  for (const Weight& weight : weights) elements[weight.type] += weight.elements();
  const auto most =
      std::max_element(elements.begin(), elements.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == elements.end() ? "" : most->first;
}

Imported imported_from(const WeightsNetwork& network, const std::string& name,
                       const std::string& stored, const DeriveChoice& choice) {
  Imported imported;
  imported.kind = network.kind;
  imported.weights_unread = true;
  imported.shapes = ShapesFrom::Recorded;
  imported.notes = network.notes;
  imported.model = Model{name, tensors_of(network.operators)};
  set_units(*imported.model);
  if (const NumberType type = type_stored(stored); type != NumberType::Fp32) {
    set_types(*imported.model, {.parameter = type});
    imported.notes.inferred.push_back(
        "parameters and gradients are " + std::string(to_text(type)) +
        ", as the weights are stored (" + stored +
        "); --parameter-type and --gradient-type of a forecast say another");
  }
  const std::string sample = !network.language                ? "sample"
                             : choice.weights.whole_sequences ? "sequence"
                                                              : "token";
  if (network.language) imported.provenance.push_back("sample: " + sample);
  imported.provenance.push_back("forward_flops: of one " + sample +
                                ", 2 per multiply-accumulate, on a layer's first tensor");
  if (choice.device) {
    imported.device = choice.device->name;
    imported.trace = derive(network, stored, choice, imported);
  } else {
    if (!network.lacking.empty())
      imported.notes.unknown.push_back("times: " + network.lacking);
    else
      imported.notes.unknown.push_back(
          "times: --device NAME --tokens N (or --batch N) derives them");
  }
  return imported;
}

}  // namespace gradcast
