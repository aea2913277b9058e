#include "sim/inputs/sharding.hpp"

#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// The values of a flag, by their words.
template <class Value, std::size_t kCount>
using Words = std::array<std::pair<std::string_view, Value>, kCount>;

using Kind = std::pair<Sharding, bool>;  // and whether it is hybrid
constexpr Words<Kind, 5> kShardings{{{"none", {Sharding::None, false}},
                                     {"zero1", {Sharding::Zero1, false}},
                                     {"zero2", {Sharding::Zero2, false}},
                                     {"fsdp", {Sharding::Fsdp, false}},
                                     {"hsdp", {Sharding::Fsdp, true}}}};
constexpr Words<Synchronise, 3> kSynchronise{
    {{"usual", Synchronise::Usual}, {"every", Synchronise::Every}, {"last", Synchronise::Last}}};
constexpr Words<Recompute, 2> kRecompute{{{"none", Recompute::None}, {"full", Recompute::Full}}};
constexpr Words<Optimizer, 3> kOptimizers{
    {{"sgd", Optimizer::Sgd}, {"momentum", Optimizer::Momentum}, {"adam", Optimizer::Adam}}};

template <class Value, std::size_t kCount>
Value parse_word(const Words<Value, kCount>& words, std::string_view text) {
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.emplace_back(word);
  }
  throw ValueError("'" + std::string(text) + "' is none of " + join(known) +
                   did_you_mean(text, known));
}

template <class Value, std::size_t kCount>
std::string word_of(const Words<Value, kCount>& words, const Value& sought) {
  for (const auto& [word, value] : words)
    if (value == sought) return std::string(word);
  return {};
}

constexpr int kFp32 = 4;  // bytes

int moments_of(Optimizer optimizer) {
  return optimizer == Optimizer::Adam ? 2 : optimizer == Optimizer::Momentum ? 1 : 0;
}

}  // namespace

ShardingChoice parse_sharding(std::string_view text) {
  const std::string typed = in_quotes(text);
  if (text == "zero3" || text == "zero-3")
    throw ValueError(typed +
                     " is what fsdp does; with --stack deepspeed-zero3 as DeepSpeed does it");
  if (text == "ddp") throw ValueError(typed + " shards nothing: that is none, the default");
  const auto [kind, hybrid] = parse_word(kShardings, text);
  ShardingChoice choice;
  choice.kind = kind;
  choice.hybrid = hybrid;
  return choice;
}

std::string to_text(const ShardingChoice& sharding) {
  return word_of(kShardings, Kind{sharding.kind, sharding.hybrid});
}

int shards_of(const ShardingChoice& sharding, const Cluster& cluster) {
  if (sharding.kind == Sharding::None) return 1;
  const int ranks = cluster.ranks();
  if (sharding.group > 0) {
    if (ranks % sharding.group == 0) return sharding.group;
    throw ValueError("shards of " + std::to_string(sharding.group) +
                     " ranks (shard-group) do not divide " + std::to_string(ranks) + " GPUs");
  }
  if (!sharding.hybrid) return ranks;
  for (int node = 1; node < cluster.nodes; ++node)
    if (cluster.gpus_of(node) != cluster.gpus_of(0))
      throw ValueError(
          "hsdp shards inside nodes, and here nodes differ in their number of GPUs: use fsdp, or "
          "name the shard-group");
  return cluster.gpus_of(0);
}

std::int64_t parse_unit_size(std::string_view text) {
  constexpr double kMost = 1e12;
  double each = 1;
  std::string_view digits = text;
  for (const auto& [letter, factor] :
       {std::pair{'k', 1e3}, std::pair{'M', 1e6}, std::pair{'B', 1e9}})
    if (text.ends_with(letter)) {
      each = factor;
      digits.remove_suffix(1);
    }
  try {
    const double elements = each * parse_number(digits);
    if (elements >= 1 && elements <= kMost) return static_cast<std::int64_t>(elements);
  } catch (const ValueError&) {
    // said better below
  }
  throw ValueError("'" + std::string(text) +
                   "' is not a number of parameters; write it like '300000', '20M' or '1B'");
}

int parse_prefetch(std::string_view text) {
  constexpr int kMost = 64;
  const double number = parse_number(text);
  if (number >= 0 && number <= kMost && number == static_cast<int>(number))
    return static_cast<int>(number);
  throw ValueError("'" + std::string(text) + "' is not a count from 0 to " + std::to_string(kMost));
}

void set_types(Model& model, const Precision& precision) {
  for (GradientTensor& tensor : model.tensors) {
    if (precision.parameter)
      tensor.type = tensor.gradient_type = tensor.activation_type = *precision.parameter;
    if (precision.activation) tensor.activation_type = *precision.activation;
    if (precision.gradient) tensor.gradient_type = *precision.gradient;
    tensor.sum_type = precision.sum.value_or(tensor.gradient_type);
  }
}

Synchronise parse_synchronise(std::string_view text) { return parse_word(kSynchronise, text); }
std::string to_text(Synchronise synchronise) { return word_of(kSynchronise, synchronise); }

Optimizer parse_optimizer(std::string_view text) {
  return parse_word(kOptimizers, text == "adamw" ? "adam" : text);  // it moves as much memory
}
std::string to_text(Optimizer optimizer) { return word_of(kOptimizers, optimizer); }

Recompute parse_recompute(std::string_view text) { return parse_word(kRecompute, text); }
std::string to_text(Recompute recompute) { return word_of(kRecompute, recompute); }

int state_bytes(Optimizer optimizer, int bytes_of_parameter) {
  const int master = bytes_of_parameter < kFp32 ? 1 : 0;
  return kFp32 * (moments_of(optimizer) + master);
}

int update_bytes(Optimizer optimizer, bool fused) {
  if (fused) return kFp32 * (3 + 2 * moments_of(optimizer));
  // Values that an operator reads and writes, a parameter.
  constexpr int kScale = 2, kAdd = 3, kAddProduct = 3, kAddQuotient = 4;
  switch (optimizer) {
    case Optimizer::Sgd:
      return kFp32 * kAdd;
    case Optimizer::Momentum:  // decay, moment: scale and add, parameter
      return kFp32 * (3 * kAdd + kScale);
    case Optimizer::Adam:  // decay; first moment; second moment; root, corrected; parameter
      return kFp32 * (kScale + kAdd + kScale + kAddProduct + 3 * kScale + kAddQuotient);
  }
  throw std::logic_error("unknown optimizer");
}

}  // namespace gradcast
