#include "sim/compare/groups.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gradcast {

Aspect by_algorithm(const std::vector<ComparedRun>& runs) {
  std::map<std::string, std::set<std::string>> collectives;
  for (const ComparedRun& run : runs) collectives[run.run.compressor].insert(run.asked_collective);
  return {"algorithm", [collectives](const ComparedRun& run) {
            const auto found = collectives.find(run.run.compressor);
            const bool several = found != collectives.end() && found->second.size() > 1;
            return run.run.compressor +
                   (several && !run.asked_collective.empty() ? " " + run.asked_collective : "");
          }};
}

Aspect by_model() {
  return {"model", [](const ComparedRun& run) {
            return run.run.payload.count > 0 ? to_text(run.run.payload) : run.run.model;
          }};
}

Aspect by_source() {
  return {"source", [](const ComparedRun& run) { return run.run.source; }};
}

const std::vector<Aspect>& setup_aspects() {
  static const std::vector<Aspect> aspects = {
      {"cluster", [](const ComparedRun& c) { return c.run.cluster; }},
      {"ranks", [](const ComparedRun& c) { return std::to_string(c.ranks); }},
      {"jobs", [](const ComparedRun& c) { return std::to_string(c.run.concurrent_jobs); }},
      {"fusion", [](const ComparedRun& c) { return to_text(c.run.fusion); }, false},
      {"stack", [](const ComparedRun& c) { return c.run.stack; }},
      {"compressing", [](const ComparedRun& c) { return c.run.compressing ? "yes" : "no"; }, false},
  };
  return aspects;
}

std::vector<std::string> values_of(const std::vector<ComparedRun>& runs, const Aspect& aspect) {
  std::vector<std::string> values;
  for (const ComparedRun& run : runs)
    if (const std::string value = aspect.of(run);
        std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  return values;
}

std::vector<Aspect> differing_aspects(const std::vector<ComparedRun>& runs) {
  std::vector<Aspect> differing;
  for (const Aspect& aspect : setup_aspects())
    if (values_of(runs, aspect).size() > 1) differing.push_back(aspect);
  return differing;
}

std::optional<ErrorSummary> summary_of(const std::vector<ComparedRun>& runs) {
  return summary_of(runs, {"", [](const ComparedRun&) { return std::string(); }}, "");
}

std::optional<ErrorSummary> summary_of(const std::vector<ComparedRun>& runs, const Aspect& aspect,
                                       const std::string& value) {
  std::vector<double> errors;
  for (const ComparedRun& run : runs)
    if (run.counts() && aspect.of(run) == value) errors.push_back(run.error_percent());
  return errors.empty() ? std::nullopt : std::optional(summarize_errors(errors));
}

std::string bias_in_words(double bias_percent) {
  return bias_percent > 0 ? "too slow" : bias_percent < 0 ? "too fast" : "";
}

std::optional<Coverage> coverage_of(const std::vector<ComparedRun>& runs) {
  Coverage coverage;
  std::vector<double> widths;
  for (const ComparedRun& run : runs) {
    if (!run.counts() || !run.has_interval()) continue;
    ++coverage.rows;
    if (*run.low <= run.run.iteration && run.run.iteration <= *run.high) ++coverage.inside;
    widths.push_back(100 * ((*run.high - *run.low) / run.predicted()));
  }
  if (widths.empty()) return std::nullopt;
  coverage.median_width_percent = median(widths);
  return coverage;
}

}  // namespace gradcast
