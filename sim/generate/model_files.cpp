// `models/<model>.csv`, from the architectures.
#include <algorithm>

#include "sim/generate/generated_file.hpp"
#include "sim/generate/networks.hpp"

namespace gradcast {

namespace {

bool has(const Network& network, OperatorKind kind) {
  const std::vector<Operator>& operators = network.architecture.operators();
  return std::ranges::find(operators, kind, &Operator::kind) != operators.end();
}

/// The product with a table of its own has no tensor.
bool has_tied_head(const Network& network) {
  return std::ranges::any_of(network.architecture.operators(), [](const Operator& each) {
    return each.kind == OperatorKind::Linear && each.tensors.empty();
  });
}

std::vector<std::string> provenance(const Network& network) {
  std::vector<std::string> lines{"Architecture: " + network.source + ".",
                                 "kept_elements, kept_bytes: what PyTorch keeps of it for backward "
                                 "(rules: models/README.md)."};
  if (!has(network, OperatorKind::Attention)) {
    lines.push_back("forward_flops: of " + network.sample +
                    ", 2 per multiply-accumulate; batch normalisation: one");
    lines.push_back(
        "  multiply-accumulate an element. They stand on a layer's first tensor. Made "
        "by generate_data.");
    return lines;
  }
  lines.push_back("forward_flops: of " + network.sample + ", 2 per multiply-accumulate;");
  lines.push_back(
      "  normalisation: one multiply-accumulate an element. They stand on a layer's "
      "first tensor. What attention");
  lines.push_back(
      "  computes among tokens stands on the layer before it, and nothing of it is "
      "saved by a causal mask.");
  if (has_tied_head(network))
    lines.push_back(
        "The head's matrix is the table of words once more: it stands once, first, "
        "where its gradient is ready last; its arithmetic on the layer before it.");
  lines.push_back("Made by generate_data.");
  return lines;
}

}  // namespace

std::vector<GeneratedFile> model_files() {
  std::vector<GeneratedFile> files;
  for (const Network& network : all_networks())
    files.push_back({"models/" + network.name + ".csv",
                     model_csv(model_of(network.name, network.architecture), provenance(network))});
  return files;
}

}  // namespace gradcast
