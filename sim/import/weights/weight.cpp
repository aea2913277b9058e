#include "sim/import/weights/weight.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

struct BufferName {
  std::string_view ending;  // of a tensor's name, whole parts of it
  std::string_view why;
};

constexpr std::string_view kStatistic = "running statistics";
constexpr std::string_view kTable = "tables of positions";
constexpr std::string_view kMask = "masks";
constexpr std::string_view kScale = "scales of quantised weights";

/// Buffers that PyTorch modules keep beside their parameters (register_buffer), by their names in
/// torch.nn, torchvision and transformers.
constexpr std::array kBufferNames = {
    BufferName{"running_mean", kStatistic},
    BufferName{"running_var", kStatistic},
    BufferName{"num_batches_tracked", kStatistic},
    BufferName{"position_ids", kTable},
    BufferName{"token_type_ids", kTable},
    BufferName{"inv_freq", kTable},
    BufferName{"cos_cached", kTable},
    BufferName{"sin_cached", kTable},
    BufferName{"relative_position_index", kTable},
    BufferName{"relative_coords_table", kTable},
    BufferName{"masked_bias", kMask},
    BufferName{"attn_mask", kMask},
    BufferName{"causal_mask", kMask},
    BufferName{"weight_scale", kScale},
    BufferName{"weight_scale_inv", kScale},
    BufferName{"input_scale", kScale},
};

bool ends_with_part(const std::string& name, std::string_view ending) {
  return name.ends_with(ending) &&
         (name.size() == ending.size() || name[name.size() - ending.size() - 1] == '.');
}

/// GPT-2 and its kin keep the triangle of ones that hides later tokens as `attn.bias`, whose shape
/// is 1 x 1 x n x n. A bias has one dimension.
bool is_causal_triangle(const Weight& weight) {
  return leaf_of(weight.name) == "bias" && weight.shape.size() == 4 && weight.shape[0] == 1 &&
         weight.shape[1] == 1 && weight.shape[2] == weight.shape[3];
}

/// Gradients are floating point. (F8 is what some checkpoints store of weights that are.)
bool is_whole_number(const std::string& type) {
  return type == "BOOL" || type.starts_with('I') || type.starts_with('U');
}

/// "a.running_mean, b.running_mean, ... (49 in all)"
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 2;
  std::vector<std::string> shown(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  for (std::string& name : shown) name = shortened(clean_text(name), 60);
  return join(shown) + (names.size() > kShown ? ", ..." : "");
}

bool has_part(const std::string& name, std::string_view part) {
  const std::vector<std::string> parts = split_words(name, '.');
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

/// Only running statistics are kept: which masks and tables are buffers today, a file does not say.
void keep_bytes(const std::vector<Weight>& statistics, std::vector<Weight>& weights,
                ImportNotes& notes) {
  if (weights.empty()) return;
  std::map<std::string, Weight*> of_layer;
  for (Weight& weight : weights) of_layer.try_emplace(layer_of(weight.name), &weight);
  std::int64_t bytes = 0;
  for (const Weight& statistic : statistics) {
    const auto found = of_layer.find(layer_of(statistic.name));
    Weight& beside = found == of_layer.end() ? weights.front() : *found->second;
    (is_whole_number(statistic.type) ? beside.counter_bytes : beside.buffer_bytes) +=
        statistic.bytes;
    bytes += statistic.bytes;
  }
  if (bytes > 0)
    notes.used.push_back("the sizes of running statistics, " + std::to_string(bytes) +
                         " bytes: buffers, which DDP broadcasts");
}

}  // namespace

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) throw ValueError("a size of " + std::to_string(size));
    if (size == 0) return 0;
  }
  for (const std::int64_t size : shape) {
    if (size > kMost / product)
      throw ValueError("more than " + std::to_string(kMost) + " elements, the most of a tensor");
    product *= size;
  }
  return product;
}

std::int64_t Weight::elements() const { return elements_of(shape); }

GradientTensor gradient_of(const std::string& layer, const Weight& weight) {
  GradientTensor gradient{layer, weight.name, weight.elements(), 0};
  gradient.shape = weight.shape;
  if (gradient.shape.empty()) gradient.shape = {1};
  gradient.buffer_bytes = weight.buffer_bytes;
  gradient.counter_bytes = weight.counter_bytes;
  return gradient;
}

