#include "sim/fusion.hpp"

#include "sim/error.hpp"

namespace gradcast {

Fusion parse_fusion(std::string_view text) {
  if (text == "layer") return {Fusion::Kind::Layer, {}};
  if (text == "merged") return {Fusion::Kind::Merged, {}};
  try {
    const Bytes size = parse_bytes(text);
    if (size.count > 0) return {Fusion::Kind::Size, size};
  } catch (const ValueError&) {
    // said better below
  }
  throw ValueError("'" + std::string(text) + "' is not 'layer', 'merged' or a size like '25MiB'");
}

std::string to_text(const Fusion& fusion) {
  switch (fusion.kind) {
    case Fusion::Kind::Layer:
      return "layer";
    case Fusion::Kind::Merged:
      return "merged";
    case Fusion::Kind::Size:
      break;
  }
  return to_text(fusion.size);
}

std::vector<Bucket> make_buckets(const Model& model, const Fusion& fusion) {
  const auto full = [&](const Bucket& bucket) {
    if (fusion.kind == Fusion::Kind::Merged) return false;
    if (fusion.kind == Fusion::Kind::Layer) return true;
    return bucket.elements * std::int64_t{sizeof(float)} >= fusion.size.count;
  };
  std::vector<Bucket> buckets;
  Bucket open;
  for (std::size_t i = model.tensors.size(); i-- > 0;) {
    open.tensors.push_back(i);
    open.elements += model.tensors[i].elements;
    if (full(open) || i == 0) {
      buckets.push_back(std::move(open));
      open = {};
    }
  }
  return buckets;
}

}  // namespace gradcast
