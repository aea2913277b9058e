#include "sim/fit/fit_report.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

/// Three digits, because a fit is not surer than that.
constexpr int kDigits = 3;

std::string note_of(const FittedParameter& parameter) {
  if (!parameter.fixed.empty()) return "held at its start: " + parameter.fixed;
  return parameter.at_bound ? "at its bound" : "";
}

std::string parameters_table(const Fit& fit) {
  TextTable table{{"parameter", "value", "95 % interval", "from", "bounds", ""}, {}};
  for (std::size_t i = 0; i < fit.parameters.size(); ++i) {
    const FitParameter& parameter = fit.structure->parameters[i];
    const FittedParameter& fitted = fit.parameters[i];
    const ScenarioQuantity& quantity = *parameter.quantity;
    const bool interval = fitted.fixed.empty() && !fitted.at_bound;
    table.rows.push_back({parameter.name(), quantity.text(fitted.value, kDigits),
                          interval ? quantity.range(fitted.low, fitted.high, kDigits) : "-",
                          quantity.text(parameter.start, kDigits),
                          quantity.range(parameter.least, parameter.most, kDigits),
                          note_of(fitted)});
  }
  return to_text(table);
}

std::string unit_of(const Fit& fit, double deviation) {
  return fit.structure->errors == FitErrors::Relative ? fixed(100 * deviation, 1) + " %"
                                                      : fixed(deviation, 3) + " s";
}

std::string in_words(const MeanError& error) {
  return fixed(error.mean, 1) + " % (" + fixed(error.interval.low, 1) + " to " +
         fixed(error.interval.high, 1) + ")";
}

/// The conclusion about a fit from the intervals of the two means.
std::string gain_text(const BootstrapInterval& fitted, const BootstrapInterval& unfitted) {
  if (fitted.high < unfitted.low) return "the intervals do not meet.\n";
  if (unfitted.high < fitted.low) return "the fit makes it worse: the intervals do not meet.\n";
  return "the intervals meet, so no gain is claimed.\n";
}

/// Other structures whose own mean lies within the interval of the one that is claimed.
std::size_t no_worse(const FitStudy& study) {
  const BootstrapInterval& interval = study.fitted.interval;
  return static_cast<std::size_t>(
      std::count_if(study.nested->tried.begin(), study.nested->tried.end(), [&](const auto& tried) {
        return tried.first != study.structure->name && tried.second >= interval.low &&
               tried.second <= interval.high;
      }));
}

/// "call-each in 3 folds, ..."
std::string chosen_text(const std::vector<std::string>& chosen) {
  std::vector<std::string> words;
  for (const std::string& name : chosen) {
    const std::string word =
        name + " in " + std::to_string(std::count(chosen.begin(), chosen.end(), name));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return join(words);
}

std::string left_out_text(const FitStudy& study) {
  std::string text = study.folds_missing == 0
                         ? ""
                         : std::to_string(study.folds.size()) + " of " +
                               std::to_string(study.folds.size() + study.folds_missing) +
                               " folds were done before this was interrupted; all that follows is "
                               "of those.\n";
  text += "Mean absolute error, left out by " + to_text(*study.left_out) +
          " (95 % by bootstrap of whole groups): " + in_words(study.fitted) +
          ".\nWithout the fit, clusters and costs as their files say: " + in_words(study.unfitted) +
          "; " + gain_text(study.fitted.interval, study.unfitted.interval);
  if (!study.nested) return text;
  const std::string tried = std::to_string(study.structures_tried);
  return text + "Structures tried: " + tried +
         ". Chosen anew in every fold, without what it forecasts (nested): " +
         in_words(study.nested->error) + ", worst " + with_sign(study.nested->worst_percent, 1) +
         " %\n(" + chosen_text(study.nested->by_fold) + ").\n" + std::to_string(no_worse(study)) +
         " of the " + std::to_string(study.structures_tried - 1) +
         " others have their mean within this one's interval: no gain over those is claimed.\n";
}

Json parameter_json(const Fit& fit, std::size_t i) {
  const FitParameter& parameter = fit.structure->parameters[i];
  const FittedParameter& fitted = fit.parameters[i];
  const auto print = [&](double number) { return parameter.quantity->text(number); };
  const double least = std::max(0.0, fitted.low);  // no time is negative
  const double most = std::max(0.0, fitted.high);
  const bool inverse = parameter.quantity->inverse;
  return {{"parameter", parameter.quantity->name},
          {"applies_to", parameter.applies_to},
          {"value", print(fitted.value)},
          {"low", print(inverse ? most : least)},
          {"high", print(inverse ? least : most)},
          // In seconds, seconds a byte for rates, or as a share or factor.
          {"number", fitted.value},
          {"number_low", least},
          {"number_high", most},
          {"start", print(parameter.start)},
          {"least", print(inverse ? parameter.most : parameter.least)},
          {"most", print(inverse ? parameter.least : parameter.most)},
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
                    number_to_text(rounded_to(kDigits, fit.relative_singular_value)) + ").\n"
              : "These runs cannot, or hardly, tell apart: " + join(fit.not_told_apart, "; ") +
                    " (singular values, smallest over largest: " +
                    number_to_text(rounded_to(kDigits, fit.relative_singular_value)) + ").\n";
  if (fit.starts > 1)
    text += std::to_string(fit.starts_that_agree) + " of " + std::to_string(fit.starts) +
            " searches ended here.\n";
  if (study.left_out) return text + "\n" + left_out_text(study);
  return text +
         "\nThe errors below are of the runs that were fitted: they are no forecasts. "
         "--leave-one-out makes some.\n";
}

void add_fit_summary(Json& summary, const FitStudy& study) {
  const auto error_json = [](const MeanError& error) {
    return Json{{"mean_absolute_error_percent", error.mean},
                {"bootstrap_95_percent", interval_json(error.interval)}};
  };
  summary["structure"] = study.structure->name;
  summary["errors_fitted"] =
      study.structure->errors == FitErrors::Relative ? "relative" : "absolute";
  summary["fit"] = fit_json(study.fit);
  summary["leave_one_out"] = study.left_out ? Json(to_text(*study.left_out)) : Json();
  summary["in_sample"] = !study.left_out.has_value();
  summary["structures_tried"] = study.structures_tried;
  summary["unfitted"] = error_json(study.unfitted);
  if (!study.left_out) return;
  summary["bootstrap_95_percent"] = interval_json(study.fitted.interval);
  summary["folds_missing"] = study.folds_missing;
  summary["folds"] = Json::array();
  for (std::size_t i = 0; i < study.folds.size(); ++i) {
    Json fold = fit_json(study.folds[i]);
    fold["left_out"] = study.groups[i];
    summary["folds"].push_back(fold);
  }
  if (!study.nested) return;
  summary["nested"] = error_json(study.nested->error);
  summary["nested"]["worst_error_percent"] = study.nested->worst_percent;
  summary["nested"]["chosen"] = study.nested->by_fold;
  summary["structures"] = Json::array();
  for (const auto& [name, mean] : study.nested->tried)
    summary["structures"].push_back({{"structure", name}, {"mean_absolute_error_percent", mean}});
}

}  // namespace gradcast
