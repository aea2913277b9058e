// The results that `report` reads: JSON documents of the other commands, and timelines.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/timeline/chrome_trace.hpp"

namespace gradcast {

struct ResultFile {
  std::string path;                    // as typed
  std::string sha256;                  // the unpacked text's; "" in a build without OpenSSL
  std::string command;                 // "simulate", "sweep", ...; "timeline" of a Chrome trace
  Json document;                       // without its rows or events
  std::vector<Json> rows{};            // flat objects; empty for a timeline
  std::optional<ChromeTrace> trace{};  // set for a timeline
};

/// Reads the file in one pass. Throws DataError, one line with the file's name, for a file that is
/// not a result, or is one of another version.
ResultFile read_result(const std::string& path);

/// The text of a field as a table would show it; "" if there is none.
std::string text_of(const Json& row, std::string_view key);

/// A number of a field, if it can be drawn (up to 1e15); nullopt if there is none.
std::optional<double> number_of(const Json& row, std::string_view key);

/// The same for numbers above 0: times and counts.
std::optional<double> positive_of(const Json& row, std::string_view key);

}  // namespace gradcast
