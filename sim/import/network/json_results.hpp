// JSON that tools write for others: members that may be missing, texts that may hold anything.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/answers/json_reader.hpp"

namespace gradcast {

/// The value of a name in an object; null where there is none.
const Json& json_member(const Json& object, const char* name);

/// 0 for what is no number.
double json_number(const Json& value);

/// A text in one line; "" for what is none.
std::string json_line(const Json& value);

/// A part of a text, and the line that it begins on.
struct JsonPart {
  std::string_view text;
  std::size_t line;
};

/// The objects of a text, whatever stands between them: warnings of a tool, results of several
/// runs. The last one may be cut off.
std::vector<JsonPart> json_objects(std::string_view text);

}  // namespace gradcast
