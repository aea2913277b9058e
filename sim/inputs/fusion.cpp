#include "sim/inputs/fusion.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

// DistributedDataParallel of PyTorch: `bucket_cap_mb`, and kDefaultFirstBucketBytes of its reducer.
constexpr Bytes kDdpBucket{std::int64_t{25} << 20};
constexpr Bytes kDdpFirstBucket{std::int64_t{1} << 20};

constexpr std::string_view kDdp = "ddp";
constexpr std::string_view kDdpFindsUnused = "ddp-find-unused";

// Horovod's cycle time is a whole number of these (HOROVOD_CYCLE_TIME, in its RunLoopOnce).
constexpr Seconds kShortestCycle{1e-6};
constexpr std::string_view kCycle = "cycle:";

/// A size above zero; nothing where the text is none.
std::optional<Bytes> size_in(std::string_view text) {
  try {
    const Bytes size = parse_bytes(text);
    if (size.count > 0) return size;
  } catch (const ValueError&) {
    // said better by the caller
  }
  return std::nullopt;
}

/// A time that a cycle can take; nothing where the text is none.
std::optional<Seconds> cycle_in(std::string_view text) {
  try {
    const Seconds time = parse_time(text);
    if (time >= kShortestCycle) return time;
  } catch (const ValueError&) {
    // said better by the caller
  }
  return std::nullopt;
}

/// DDP's own sizes, or the given one for all buckets: its first is small only where nobody gives
/// one, since pytorch/pytorch#121640 (2024).
Fusion ddp_of(std::optional<Bytes> size, bool finds_unused) {
  return {Fusion::Kind::Ddp, size.value_or(kDdpBucket), Seconds{0}, size.value_or(kDdpFirstBucket),
          finds_unused};
}

/// A fusion of DDP's; nothing where the text names none. Throws ValueError if its size is wrong.
std::optional<Fusion> ddp_in(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  if (name != kDdp && name != kDdpFindsUnused) return std::nullopt;
  const bool finds_unused = name == kDdpFindsUnused;
  if (name == text) return ddp_of(std::nullopt, finds_unused);
  if (const auto size = size_in(text.substr(name.size() + 1))) return ddp_of(size, finds_unused);
  const std::string its(name);
  throw ValueError("'" + std::string(text) +
                   "' does not give DDP's buckets a size; write it like '" + its + ":50MiB', or '" +
                   its + "' for " + to_text(kDdpBucket));
}

Fusion parse_cycle(std::string_view text) {
  const std::string_view values = text.substr(kCycle.size());
  const std::size_t comma = values.find(',');
  const auto time =
      comma == std::string_view::npos ? std::nullopt : cycle_in(values.substr(0, comma));
  const auto size =
      comma == std::string_view::npos ? std::nullopt : size_in(values.substr(comma + 1));
  if (time && size) return {Fusion::Kind::Cycle, *size, *time};
  throw ValueError("'" + std::string(text) + "' does not give a cycle its time (" +
                   to_text(kShortestCycle) +
                   " or more) and the most bytes of a bucket; write it like 'cycle:5ms,64MiB'");
}

}  // namespace

Fusion parse_fusion(std::string_view text) {
  if (text == "layer") return {Fusion::Kind::Layer, {}};
  if (text == "merged") return {Fusion::Kind::Merged, {}};
  if (const auto ddp = ddp_in(text)) return *ddp;
  if (text.starts_with(kCycle)) return parse_cycle(text);
  if (text == "mg-wfbp") return {Fusion::Kind::MgWfbp, {}};
  if (text == "omgs") return {Fusion::Kind::Omgs, {}};
  if (const auto size = size_in(text)) return {Fusion::Kind::Size, *size};
  throw ValueError("'" + std::string(text) +
                   "' is not 'layer', 'merged', 'ddp', 'ddp-find-unused', 'mg-wfbp', 'omgs', a "
                   "size like '25MiB' or a cycle like 'cycle:5ms,64MiB'");
}

std::string to_text(const Fusion& fusion) {
  switch (fusion.kind) {
    case Fusion::Kind::Layer:
      return "layer";
    case Fusion::Kind::Merged:
      return "merged";
    case Fusion::Kind::Ddp:
      return std::string(fusion.finds_unused ? kDdpFindsUnused : kDdp) +
             (fusion.first == fusion.size ? ":" + to_text(fusion.size) : "");
    case Fusion::Kind::Cycle:
      return std::string(kCycle) + to_text(fusion.cycle) + "," + to_text(fusion.size);
    case Fusion::Kind::MgWfbp:
      return "mg-wfbp";
    case Fusion::Kind::Omgs:
      return "omgs";
    case Fusion::Kind::Size:
      break;
  }
  return to_text(fusion.size);
}

std::vector<std::string> split_fusions(std::string_view list) {
  std::vector<std::string> fusions;
  bool open = false;  // a cycle whose size comes next
  for (const std::string& word : split_words(list, ',')) {
    if (open)
      fusions.back() += "," + word;
    else
      fusions.push_back(word);
    open = !open && word.starts_with(kCycle);
  }
  return fusions;
}

void Bucket::add(const Model& model, std::size_t tensor) {
  tensors.push_back(tensor);
  elements += model.tensors[tensor].elements;
  bytes = bytes + model.tensors[tensor].sum_bytes();
}

std::vector<Bucket> make_buckets(const Model& model, const Fusion& fusion) {
  if (fusion.needs_times())
    throw std::logic_error("buckets of '" + to_text(fusion) + "' depend on times");
  std::vector<Bucket> buckets;
  const bool ddp = fusion.kind == Fusion::Kind::Ddp;
  std::set<NumberType> begun;  // types of which DDP has filled a bucket
  const auto full = [&](const Bucket& bucket, NumberType type) {
    if (fusion.kind == Fusion::Kind::Merged) return false;
    if (fusion.kind == Fusion::Kind::Layer) return true;
    return bucket.bytes >= (ddp && !begun.contains(type) ? fusion.first : fusion.size);
  };
  std::map<NumberType, Bucket> open;  // by type, of which only DDP tells more than one apart
  const std::size_t count = model.tensors.size();
  for (std::size_t passed = 0; passed < count; ++passed) {
    const std::size_t i = fusion.finds_unused ? passed : count - 1 - passed;
    const GradientTensor& tensor = model.tensors[i];
    if (tensor.frozen) continue;
    const NumberType type = ddp ? tensor.sum_type : NumberType::Fp32;
    Bucket& bucket = open[type];
    bucket.add(model, i);
    if (!full(bucket, type)) continue;
    begun.insert(type);
    buckets.push_back(std::exchange(bucket, {}));
  }
  // The rest, by the tensor that came last.
  std::vector<Bucket> rest;
  for (auto& [type, bucket] : open)
    if (!bucket.tensors.empty()) rest.push_back(std::move(bucket));
  const auto later = [](const Bucket& a, const Bucket& b) {
    return a.tensors.back() > b.tensors.back();
  };
  std::sort(rest.begin(), rest.end(), later);
  std::move(rest.begin(), rest.end(), std::back_inserter(buckets));
  if (!fusion.finds_unused) return buckets;
  for (Bucket& bucket : buckets) std::reverse(bucket.tensors.begin(), bucket.tensors.end());
  std::sort(buckets.begin(), buckets.end(), later);
  return buckets;
}

}  // namespace gradcast
