#include "sim/import/weights/network.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "sim/base/clean_text.hpp"
#include "sim/base/text.hpp"
#include "sim/import/weights/weight.hpp"

namespace gradcast {
namespace {

bool has_any(const std::string& text, const std::vector<std::string_view>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

std::string in_small_letters(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

/// The weights of one layer, which stand together.
struct Layer {
  std::string name;
  std::vector<Weight> weights;
};

std::vector<Layer> layers_of(std::vector<Weight> weights) {
  std::vector<Layer> layers;
  for (Weight& weight : weights) {
    const std::string name = layer_of(weight.name);
    if (layers.empty() || layers.back().name != name) layers.push_back({name, {}});
    layers.back().weights.push_back(std::move(weight));
  }
  return layers;
}

/// Tables that positions, kinds of segments or tokens are looked up in; and single tokens that are
/// added to a sequence.
bool is_table(const Layer& layer, const Weight* token_table) {
  if (token_table != nullptr && layer.name == layer_of(token_table->name)) return true;
  const std::string name = in_small_letters(layer.name);
  return layer.weights.front().shape.size() <= 3 && !has_any(name, {"proj", "patch", "norm"}) &&
         has_any(name, {"embed", "wte", "wpe", "pos_", "cls_token", "mask_token"});
}

bool is_expert(const std::string& layer) {
  return layer.find("experts.") != std::string::npos || layer.ends_with("experts");
}

/// "layers.0.mlp.experts" of "layers.0.mlp.experts.7.up_proj".
std::string experts_of(const std::string& layer) {
  return layer.substr(0, layer.find("experts") + std::string_view("experts").size());
}

/// Experts of each group: by the numbers behind its name, or by the first size of tensors that have
/// three.
std::map<std::string, std::int64_t> count_experts(const std::vector<Layer>& layers) {
  std::map<std::string, std::int64_t> counts;
  for (const Layer& layer : layers) {
    if (!is_expert(layer.name)) continue;
    const std::string group = experts_of(layer.name);
    std::int64_t& count = counts[group];
    if (layer.weights.front().shape.size() == 3) {
      count = std::max(count, layer.weights.front().shape[0]);
      continue;
    }
    const std::string rest = layer.name.substr(std::min(layer.name.size(), group.size() + 1));
    constexpr std::size_t kMostDigits = 9;
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits > 0 && digits <= kMostDigits)
      count = std::max<std::int64_t>(count, std::stoll(rest.substr(0, digits)) + 1);
  }
  return counts;
}

class NetworkBuilder {
 public:
  NetworkBuilder(const WeightsChoice& choice, ImportNotes notes) : choice_(choice) {
    network_.kind = "safetensors";
    network_.notes = std::move(notes);
  }

  WeightsNetwork build(std::vector<Weight> weights) {
    const Weight* found = token_embedding(weights);
    if (found != nullptr) table_ = *found;
    network_.language = found != nullptr;
    const bool head_of_its_own = has_head(weights) || !network_.language || is_encoder(weights);
    positions_ = network_.language && choice_.whole_sequences ? choice_.sequence.value_or(1) : 1;
    const std::vector<Layer> layers = layers_of(std::move(weights));
    experts_ = count_experts(layers);
    for (const Layer& layer : layers) add(layer);
    if (!head_of_its_own) add_tied_head();
    say();
    return std::move(network_);
  }

 private:
  static bool is_encoder(const std::vector<Weight>& weights) {
    return std::any_of(weights.begin(), weights.end(), [](const Weight& weight) {
      return has_any(weight.name, {"pooler", "encoder."});
    });
  }

  Operator& append(OperatorKind kind, const Layer& layer, std::int64_t in, std::int64_t out,
                   std::int64_t macs) {
    Operator added{kind, layer.name, {in, 1, positions_}, {out, 1, positions_}, macs * positions_,
                   {}};
    for (const Weight& weight : layer.weights)
      added.tensors.push_back(gradient_of(layer.name, weight));
    if (!added.tensors.empty())
      added.tensors.front().forward_flops = 2 * static_cast<double>(added.multiply_accumulates);
    network_.operators.push_back(std::move(added));
    return network_.operators.back();
  }

  void add(const Layer& layer) {
    const std::string name = in_small_letters(layer.name);
    const Weight* widest = nullptr;  // of the tensors that multiply
    for (const Weight& weight : layer.weights)
      if (weight.shape.size() >= 2 && (widest == nullptr || weight.elements() > widest->elements()))
        widest = &weight;
    if (is_table(layer, table_ ? &*table_ : nullptr)) {
      append(OperatorKind::Embedding, layer, 1, layer.weights.front().shape.back(), 0);
    } else if (widest == nullptr) {
      append(OperatorKind::BatchNorm, layer, layer.weights.front().elements(),
             layer.weights.front().elements(), layer.weights.front().elements());
    } else if (is_expert(layer.name) && widest->shape.size() <= 3) {
      add_expert(layer, *widest);
    } else if (widest->shape.size() == 2) {
      add_matrices(layer, *widest);
    } else {
      add_convolution(layer, *widest, name);
    }
  }

  void add_matrices(const Layer& layer, const Weight& widest) {
    if (const std::int64_t width = attention_width(layer.name, widest); width > 0)
      add_attention(width);
    std::int64_t macs = 0, in = 0, out = 0;
    for (const Weight& weight : layer.weights) {
      if (weight.shape.size() != 2) continue;
      macs += weight.elements();
      in += weight.shape[1];
      out += weight.shape[0];
    }
    append(OperatorKind::Linear, layer, in, out, macs);
  }

  /// Query x key and weights x value: each token meets each of its sequence, in all heads together
  /// as wide as what the projection behind it takes.
  void add_attention(std::int64_t width) {
    ++attentions_;
    constexpr std::int64_t kWidest = 1'000'000;  // nobody's is; products of wider ones overflow
    if (!choice_.sequence || network_.operators.empty() || width > kWidest) return;
    Operator attention{OperatorKind::Attention, "", {3 * width, 1, positions_},
                       {width, 1, positions_},  0,  {}};
    attention.multiply_accumulates = 2 * std::int64_t{*choice_.sequence} * width * positions_;
    for (auto it = network_.operators.rbegin(); it != network_.operators.rend(); ++it)
      if (!it->tensors.empty()) {
        it->tensors.front().forward_flops +=
            2 * static_cast<double>(attention.multiply_accumulates);
        break;
      }
    network_.operators.push_back(std::move(attention));
  }

  void add_expert(const Layer& layer, const Weight& widest) {
    const std::int64_t all = std::max<std::int64_t>(1, experts_[experts_of(layer.name)]);
    if (!choice_.experts_per_token) {
      network_.lacking = "how many of " + std::to_string(all) +
                         " experts a token uses is not in the file: --experts-per-token N";
    } else if (*choice_.experts_per_token > all) {
      network_.lacking =
          "there are " + std::to_string(all) + " experts, fewer than --experts-per-token says";
    }
    const std::int64_t used = std::min<std::int64_t>(choice_.experts_per_token.value_or(1), all);
    std::int64_t elements = 0;
    for (const Weight& weight : layer.weights)
      if (weight.shape.size() >= 2) elements += weight.elements();
    const bool stacked = widest.shape.size() == 3;
    const std::int64_t in = widest.shape.back();
    const std::int64_t out = widest.shape[widest.shape.size() - 2];
    append(OperatorKind::Linear, layer, in * used / (stacked ? 1 : all) + 1,
           out * used / (stacked ? 1 : all) + 1, elements * used / all);
  }

  void add_convolution(const Layer& layer, const Weight& widest, const std::string& name) {
    const bool patches = has_any(name, {"patch"});
    if (patches)
      ++patches_;
    else
      ++convolutions_;
    std::int64_t in = 1;
    for (std::size_t i = 1; i < widest.shape.size(); ++i) in *= widest.shape[i];
    append(patches ? OperatorKind::Linear : OperatorKind::Convolution, layer, in, widest.shape[0],
           patches ? widest.elements() : 0);
  }

  /// The table once more, as a matrix. Its gradient is the table's own, which is ready last.
  void add_tied_head() {
    Layer none{"", {}};
    append(OperatorKind::Linear, none, table_->shape[1], table_->shape[0], table_->elements());
    for (auto it = network_.operators.rbegin(); it != network_.operators.rend(); ++it)
      if (!it->tensors.empty()) {
        it->tensors.front().forward_flops +=
            2 * static_cast<double>(table_->elements()) * static_cast<double>(positions_);
        break;
      }
  }

  void say() {
    ImportNotes& notes = network_.notes;
    if (convolutions_ > 0)
      network_.lacking = std::to_string(convolutions_) +
                         " convolutions: a checkpoint does not say how large their outputs are; "
                         "give the model as ONNX (torch.onnx.export), whose graph does";
    if (patches_ > 0)
      notes.inferred.push_back("a patch embedding works once on each patch, which is a token");
    if (attentions_ > 0 && choice_.sequence)
      notes.used.push_back("--sequence " + std::to_string(*choice_.sequence) + ": " +
                           std::to_string(attentions_) +
                           " attentions, each token with each of its sequence (nothing is "
                           "saved by a causal mask)");
    else if (attentions_ > 0)
      notes.unknown.push_back(
          "the arithmetic inside " + std::to_string(attentions_) +
          " attentions is left out: it grows with the tokens of a sequence, --sequence N");
  }

  const WeightsChoice& choice_;
  WeightsNetwork network_;
  std::optional<Weight> table_;
  std::map<std::string, std::int64_t> experts_;
  std::int64_t positions_ = 1;  // tokens of a sample
  int attentions_ = 0;
  int convolutions_ = 0;
  int patches_ = 0;
};

}  // namespace

std::int64_t attention_width(const std::string& layer, const Weight& last) {
  constexpr std::array<std::string_view, 9> kOutputs = {"o_proj",
                                                        "out_proj",
                                                        "output_proj",
                                                        "attn.c_proj",
                                                        "attn.proj",
                                                        "attention.wo",
                                                        "attention.output.dense",
                                                        "attention.dense",
                                                        "attn.wo"};
  const std::string name = in_small_letters(layer);
  if (last.shape.size() != 2 || !has_any(name, {"attn", "attention"})) return 0;
  const bool output = std::any_of(kOutputs.begin(), kOutputs.end(),
                                  [&](std::string_view each) { return name.ends_with(each); });
  return output ? last.shape[1] : 0;
}

WeightsNetwork network_of(std::vector<Weight> weights, const WeightsChoice& choice,
                          ImportNotes notes) {
  return NetworkBuilder(choice, std::move(notes)).build(std::move(weights));
}

}  // namespace gradcast
