// What `report` reads: JSON documents that the other commands wrote.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/answers/document.hpp"

namespace gradcast {

struct ResultFile {
  std::string path;     // as typed
  std::string sha256;   // "" in a build without OpenSSL
  std::string command;  // "simulate", "sweep", ...; "timeline" of a Chrome trace
  Json document;
  std::vector<Json> rows{};  // flat objects; none of a timeline
};

/// Throws DataError, one line with the file's name, for what is no result or one of another
/// version.
ResultFile read_result(const std::string& path);

/// The text of a field as it would stand in a table; "" where there is none.
std::string text_of(const Json& row, std::string_view key);

/// A number of a size that can be drawn (beyond 1e15 nothing is); nullopt where there is none.
std::optional<double> number_of(const Json& row, std::string_view key);

/// The same, above nought: times and counts.
std::optional<double> positive_of(const Json& row, std::string_view key);

}  // namespace gradcast
