#include "sim/inputs/fusion.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

// DistributedDataParallel of PyTorch: `bucket_cap_mb`, and kDefaultFirstBucketBytes of its reducer.
constexpr Bytes kDdpBucket{std::int64_t{25} << 20};
constexpr Bytes kDdpFirstBucket{std::int64_t{1} << 20};

constexpr std::string_view kDdpWithSize = "ddp:";

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

Fusion parse_ddp(std::string_view text) {
  if (const auto size = size_in(text.substr(kDdpWithSize.size())))
    return {Fusion::Kind::Ddp, *size};
  throw ValueError(
      "'" + std::string(text) +
      "' does not give DDP's buckets a size; write it like 'ddp:50MiB', or 'ddp' for " +
      to_text(kDdpBucket));
}

}  // namespace

Fusion parse_fusion(std::string_view text) {
  if (text == "layer") return {Fusion::Kind::Layer, {}};
  if (text == "merged") return {Fusion::Kind::Merged, {}};
  if (text == "ddp") return {Fusion::Kind::Ddp, kDdpBucket};
  if (text.starts_with(kDdpWithSize)) return parse_ddp(text);
  if (text == "mg-wfbp") return {Fusion::Kind::MgWfbp, {}};
  if (text == "omgs") return {Fusion::Kind::Omgs, {}};
  if (const auto size = size_in(text)) return {Fusion::Kind::Size, *size};
  throw ValueError("'" + std::string(text) +
                   "' is not 'layer', 'merged', 'ddp', 'mg-wfbp', 'omgs' or a size like '25MiB'");
}

std::string to_text(const Fusion& fusion) {
  switch (fusion.kind) {
    case Fusion::Kind::Layer:
      return "layer";
    case Fusion::Kind::Merged:
      return "merged";
    case Fusion::Kind::Ddp:
      return fusion.size == kDdpBucket ? "ddp" : std::string(kDdpWithSize) + to_text(fusion.size);
    case Fusion::Kind::MgWfbp:
      return "mg-wfbp";
    case Fusion::Kind::Omgs:
      return "omgs";
    case Fusion::Kind::Size:
      break;
  }
  return to_text(fusion.size);
}

void Bucket::add(const Model& model, std::size_t tensor) {
  tensors.push_back(tensor);
  elements += model.tensors[tensor].elements;
}

Bytes Bucket::bytes() const { return Bytes{elements * std::int64_t{sizeof(float)}}; }

std::vector<Bucket> make_buckets(const Model& model, const Fusion& fusion) {
  if (fusion.kind == Fusion::Kind::MgWfbp || fusion.kind == Fusion::Kind::Omgs)
    throw std::logic_error("buckets of '" + to_text(fusion) + "' depend on times");
  std::vector<Bucket> buckets;
  const auto full = [&](const Bucket& bucket) {
    if (fusion.kind == Fusion::Kind::Merged) return false;
    if (fusion.kind == Fusion::Kind::Layer) return true;
    const bool small = fusion.kind == Fusion::Kind::Ddp && buckets.empty();
    return bucket.bytes() >= (small ? std::min(kDdpFirstBucket, fusion.size) : fusion.size);
  };
  Bucket open;
  for (std::size_t i = model.tensors.size(); i-- > 0;) {
    open.add(model, i);
    if (full(open) || i == 0) {
      buckets.push_back(std::move(open));
      open = {};
    }
  }
  return buckets;
}

}  // namespace gradcast
