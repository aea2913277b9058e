// One answer in the three formats: table, CSV and JSON.
#pragma once
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

struct Answer {
  std::string table;                     // for people
  std::vector<Json> rows;                // flat: CSV, and the results of the JSON document
  Json summary{};                        // of the JSON document; null for none
  Json seed{};                           // null where nothing is random
  Json more{};                           // an object: further members of the JSON document
  std::string schema{};                  // of the JSON document; "": that of the command
  std::vector<std::string> arguments{};  // where the answer is another command line's than ours
};

/// Writes the answer in the format and to the place that the flags name. `engine` is "" if none
/// ran. Throws UsageError where that place is an input, be it one that another file names.
void deliver(const Flags& flags, const std::vector<InputFile>& inputs, std::string_view engine,
             const Answer& answer);

}  // namespace gradcast
