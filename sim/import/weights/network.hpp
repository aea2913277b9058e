// A list of weights as the operators of a network, which a roofline can time.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/roofline.hpp"
#include "sim/import/weights/weight.hpp"

namespace gradcast {

/// Facts of the run that a person states, because a file of weights lacks them.
struct WeightsChoice {
  std::optional<int> sequence;           // --sequence: tokens of a sample
  std::optional<int> experts_per_token;  // --experts-per-token
  std::optional<std::int64_t> height;    // --image: of an ONNX graph that leaves it open
  std::optional<std::int64_t> width;
  bool whole_sequences = false;  // a sample is a sequence (--batch), not a token (--tokens)
};

struct WeightsNetwork {
  std::string kind;                 // "safetensors", "onnx"
  std::vector<Operator> operators;  // forward order; numbers are of one sample
  bool language = false;            // it has a table of tokens: samples are tokens or sequences
  bool images = false;              // its convolutions' sizes are known: samples are images
  /// Reason why times cannot be derived: sizes that are not known, and the flag that would say
  /// them.
  std::string lacking;
  ImportNotes notes;
};

/// The network of these weights. Each matrix works once on each token, or on each sample if there
/// are no tokens; a table of embeddings is looked up. The notes say what else names imply.
WeightsNetwork network_of(std::vector<Weight> weights, const WeightsChoice& choice,
                          ImportNotes notes);

/// For each layer that is an attention's projection of its output: the width of what it takes. 0
/// for others. `last`: the layer's last matrix.
std::int64_t attention_width(const std::string& layer, const Weight& last);

}  // namespace gradcast
