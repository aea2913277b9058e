#include "sim/report/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/report/escape.hpp"
#include "sim/timeline/chrome_trace.hpp"

namespace gradcast {
namespace {

/// The version of each document that this program writes and reads.
constexpr std::int64_t kVersion = 1;

const std::vector<std::string> kShown = {"simulate", "compare",   "fit",
                                         "sweep",    "breakeven", "calibrate"};

const Json* find(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() ? nullptr : &*found;
}

Json parsed(const TextFile& file) {
  try {
    return Json::parse(file.content);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const std::string what = clean_text(error.what());
    const std::size_t bracket = what.find("] ");
    std::string said =
        shortened(bracket == std::string::npos ? what : what.substr(bracket + 2), 200);
    std::replace(said.begin(), said.end(), '\n', ' ');
    throw DataError(file.path.string(), 0,
                    "is no JSON, as `--format json` writes it (" + said + ")");
  }
}

std::string command_of(const ResultFile& result) {
  const Json* schema = find(result.document, "schema");
  const std::string name = schema != nullptr ? text_of(*schema, "name") : "";
  if (!name.starts_with("gradcast/"))
    throw DataError(result.path, 0,
                    "is no result of gradcast: JSON with a schema, as `--format json` writes it, "
                    "or a timeline is due");
  const std::string command = name.substr(name.find('/') + 1);
  if (std::find(kShown.begin(), kShown.end(), command) == kShown.end())
    throw DataError(result.path, 0,
                    "holds '" + shortened(clean_text(name), 60) +
                        "', of which there is no picture; report shows " + join(kShown) +
                        " and timelines");
  const Json* version = find(*schema, "version");
  if (version == nullptr || !version->is_number_integer() || *version != kVersion)
    throw DataError(result.path, 0,
                    "is " + name + " of version " +
                        (version == nullptr ? "unknown" : shortened(version->dump(), 20)) +
                        ", and this program reads version " + std::to_string(kVersion) +
                        "; write it again with this program");
  return command;
}

std::vector<Json> rows_of(const ResultFile& result) {
  const Json* rows = find(result.document, "results");
  if (rows == nullptr || !rows->is_array())
    throw DataError(result.path, 0, "has no list of results");
  std::vector<Json> list;
  for (const Json& row : *rows) {
    if (!row.is_object())
      throw DataError(result.path, 0,
                      "result " + std::to_string(list.size() + 1) + " is no object with names");
    list.push_back(row);
  }
  return list;
}

}  // namespace

ResultFile read_result(const std::string& path) {
  const bool packed = path.ends_with(".gz");
  const TextFile file = packed ? TextFile{path, read_maybe_packed(path)} : read_text_file(path);
  ResultFile result{path, sha256_hex(file.content), "", parsed(file)};
  if (const Json* events = find(result.document, "traceEvents"); events != nullptr) {
    result.command = "timeline";
    return result;
  }
  result.command = command_of(result);
  result.rows = rows_of(result);
  return result;
}

std::string text_of(const Json& row, std::string_view key) {
  const Json* value = find(row, key);
  if (value == nullptr || value->is_structured()) return "";
  return value_to_text(*value);
}

std::optional<double> number_of(const Json& row, std::string_view key) {
  const Json* value = find(row, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->get<double>();
  if (!std::isfinite(number) || std::abs(number) > 1e15) return std::nullopt;
  return number;
}

std::optional<double> positive_of(const Json& row, std::string_view key) {
  const std::optional<double> number = number_of(row, key);
  return number && *number > 1e-15 ? number : std::nullopt;
}

}  // namespace gradcast
