#include "sim/decide/next_steps.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "sim/base/shell_word.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kMostSteps = 2;

/// The flags of the run that was asked about, with their values: neither those of `decide` alone
/// nor those in `without`.
std::vector<std::string> run_flags(const std::vector<std::string>& arguments,
                                   const std::set<std::string>& without) {
  const std::set<std::string> own{"--compressor", "--price-per-gpu-hour", "--samples",
                                  "--gpu-memory", "--format"};
  std::vector<std::string> words;
  for (std::size_t i = 2; i + 1 < arguments.size(); i += 2) {
    if (own.contains(arguments[i]) || without.contains(arguments[i])) continue;
    words.push_back(arguments[i]);
    words.push_back(arguments[i + 1]);
  }
  return words;
}

/// Today's value of the number that an option changes.
std::string todays_value(const Decision& decision, const std::string& flag) {
  if (flag == "nodes") return std::to_string(decision.now.cluster.nodes);
  if (flag == "nics-per-node") return std::to_string(decision.now.cluster.nics_per_node);
  if (flag == "batch") return std::to_string(decision.now.batch());
  return to_text(decision.now.cluster.nic.bandwidth);
}

bool is_number(Change change) {
  return change == Change::Network || change == Change::Nodes || change == Change::Batch;
}

std::vector<std::string> step_for(const Decision& decision, const Option& option,
                                  const std::vector<std::string>& arguments) {
  std::set<std::string> replaced;
  for (const auto& [flag, value] : option.flags) replaced.insert("--" + flag);
  std::string command = "simulate";
  std::vector<std::string> added;
  for (const auto& [flag, value] : option.flags) {
    added.push_back("--" + flag);
    added.push_back(value);
  }
  if (option.change == Change::Compressor) {
    command = "breakeven";
    replaced.insert("--nic-bandwidth");
    // Among several compressors one may have what another one lacks (with_compressor).
    if (option.request.mode.empty()) replaced.insert("--mode");
    if (option.request.implementation.empty()) replaced.insert("--implementation");
    if (!option.request.parameter) replaced.insert("--parameter");
    added.insert(added.end(), {"--over", "nic-bandwidth"});
  } else {
    replaced.insert({"--parameter", "--mode", "--implementation"});
  }
  if (is_number(option.change) && option.flags.size() == 1) {
    command = "sweep";
    added.back() = todays_value(decision, option.flags[0].first) + "," + added.back();
  }
  std::vector<std::string> words{"gradcast", command};
  const std::vector<std::string> flags = run_flags(arguments, replaced);
  words.insert(words.end(), flags.begin(), flags.end());
  // A batch that nobody named: `decide` chose one that fits, and another command would not.
  const bool batch = std::find(flags.begin(), flags.end(), "--batch") != flags.end();
  if (!batch && !replaced.contains("--batch") && decision.request.batch)
    words.insert(words.end(), {"--batch", std::to_string(*decision.request.batch)});
  words.insert(words.end(), added.begin(), added.end());
  return words;
}

}  // namespace

std::vector<std::string> next_steps(const Decision& decision,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> steps;
  const auto possible = [&](const WeighedOption& weighed) {
    return !exceeds_memory(decision, weighed.forecast.memory);
  };
  const bool some = std::any_of(decision.ranked.begin(), decision.ranked.end(), possible);
  for (const WeighedOption& weighed : decision.ranked) {
    if (steps.size() == kMostSteps) break;
    if (weighed.option.change == Change::Nodes) continue;  // their number is a question of money
    if (some && !possible(weighed)) continue;
    std::string line;
    for (const std::string& word : step_for(decision, weighed.option, arguments))
      line += (line.empty() ? "" : " ") + shell_word(word);
    steps.push_back(line);
  }
  return steps;
}

}  // namespace gradcast
