#include "sim/import/weights/weight_order.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

struct Place {
  std::string_view word;  // a part of a name has it in it
  int rank;               // lower comes earlier
};

constexpr int kUsual = 50;

/// Parts of names outside the numbered blocks of a network. The first that fits counts.
constexpr Place kOutside[] = {
    {"embeddings_project", 15},
    {"patch_embed", 9},
    {"cls_token", 8},
    {"class_embedding", 8},
    {"mask_token", 8},
    {"word_emb", 10},
    {"embed_tokens", 10},
    {"tok_emb", 10},
    {"token_emb", 10},
    {"wte", 10},
    {"position_emb", 11},
    {"pos_emb", 11},
    {"embed_positions", 11},
    {"wpe", 11},
    {"token_type_emb", 12},
    {"layernorm_embedding", 13},
    {"shared", 10},
    {"stem", 14},
    {"embed", 10},
    {"ln_pre", 16},
    {"pre_layrnorm", 16},
    {"encoder", 40},
    {"decoder", 60},
    {"final_layer_norm", 80},
    {"final_layernorm", 80},
    {"layernorm_f", 80},
    {"ln_f", 80},
    {"norm_f", 80},
    {"post_layernorm", 80},
    {"ln_post", 80},
    {"final_norm", 80},
    {"pooler", 85},
    {"lm_head", 90},
    {"embed_out", 90},
    {"score", 90},
    {"classifier", 90},
    {"qa_outputs", 90},
    {"cls", 90},
    {"head", 90},
    {"output", 90},
};

/// Whole parts of names outside the blocks, too short to be looked for inside others.
constexpr Place kOutsideWhole[] = {{"norm", 80}, {"ln", 80}, {"fc", 90}, {"proj", 88}};

/// Parts of names inside a block: of transformers, and "downsample" of a ResNet's.
constexpr Place kInside[] = {
    {"post_attention_layernorm", 40},
    {"post_feedforward_layernorm", 75},
    {"pre_feedforward_layernorm", 45},
    {"encoder_attn_layer_norm", 30},
    {"encoder_attn", 31},
    {"self_attn_layer_norm", 10},
    {"final_layer_norm", 40},
    {"input_layernorm", 10},
    {"attention_norm", 10},
    {"layernorm_before", 10},
    {"layernorm_after", 40},
    {"layer_norm1", 10},
    {"layer_norm2", 40},
    {"ln_1", 10},
    {"ln_2", 40},
    {"ln1", 10},
    {"ln2", 40},
    {"norm1", 10},
    {"norm2", 40},
    {"ffn_norm", 40},
    {"crossattention", 31},
    {"self_attn", 20},
    {"selfattention", 20},
    {"attention", 20},
    {"attn", 20},
    {"mlp", 60},
    {"feed_forward", 60},
    {"ffn", 60},
    {"router", 55},
    {"experts", 61},
    {"intermediate", 60},
    {"downsample", 90},
    {"shortcut", 90},
};

constexpr Place kInsideWhole[] = {{"output", 70}};

/// Parts of names behind an attention's or a feed-forward part's own name.
constexpr Place kDeepestPart[] = {
    {"q_norm", 24},     {"k_norm", 25},      {"q_proj", 20},
    {"k_proj", 21},     {"v_proj", 22},      {"o_proj", 30},
    {"out_proj", 30},   {"output_proj", 30}, {"query_key_value", 20},
    {"query", 20},      {"key", 21},         {"value", 22},
    {"qkv", 20},        {"c_attn", 20},      {"in_proj", 20},
    {"c_proj", 80},     {"c_fc", 60},        {"router", 40},
    {"gate_proj", 60},  {"up_proj", 61},     {"gate_up", 60},
    {"down_proj", 80},  {"fc1", 60},         {"fc2", 80},
    {"dense_h_to", 60}, {"dense_4h", 80},    {"layernorm", 85},
    {"wi", 60},
};

constexpr Place kDeepestWhole[] = {
    {"wq", 20}, {"wk", 21},   {"wv", 22},   {"wo", 80},     {"w1", 60},  {"w3", 61},
    {"w2", 80}, {"gate", 40}, {"self", 20}, {"output", 70}, {"q", 20},   {"k", 21},
    {"v", 22},  {"o", 30},    {"up", 61},   {"down", 80},   {"proj", 80}};

