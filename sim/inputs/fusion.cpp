#include "sim/inputs/fusion.hpp"

#include <stdexcept>

#include "sim/base/error.hpp"

namespace gradcast {

Fusion parse_fusion(std::string_view text) {
  if (text == "layer") return {Fusion::Kind::Layer, {}};
  if (text == "merged") return {Fusion::Kind::Merged, {}};
  if (text == "mg-wfbp") return {Fusion::Kind::MgWfbp, {}};
  if (text == "omgs") return {Fusion::Kind::Omgs, {}};
  try {
    const Bytes size = parse_bytes(text);
    if (size.count > 0) return {Fusion::Kind::Size, size};
  } catch (const ValueError&) {
    // said better below
  }
  throw ValueError("'" + std::string(text) +
                   "' is not 'layer', 'merged', 'mg-wfbp', 'omgs' or a size like '25MiB'");
}

std::string to_text(const Fusion& fusion) {
  switch (fusion.kind) {
    case Fusion::Kind::Layer:
      return "layer";
    case Fusion::Kind::Merged:
      return "merged";
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
  const auto full = [&](const Bucket& bucket) {
    if (fusion.kind == Fusion::Kind::Merged) return false;
    if (fusion.kind == Fusion::Kind::Layer) return true;
    return bucket.bytes() >= fusion.size;
  };
  std::vector<Bucket> buckets;
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
