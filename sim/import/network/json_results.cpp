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

std::vector<JsonPart> json_objects(std::string_view text) {
  std::vector<JsonPart> objects;
  std::size_t depth = 0, begin = 0, line = 1, begin_line = 1;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '\n') ++line;
    if (in_string) {
      if (letter == '\\') ++at;
      if (letter == '"') in_string = false;
    } else if (letter == '"' && depth > 0) {
      in_string = true;
    } else if (letter == '{' && depth++ == 0) {
      begin = at;
      begin_line = line;
    } else if (letter == '}' && depth > 0 && --depth == 0) {
      objects.push_back({text.substr(begin, at + 1 - begin), begin_line});
    }
  }
  if (depth > 0) objects.push_back({text.substr(begin), begin_line});
  return objects;
}

}  // namespace gradcast
