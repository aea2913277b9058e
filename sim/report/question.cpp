#include "sim/report/question.hpp"

#include <algorithm>
#include <map>

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// The values of a column, each once, without "" and dense.
std::vector<std::string> values_of(const ResultFile& result, const char* column) {
  std::vector<std::string> values;
  for (const Json& row : result.rows) {
    const std::string value = text_of(row, column);
    if (!value.empty() && value != "dense" &&
        std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  }
  return values;
}

/// "topk, dgc or gaussian"; `many` in place of more than three.
std::string listed(std::vector<std::string> values, const std::string& word,
                   const std::string& many) {
  if (values.size() > 3 || values.empty()) return many;
  const std::string last = values.back();
  values.pop_back();
  return values.empty() ? last : join(values) + " " + word + " " + last;
}

std::string models_in(const ResultFile& result) {
  const std::vector<std::string> models = values_of(result, "model");
  return listed(models, "and", std::to_string(models.size()) + " models");
}

std::string compressors_in(const ResultFile& result) {
  return listed(values_of(result, "compressor"), "or", "compression");
}

std::string decided(const ResultFile& result) {
  const auto summary = result.document.find("summary");
  const std::string question =
      summary != result.document.end() && summary->is_object() ? text_of(*summary, "question") : "";
  return question.empty() ? "What binds, and what is each change worth?" : question;
}

std::string break_even(const ResultFile& result) {
  if (result.rows.empty()) return "Who wins on which network?";
  std::string over = listed(values_of(result, "over"), "or", "setting");
  std::replace(over.begin(), over.end(), '-', ' ');
  if (over.starts_with("nic")) over.replace(0, 3, "NIC");
  return "Does " + compressors_in(result) + " pay for " + models_in(result) + ", and at which " +
         over + "?";
}

std::string swept(const ResultFile& result) {
  const std::string models = models_in(result);
  if (!values_of(result, "compressor").empty())
    return "Does " + compressors_in(result) + " pay for " + models + "?";
  const bool network = values_of(result, "nic_bandwidth").size() > 1;
  const bool nodes = values_of(result, "nodes").size() > 1;
  if (!network && !nodes) return "How long does an iteration of " + models + " take?";
  return std::string("What would ") + (network ? "a faster network" : "more nodes") +
         (network && nodes ? " or more nodes" : "") + " gain for " + models + "?";
}

std::string simulated(const ResultFile& result) {
  if (result.rows.size() != 1) return "How long does an iteration take?";
  const Json& row = result.rows.front();
  const std::string ranks = text_of(row, "ranks");
  const std::string compressor = text_of(row, "compressor");
  return "How long does an iteration of " + text_of(row, "model") +
         (compressor == "dense" ? "" : " with " + compressor) +
         (ranks.empty() ? "" : " on " + ranks + (ranks == "1" ? " GPU" : " GPUs")) + " take?";
}

std::string trained(const ResultFile& result) {
  return "What accuracy do trainings with " + compressors_in(result) + " reach?";
}

template <const char* kText>
std::string constant(const ResultFile&) {
  return kText;
}
constexpr char kReaches[] = "Which compressor reaches an accuracy first?";
constexpr char kErrors[] = "How far are forecasts off measured runs?";
constexpr char kTimeline[] = "Where does the time of one iteration go?";
constexpr char kCollectives[] = "How long do collectives take?";
constexpr char kKernels[] = "How fast do the compressors run here?";
constexpr char kTheory[] = "How much of a gradient does Top-k leave out?";

}  // namespace

std::string question_of(const std::vector<ResultFile>& results) {
  using Ask = std::string (*)(const ResultFile&);
  static const std::vector<std::pair<std::string, Ask>> kAsks = {
      {"decide", decided},
      {"breakeven", break_even},
      {"tta", constant<kReaches>},
      {"train", trained},
      {"sweep", swept},
      {"simulate", simulated},
      {"fit", constant<kErrors>},
      {"compare", constant<kErrors>},
      {"timeline", constant<kTimeline>},
      {"collectives", constant<kCollectives>},
      {"calibrate", constant<kKernels>},
      {"theory-curve", constant<kTheory>},
  };
  for (const auto& [command, ask] : kAsks)
    for (const ResultFile& result : results)
      if (result.command == command) return ask(result);
  return "What do these results say?";
}

}  // namespace gradcast