std::string layer_of(const std::string& weight) {
  const std::size_t dot = weight.rfind('.');
  return dot == std::string::npos || dot == 0 ? weight : weight.substr(0, dot);
}

std::string leaf_of(const std::string& weight) { return weight.substr(weight.rfind('.') + 1); }

std::string why_not_trained(const Weight& weight) {
  const auto* named = std::find_if(
      kBufferNames.begin(), kBufferNames.end(),
      [&](const BufferName& each) { return ends_with_part(weight.name, each.ending); });
  if (named != kBufferNames.end()) return std::string(named->why);
  if (is_causal_triangle(weight)) return std::string(kMask);
  if (is_whole_number(weight.type)) return "whole numbers, which have no gradient";
  if (weight.elements() == 0) return "empty tensors";
  return "";
}

void refuse_quantised(const std::vector<Weight>& weights, const std::string& file) {
  constexpr std::array<std::string_view, 5> kPacked = {"qweight", "qzeros", "quant_map", "absmax",
                                                       "SCB"};
  for (const Weight& weight : weights)
    for (const std::string_view part : kPacked)
      if (leaf_of(weight.name) == part)
        throw DataError(file, 0,
                        "is a quantised checkpoint (it has " +
                            in_quotes(shortened(clean_text(weight.name), 60)) +
                            "): its packed tensors are not those that are trained; give the "
                            "original one");
}

void refuse_adapters(const std::vector<Weight>& weights, const std::string& file) {
  for (const Weight& weight : weights)
    for (const std::string_view part : {"lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B",
                                        "lora_magnitude_vector", "hada_w1_a", "lokr_w1"})
      if (has_part(weight.name, part))
        throw DataError(file, 0,
                        "is an adapter (it has " +
                            in_quotes(shortened(clean_text(weight.name), 80)) +
                            "): the model beside which it is trained is not in it; give the "
                            "checkpoint of that model");
}

void require_sane_sum(const std::vector<Weight>& weights, const std::string& file) {
  constexpr std::int64_t kMost = 4'000'000'000'000;
  std::int64_t sum = 0;
  for (const Weight& weight : weights)
    if ((sum += weight.elements()) > kMost)
      throw DataError(file, 0,
                      "has more than " + std::to_string(kMost) + " elements, as no network has");
}

void drop_untrained(std::vector<Weight>& weights, ImportNotes& notes) {
  std::vector<std::string> reasons;  // in the order in which they were met
  std::map<std::string, std::vector<std::string>> dropped;
  std::vector<Weight> statistics;
  std::erase_if(weights, [&](const Weight& weight) {
    const std::string why = why_not_trained(weight);
    if (why.empty()) return false;
    if (why == kStatistic) statistics.push_back(weight);
    if (dropped[why].empty()) reasons.push_back(why);
    dropped[why].push_back(weight.name);
    return true;
  });
  for (const std::string& why : reasons)
    notes.dropped.push_back(std::to_string(dropped[why].size()) +
                            (dropped[why].size() == 1 ? " tensor" : " tensors") +
                            " without gradients, " + why + ": " + some_of(dropped[why]));
  keep_bytes(statistics, weights, notes);
}

const Weight* token_embedding(const std::vector<Weight>& weights) {
  for (const std::string_view name :
       {"embed_tokens", "wte", "word_embeddings", "tok_embeddings", "token_embeddings",
        "token_embedding", "embed_in", "embeddings", "embedding", "shared"})
    for (const Weight& weight : weights)
      if (weight.shape.size() == 2 && has_part(layer_of(weight.name), name)) return &weight;
  return nullptr;
}

bool has_head(const std::vector<Weight>& weights) {
  return std::any_of(weights.begin(), weights.end(), [](const Weight& weight) {
    if (weight.shape.size() != 2) return false;
    const std::string first = split_words(weight.name, '.').front();
    return weight.name.find("lm_head") != std::string::npos || first == "embed_out" ||
           first == "output" || first == "head" || first == "score" || first == "classifier" ||
           first == "cls" || first == "fc" || first == "qa_outputs";
  });
}

void note_tied_head(const std::vector<Weight>& weights, ImportNotes& notes) {
  const Weight* table = token_embedding(weights);
  if (table == nullptr || has_head(weights)) return;
  notes.inferred.push_back("there is no lm_head.weight: the head is taken to share the table " +
                           in_quotes(shortened(clean_text(table->name), 60)) +
                           ", which is one gradient");
}

}  // namespace gradcast