int rank_of(std::string_view part, std::span<const Place> inside, std::span<const Place> whole) {
  for (const Place& place : whole)
    if (part == place.word) return place.rank;
  for (const Place& place : inside)
    if (part.find(place.word) != std::string_view::npos) return place.rank;
  return kUsual;
}

/// Key by which one part of a name is ordered: by rank, then by the number at its end, then
/// convolutions before normalisations, then by its text.
struct PartKey {
  int rank = kUsual;
  std::int64_t number = -1;
  int kind = 0;
  std::string_view text;
};

bool all_digits(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char letter) {
    return std::isdigit(letter) != 0;
  });
}

/// The number at the end of a part: 12 of "conv12". -1 where there is none or it is absurd.
std::int64_t number_at_end(std::string_view part) {
  constexpr std::size_t kMostDigits = 9;
  std::size_t digits = 0;
  while (digits < part.size() &&
         std::isdigit(static_cast<unsigned char>(part[part.size() - 1 - digits])) != 0)
    ++digits;
  if (digits == 0 || digits > kMostDigits) return -1;
  return std::stoll(std::string(part.substr(part.size() - digits)));
}

int kind_of(std::string_view part) {
  if (part == "weight") return 0;
  if (part.starts_with("conv")) return 1;
  if (part.starts_with("bn") || part.starts_with("norm") || part == "bias") return 2;
  return 3;
}

std::vector<PartKey> keys_of(const std::string& name) {
  std::vector<PartKey> keys;
  const std::vector<std::string> parts = split_words(in_lower_case(name), '.');
  int depth = 0;  // 0: outside the blocks, 1: inside one, 2: inside a named part of one
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    PartKey key;
    key.number = number_at_end(part);
    key.kind = kind_of(part);
    if (all_digits(part)) {
      depth = std::max(depth, 1);
    } else if (i + 1 < parts.size() || parts.size() == 1) {
      if (depth == 0) {
        key.rank = rank_of(part, kOutside, kOutsideWhole);
      } else {
        if (depth == 1) key.rank = rank_of(part, kInside, kInsideWhole);
        if (depth == 2 || key.rank == kUsual) {
          const int deepest = rank_of(part, kDeepestPart, kDeepestWhole);
          if (deepest != kUsual) key.rank = deepest;
        }
        depth = 2;
      }
      // A word that gave a rank has no meaning as a number any more: "fc1" and "ln_1" have theirs.
      if (key.rank != kUsual) key.number = -1;
    }
    keys.push_back(key);
  }
  return keys;
}

/// Numbers count by their value also where a part is all text to the rules.
bool part_less(const PartKey& a, const PartKey& b) {
  return std::tie(a.rank, a.number, a.kind) < std::tie(b.rank, b.number, b.kind);
}

struct Sortable {
  std::vector<PartKey> keys;
  std::vector<std::string> parts;
  std::size_t place;
};

bool sortable_less(const Sortable& a, const Sortable& b) {
  const std::size_t common = std::min(a.keys.size(), b.keys.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (part_less(a.keys[i], b.keys[i])) return true;
    if (part_less(b.keys[i], a.keys[i])) return false;
    if (a.parts[i] != b.parts[i]) {
      const bool less = natural_less(a.parts[i], b.parts[i]);
      return less != natural_less(b.parts[i], a.parts[i]) ? less : a.parts[i] < b.parts[i];
    }
  }
  return a.keys.size() < b.keys.size();
}

}  // namespace

void sort_in_forward_order(std::vector<Weight>& weights) {
  std::vector<Sortable> order;
  order.reserve(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    order.push_back({keys_of(weights[i].name), split_words(weights[i].name, '.'), i});
  std::sort(order.begin(), order.end(), sortable_less);
  std::vector<Weight> sorted;
  sorted.reserve(weights.size());
  for (const Sortable& each : order) sorted.push_back(std::move(weights[each.place]));
  weights = std::move(sorted);
}

}  // namespace gradcast
