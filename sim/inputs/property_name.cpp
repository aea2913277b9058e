#include "sim/inputs/property_name.hpp"

#include <cstdint>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

/// "3" or "4..7"
std::pair<int, int> parse_nodes(std::string_view text) {
  const auto refuse = [&] {
    return ValueError(in_quotes(text) + " is not a node or a range of nodes like '3' or '4..7'");
  };
  const auto number = [&](std::string_view part) {
    try {
      const std::int64_t node = parse_integer(part);
      if (node >= 0 && node < 1'000'000) return static_cast<int>(node);
    } catch (const ValueError&) {
    }
    throw refuse();
  };
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {number(text), number(text)};
  const std::pair<int, int> range{number(text.substr(0, dots)), number(text.substr(dots + 2))};
  if (range.first > range.second) throw refuse();
  return range;
}

}  // namespace

std::string NamedProperty::name() const {
  const std::string its(property->name);
  return nodes ? NodeOverride{its, nodes->first, nodes->second, ""}.name() : its;
}

NamedProperty parse_property_name(std::string_view name) {
  const std::size_t at = name.find('@');
  const PropertyRow& property = find_property(name.substr(0, at));
  if (at == std::string_view::npos) return {&property, std::nullopt};
  if (property.set_node == nullptr) {
    std::vector<std::string> possible;
    for (const PropertyRow& other : property_rows())
      if (other.set_node != nullptr) possible.emplace_back(other.name);
    throw ValueError(in_quotes(property.name) + " is the whole cluster's; nodes may differ in " +
                     join(possible));
  }
  return {&property, parse_nodes(name.substr(at + 1))};
}

}  // namespace gradcast
