// JSON that tools write for others: members that may be missing, texts that may hold anything.
#pragma once
#include <string>

#include "sim/answers/json_reader.hpp"

namespace gradcast {

/// The value of a name in an object; null where there is none.
const Json& json_member(const Json& object, const char* name);

/// 0 for what is no number.
double json_number(const Json& value);

/// A text in one line; "" for what is none.
std::string json_line(const Json& value);

}  // namespace gradcast
