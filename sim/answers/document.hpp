// The JSON document that every command answers with: what was asked, of which inputs, by which
// version, and the results.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/inputs/data_files.hpp"

namespace gradcast {

using Json = nlohmann::ordered_json;

/// `schema` is named gradcast/<command>; `engine` is "" for commands that run none.
struct DocumentHead {
  std::string command;
  std::vector<std::string> arguments;
  std::vector<InputFile> inputs;
  std::string engine;
};

/// A document with everything but results.
Json make_document(const DocumentHead& head);

/// Flat objects with the same keys as CSV, the keys its header; null is an empty field.
std::string rows_to_csv(const std::vector<Json>& rows);

/// A flat value as it stands in CSV and in tables.
std::string value_to_text(const Json& value);

/// Indented text with a line break. Throws std::logic_error where a number is not finite: JSON has
/// no way to say it, and it is no result.
std::string to_text(const Json& document);

}  // namespace gradcast
