#include "sim/import/network/json_results.hpp"

#include "sim/base/text.hpp"

namespace gradcast {

const Json& json_member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

double json_number(const Json& value) { return value.is_number() ? value.get<double>() : 0; }

std::string json_line(const Json& value) {
  return value.is_string() ? one_line(value.get<std::string>()) : "";
}

}  // namespace gradcast
