// Checkpoints that tests make: headers without weights, of networks whose shapes are known.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/answers/document.hpp"

/// "\x10\0\0\0\0\0\0\0" and so on.
inline std::string little_endian(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  return bytes;
}

/// A safetensors file of a header and `values` bytes of zeros.
inline std::string safetensors_file(const std::string& header, std::size_t values = 0) {
  return little_endian(header.size()) + header + std::string(values, '\0');
}

struct NamedShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// The header of tensors one after another, two bytes an element (or `bytes`).
inline std::string header_of(const std::vector<NamedShape>& tensors, const char* type = "BF16",
                             std::int64_t bytes = 2) {
  gradcast::Json header = {{"__metadata__", {{"format", "pt"}}}};
  std::int64_t at = 0;
  for (const NamedShape& tensor : tensors) {
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.shape) elements *= size;
    header[tensor.name] = {
        {"dtype", type}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes * elements}}};
    at += bytes * elements;
  }
  return header.dump();
}

/// Llama-3 8B, whose config.json says: 32 layers, hidden 4096, 32 heads and 8 of keys and values of
/// 128 each, feed-forward 14336, vocabulary 128256, a head of its own. Sorted by name, as
/// checkpoints are: "layers.10" before "layers.2".
inline std::vector<NamedShape> llama_3_8b() {
  const std::int64_t hidden = 4096, keys = 1024, wide = 14336, words = 128256;
  std::vector<NamedShape> tensors{{"lm_head.weight", {words, hidden}},
                                  {"model.embed_tokens.weight", {words, hidden}}};
  std::vector<std::string> layers;
  for (int i = 0; i < 32; ++i) layers.push_back(std::to_string(i));
  std::sort(layers.begin(), layers.end());
  for (const std::string& layer : layers) {
    const std::string at = "model.layers." + layer + ".";
    tensors.push_back({at + "input_layernorm.weight", {hidden}});
    tensors.push_back({at + "mlp.down_proj.weight", {hidden, wide}});
    tensors.push_back({at + "mlp.gate_proj.weight", {wide, hidden}});
    tensors.push_back({at + "mlp.up_proj.weight", {wide, hidden}});
    tensors.push_back({at + "post_attention_layernorm.weight", {hidden}});
    tensors.push_back({at + "self_attn.k_proj.weight", {keys, hidden}});
    tensors.push_back({at + "self_attn.o_proj.weight", {hidden, hidden}});
    tensors.push_back({at + "self_attn.q_proj.weight", {hidden, hidden}});
    tensors.push_back({at + "self_attn.v_proj.weight", {keys, hidden}});
  }
  tensors.push_back({"model.norm.weight", {hidden}});
  return tensors;
}
