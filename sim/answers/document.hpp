// The JSON document of every command's answer: the question, the inputs, the program's version, and
// the results.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {

using Json = nlohmann::ordered_json;

/// The value, or null.
template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}
inline Json or_null(const std::optional<Seconds>& time) {
  return time ? Json(time->count()) : Json();
}

/// `schema` is named gradcast/<schema>: a command, or one of its several answers. `engine` is ""
/// for commands that run none.
struct DocumentHead {
  std::string schema;
  std::vector<std::string> arguments;
  std::vector<InputFile> inputs;
  std::string engine;
};

/// The version of gradcast/<schema>. Version 1 of sweep and breakeven had physics alone under the
/// names that now have the answer.
int schema_version(const std::string& schema);

/// A document with everything but results.
Json make_document(const DocumentHead& head);

/// Turns flat objects with the same keys into CSV. The keys are the header; null is an empty field.
std::string rows_to_csv(const std::vector<Json>& rows);

/// A flat value as CSV and tables show it.
std::string value_to_text(const Json& value);

/// The document as indented text with a line break. Throws std::logic_error if a number is not
/// finite: JSON cannot express it, and it is not a result.
std::string to_text(const Json& document);

}  // namespace gradcast
