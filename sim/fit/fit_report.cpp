#include "sim/fit/fit_report.hpp"

#include <algorithm>
#include <cmath>

#include "sim/comparison_groups.hpp"
#include "sim/table.hpp"
#include "sim/text.hpp"

namespace gradcast {
namespace {

/// Three digits: a fit is not surer than that.
double rounded(double value) { return rounded_to(3, value); }

struct Ends {
  double low;
  double high;
};

/// No time is negative, and of a rate the shortest time is the highest.
Ends ends_of(const Fit& fit, std::size_t i) {
  return {std::max(0.0, fit.parameters[i].low), std::max(0.0, fit.parameters[i].high)};
}

std::string note_of(const FittedParameter& parameter) {
  if (!parameter.fixed.empty()) return "held at its start: " + parameter.fixed;
  return parameter.at_bound ? "at its bound" : "";
}

std::string parameters_table(const Fit& fit) {
  TextTable table{{"parameter", "value", "95 % interval", "from", "bounds", ""}, {}};
  for (std::size_t i = 0; i < fit.parameters.size(); ++i) {
    const FitParameter& parameter = fit.structure->parameters[i];
    const FittedParameter& fitted = fit.parameters[i];
    const auto print = [&](double number) { return parameter.quantity->print(rounded(number)); };
    const Ends ends = ends_of(fit, i);
    const bool interval = fitted.fixed.empty() && !fitted.at_bound;
    table.rows.push_back(
        {parameter.name(), print(fitted.value),
         interval ? print(ends.low) + " to " + print(ends.high) : "-", print(parameter.start),
         print(parameter.least) + " to " + print(parameter.most), note_of(fitted)});
  }
  return to_text(table);
}

std::string unit_of(const Fit& fit, double deviation) {
  return fit.structure->errors == FitErrors::Relative ? fixed(100 * deviation, 1) + " %"
                                                      : fixed(deviation, 3) + " s";
}

double mean_absolute(const std::vector<double>& errors) {
  return summarize_errors(errors).mean_absolute;
}

std::string with_interval(double mean, const BootstrapInterval& interval) {
  return fixed(mean, 1) + " % (" + fixed(interval.low, 1) + " to " + fixed(interval.high, 1) + ")";
}

bool apart(const BootstrapInterval& a, const BootstrapInterval& b) {
  return a.high < b.low || b.high < a.low;
}

/// Tried structures whose own mean lies within the interval of the one that is claimed.
std::size_t within(const FitStudy& study) {
  return static_cast<std::size_t>(std::count_if(
      study.nested->mean_absolute.begin(), study.nested->mean_absolute.end(),
      [&](double mean) { return mean >= study.interval.low && mean <= study.interval.high; }));
}

/// "goodput in 3 folds, a-b in 1"
std::string chosen_text(const Nested& nested) {
  std::vector<std::string> words;
  for (const std::string& name : nested.chosen) {
    const auto count = std::count(nested.chosen.begin(), nested.chosen.end(), name);
    const std::string word = name + " in " + std::to_string(count);
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return join(words);
}

std::string left_out_text(const FitStudy& study) {
  const auto errors = summary_of(study.rows);
  if (!errors) return "";
  std::string text = "Mean absolute error, left out by " + to_text(*study.left_out) +
                     " (95 % by bootstrap of whole groups): " +
                     with_interval(errors->mean_absolute, study.interval) + ".\n";
  text += "With nothing fitted: " +
          with_interval(mean_absolute(study.unfitted_errors), study.unfitted_interval) + "; " +
          (apart(study.interval, study.unfitted_interval)
               ? "the intervals do not meet.\n"
               : "the intervals meet, so no gain is claimed.\n");
  if (!study.nested) return text;
  const ErrorSummary nested = summarize_errors(study.nested->errors_percent);
  text += "Structures tried: " + std::to_string(study.structures_tried) +
          ". Chosen anew in every fold, without what it forecasts (nested): " +
          with_interval(mean_absolute(study.nested->errors_percent), study.nested_interval) +
          ", worst " + with_sign(nested.worst, 1) + " %\n(" + chosen_text(*study.nested) + ").\n";
  text += std::to_string(within(study)) + " of the " + std::to_string(study.structures_tried) +
          " have their mean within this one's interval: no gain over those is claimed.\n";
  return text;
}

Json parameter_json(const Fit& fit, std::size_t i) {
  const FitParameter& parameter = fit.structure->parameters[i];
  const FittedParameter& fitted = fit.parameters[i];
  const auto print = [&](double number) { return parameter.quantity->print(number); };
  const Ends ends = ends_of(fit, i);
  return {{"parameter", parameter.quantity->name},
          {"applies_to", parameter.applies_to},
          {"value", print(fitted.value)},
          // Of rates seconds a byte.
          {"number", fitted.value},
          {"number_low", ends.low},
          {"number_high", ends.high},
          {"low", print(ends.low)},
          {"high", print(ends.high)},
          {"start", print(parameter.start)},
          {"least", print(parameter.least)},
          {"most", print(parameter.most)},
          {"at_bound", fitted.at_bound},
          {"held", fitted.fixed},
          {"source", parameter.source}};
}

Json fit_json(const Fit& fit) {
  Json parameters = Json::array();
  for (std::size_t i = 0; i < fit.parameters.size(); ++i)
    parameters.push_back(parameter_json(fit, i));
  return {{"runs", fit.runs},
          {"parameters", parameters},
          {"deviation", fit.deviation},
          {"relative_singular_value", fit.relative_singular_value},
          {"not_told_apart", fit.not_told_apart},
          {"starts", fit.starts},
          {"starts_that_agree", fit.starts_that_agree},
          {"start_spread_percent", fit.start_spread_percent}};
}

Json interval_json(const BootstrapInterval& interval) {
  return Json::array({interval.low, interval.high});
}

}  // namespace

std::string fit_table(const FitStudy& study) {
  const Fit& fit = study.fit;
  std::string text = "Fitted on " + std::to_string(fit.runs) + " runs of " + study.measured +
                     ", structure " + study.structure->name + ".\n";
  if (!study.structure->reason.empty()) text += study.structure->reason + "\n";
  text += "\n" + parameters_table(fit) + "\nLeft unexplained: " + unit_of(fit, fit.deviation) +
          " (standard deviation). ";
  text += fit.not_told_apart.empty()
              ? "These runs tell all of the parameters apart (singular values, smallest over "
                "largest: " +
                    number_to_text(rounded(fit.relative_singular_value)) + ").\n"
              : "These runs cannot, or hardly, tell apart: " + join(fit.not_told_apart, "; ") +
                    " (singular values, smallest over largest: " +
                    number_to_text(rounded(fit.relative_singular_value)) + ").\n";
  if (fit.starts > 1)
    text += std::to_string(fit.starts_that_agree) + " of " + std::to_string(fit.starts) +
            " searches ended here.\n";
  if (study.left_out) return text + "\n" + left_out_text(study);
  return text +
         "\nThe errors below are of the runs that were fitted: they are no forecasts. "
         "--leave-one-out makes some.\n";
}

void add_fit_summary(Json& summary, const FitStudy& study) {
  summary["structure"] = study.structure->name;
  summary["errors_fitted"] =
      study.structure->errors == FitErrors::Relative ? "relative" : "absolute";
  summary["fit"] = fit_json(study.fit);
  summary["leave_one_out"] = study.left_out ? Json(to_text(*study.left_out)) : Json();
  summary["in_sample"] = !study.left_out.has_value();
  summary["structures_tried"] = study.structures_tried;
  if (!study.unfitted_errors.empty())
    summary["unfitted"] = {{"mean_absolute_error_percent", mean_absolute(study.unfitted_errors)},
                           {"bootstrap_95_percent", interval_json(study.unfitted_interval)}};
  if (!study.left_out) return;
  summary["bootstrap_95_percent"] = interval_json(study.interval);
  summary["folds"] = Json::array();
  for (std::size_t i = 0; i < study.folds.size(); ++i) {
    Json fold = fit_json(study.folds[i]);
    fold["left_out"] = study.groups[i];
    summary["folds"].push_back(fold);
  }
  if (!study.nested) return;
  const ErrorSummary nested = summarize_errors(study.nested->errors_percent);
  summary["nested"] = {{"mean_absolute_error_percent", nested.mean_absolute},
                       {"worst_error_percent", nested.worst},
                       {"bootstrap_95_percent", interval_json(study.nested_interval)},
                       {"chosen", study.nested->chosen}};
  summary["structures"] = Json::array();
  for (std::size_t i = 0; i < study.structure_names.size(); ++i)
    summary["structures"].push_back(
        {{"structure", study.structure_names[i]},
         {"mean_absolute_error_percent", study.nested->mean_absolute[i]}});
}

}  // namespace gradcast
