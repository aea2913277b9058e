#include "sim/report/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "sim/answers/json_reader.hpp"
#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

const std::vector<std::string> kShown = {"simulate",     "collectives", "compare", "fit",
                                         "sweep",        "breakeven",   "tta",     "train",
                                         "theory-curve", "calibrate",   "decide"};

const Json* find(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() ? nullptr : &*found;
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
  if (version == nullptr || !version->is_number_integer() || *version != schema_version(command))
    throw DataError(result.path, 0,
                    "is " + name + " of version " +
                        (version == nullptr ? "unknown" : shortened(version->dump(), 20)) +
                        ", and this program reads version " +
                        std::to_string(schema_version(command)) +
                        ": run the same command again with this program");
  return command;
}

/// Takes what comes of a file: rows of a result, or events of a timeline.
class ResultReader {
 public:
  explicit ResultReader(const std::string& path) : path_(path), events_(path) {}

  ResultFile read() {
    BlockReader file(path_);
    Sha256 sum;
    const JsonLists lists{{"results", "traceEvents"}, [this](std::size_t list, Json& item) {
                            list == 0 ? take_row(item) : events_.add(item);
                          }};
    ResultFile result{path_, "", "", read_json_of(file, lists, sum)};
    result.sha256 = sum.finish();
    if (find(result.document, "traceEvents") != nullptr) {
      result.command = "timeline";
      result.trace = events_.finish(result.document);
      return result;
    }
    result.command = command_of(result);
    const Json* rows = find(result.document, "results");
    if (rows == nullptr || !rows->is_array()) throw DataError(path_, 0, "has no list of results");
    if (no_object_ > 0)
      throw DataError(path_, 0,
                      "result " + std::to_string(no_object_) + " is no object with names");
    result.rows = std::move(rows_);
    return result;
  }

 private:
  /// Throws DataError that says, for a text that begins like no object and no list, how to get
  /// JSON.
  Json read_json_of(BlockReader& file, const JsonLists& lists, Sha256& sum) const {
    char begin = 0;
    try {
      return read_json(file, lists, [&](std::string_view block) {
        sum.add(block);
        const std::size_t at = block.find_first_not_of(" \t\r\n");
        if (begin == 0 && at != std::string_view::npos) begin = block[at];
      });
    } catch (const DataError& error) {
      if (begin == 0 || begin == '{' || begin == '[') throw;
      const std::string name = std::filesystem::path(path_).stem().string() + ".json";
      throw Error(error.code(),
                  std::string(error.what()) +
                      "; report reads JSON, and this is CSV or other text: run what wrote it with "
                      "-o " +
                      name);
    }
  }

  void take_row(Json& row) {
    if (!row.is_object() && no_object_ == 0) no_object_ = rows_.size() + 1;
    values_ += row.size();
    if (values_ > kMostJsonValues)
      throw DataError(path_, 0,
                      "has more than " + std::to_string(kMostJsonValues) +
                          " values in its results; a page shows fewer: report a part of them");
    rows_.push_back(std::move(row));
  }

  std::string path_;
  std::vector<Json> rows_;
  std::size_t values_ = 0;     // values in the rows
  std::size_t no_object_ = 0;  // the first such row, from 1
  ChromeTraceBuilder events_;
};

}  // namespace

ResultFile read_result(const std::string& path) { return ResultReader(path).read(); }

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
