// The file of nccl-tests' -J (src/util.cu writes it). It becomes the log that the same run prints,
// so that one reader judges both.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/json_results.hpp"
#include "sim/import/network/network_facts.hpp"

namespace gradcast {
namespace {

std::int64_t integer_of(const Json& value) {
  const double number = json_number(value);
  constexpr double kMost = 1e15;
  return number >= 0 && number <= kMost ? static_cast<std::int64_t>(number) : 0;
}

/// The version, the settings in the environment, and the test's name.
std::string log_head(const Json& document) {
  std::string text;
  const std::int64_t version = integer_of(json_member(document, "nccl_version"));
  if (version > 0) text += "# nccl-tests nccl-library=" + std::to_string(version) + "\n";
  if (const Json& all = json_member(document, "env"); all.is_array())
    for (const Json& variable : all) {
      const std::string its = json_line(variable);
      const std::size_t at = its.find('=');
      if (at != std::string::npos && its.starts_with("NCCL_"))
        text += "NCCL INFO " + its.substr(0, at) + " set by environment to " + its.substr(at + 1) +
                "\n";
    }
  text += "# nThread 1 nGpus 1\n";
  if (const Json& words = json_member(document, "args"); words.is_array() && !words.empty())
    text += "# Collective test starting: " + json_line(words.front()) + "\n";
  return text;
}

/// The ranks. A process with several (-t, -g) is listed by its first one.
std::string log_ranks(const Json& config, const std::string& path) {
  const Json& devices = json_member(config, "devices");
  if (!devices.is_array()) return "";
  const auto count = [&](const char* name) {
    return std::clamp<std::int64_t>(integer_of(json_member(config, name)), 1, kMostRanks);
  };
  std::int64_t each = count("nthreads") * count("ngpus");
  for (const Json& device : devices)
    if (integer_of(json_member(device, "rank")) % each != 0) each = 1;
  if (each > kMostRanks || static_cast<std::int64_t>(devices.size()) * each > kMostRanks)
    throw DataError(path, 0, "more than " + std::to_string(kMostRanks) + " ranks");
  std::string text;
  for (const Json& device : devices)
    for (std::int64_t i = 0; i < each; ++i)
      text += "#  Rank " + std::to_string(integer_of(json_member(device, "rank")) + i) + " Group " +
              std::to_string(integer_of(json_member(device, "group"))) + " Pid 1 on " +
              json_line(json_member(device, "hostname")) + " device " +
              std::to_string(integer_of(json_member(device, "device")) + i) + " [] " +
              json_line(json_member(device, "device_info")) + "\n";
  return text;
}

/// time, algbw, busbw and #wrong; "" where the run has no such place.
std::string log_place(const Json& place, const char* time) {
  if (!place.is_object()) return "";
  std::string text;
  for (const char* name : {time, "alg_bw", "bus_bw"})
    text += "  " + number_to_text(json_number(json_member(place, name)));
  const Json& wrong = json_member(place, "nwrong");
  return text + "  " + (wrong.is_number() ? number_to_text(json_number(wrong)) : "N/A");
}

std::string log_rows(const Json& results) {
  if (!results.is_array()) return "";
  const bool cpu_time = std::any_of(results.begin(), results.end(), [](const Json& row) {
    return json_member(json_member(row, "in_place"), "cpu_time").is_number();
  });
  const char* const time = cpu_time ? "cpu_time" : "time";
  const std::string place = std::string(cpu_time ? " cputime" : " time") + " algbw busbw #wrong";
  std::string text = "# size count type redop root" + place + place + "\n";
  const auto word_or = [](const Json& value, const char* none) {
    const std::string word = json_line(value);
    return word.empty() ? std::string(none) : word;
  };
  for (const Json& row : results)
    text += std::to_string(integer_of(json_member(row, "size"))) + " " +
            std::to_string(integer_of(json_member(row, "count"))) + " " +
            word_or(json_member(row, "type"), "float") + " " +
            word_or(json_member(row, "redop"), "none") + " " +
            word_or(json_member(row, "root"), "-1") +
            log_place(json_member(row, "out_of_place"), time) +
            log_place(json_member(row, "in_place"), time) + "\n";
  return text;
}

}  // namespace

bool is_nccl_tests_json(std::string_view begin) {
  const auto has = [&](std::string_view words) {
    return begin.find(words) != std::string_view::npos;
  };
  return begin.substr(0, begin.find_first_not_of(" \t\r\n") + 1).ends_with('{') &&
         has("\"start_time\"") && has("\"args\"") && has("_perf\"");
}

NetworkFacts read_nccl_tests_json(const TextFile& file) {
  const std::string path = file.path.string();
  const Json document = parse_json(file.content, path);
  const Json& results = json_member(document, "results");
  if (!results.is_array() || results.empty())
    throw DataError(path, 0, "has no results: nccl-tests' -J writes them when the test ends");
  return read_nccl_tests(
      {file.path,
       log_head(document) + log_ranks(json_member(document, "config"), path) + log_rows(results)});
}

}  // namespace gradcast
