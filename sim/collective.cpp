#include "sim/collective.hpp"

#include <stdexcept>

namespace gradcast {
namespace collectives {
#define COLLECTIVE(name) extern const Collective name;
#include "sim/collectives.def"
#undef COLLECTIVE
}  // namespace collectives

std::span<const Collective* const> all_collectives() {
  static constexpr const Collective* kAll[] = {
#define COLLECTIVE(name) &collectives::name,
#include "sim/collectives.def"
#undef COLLECTIVE
  };
  return kAll;
}

const Collective* find_collective(std::string_view name) {
  for (const Collective* collective : all_collectives())
    if (collective->name == name) return collective;
  return nullptr;
}

const Collective& default_collective(Aggregation aggregation) {
  for (const Collective* collective : all_collectives())
    if (collective->serves == aggregation) return *collective;
  throw std::logic_error("collectives.def has nothing for an aggregation");
}

Bytes chunk(Bytes whole, int i, int n) {
  const std::int64_t each = whole.count / n;
  const std::int64_t over = whole.count % n;  // the first `over` chunks take one byte more
  return {each + (i < over ? 1 : 0)};
}

}  // namespace gradcast
