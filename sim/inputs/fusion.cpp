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

constexpr std::string_view kDdpWithSize = "ddp:";

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

Fusion parse_ddp(std::string_view text) {
  if (const auto size = size_in(text.substr(kDdpWithSize.size())))
    return {Fusion::Kind::Ddp, *size};
  throw ValueError(
      "'" + std::string(text) +
      "' does not give DDP's buckets a size; write it like 'ddp:50MiB', or 'ddp' for " +
      to_text(kDdpBucket));
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
  if (text == "ddp") return {Fusion::Kind::Ddp, kDdpBucket};
  if (text.starts_with(kDdpWithSize)) return parse_ddp(text);
  if (text.starts_with(kCycle)) return parse_cycle(text);
  if (text == "mg-wfbp") return {Fusion::Kind::MgWfbp, {}};
  if (text == "omgs") return {Fusion::Kind::Omgs, {}};
  if (const auto size = size_in(text)) return {Fusion::Kind::Size, *size};
  throw ValueError("'" + std::string(text) +
                   "' is not 'layer', 'merged', 'ddp', 'mg-wfbp', 'omgs', a size like '25MiB' or a "
                   "cycle like 'cycle:5ms,64MiB'");
}

std::string to_text(const Fusion& fusion) {
  switch (fusion.kind) {
    case Fusion::Kind::Layer:
      return "layer";
    case Fusion::Kind::Merged:
      return "merged";
    case Fusion::Kind::Ddp:
      return fusion.size == kDdpBucket ? "ddp" : std::string(kDdpWithSize) + to_text(fusion.size);
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
    const bool small = ddp && !begun.contains(type);
    return bucket.bytes >= (small ? std::min(kDdpFirstBucket, fusion.size) : fusion.size);
  };
  std::map<NumberType, Bucket> open;  // by type, of which only DDP tells more than one apart
  for (std::size_t i = model.tensors.size(); i-- > 0;) {
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
  std::sort(rest.begin(), rest.end(),
            [](const Bucket& a, const Bucket& b) { return a.tensors.back() > b.tensors.back(); });
  std::move(rest.begin(), rest.end(), std::back_inserter(buckets));
  return buckets;
}

}  // namespace gradcast
