#include "sim/report/trainings.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/base/statistics.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/results.hpp"

namespace gradcast {
namespace {

/// Columns with results of an iteration; all other columns are settings.
const std::set<std::string> kNoSettings = {"seed",
                                           "epoch",
                                           "iteration",
                                           "train_loss",
                                           "test_accuracy_percent",
                                           "sent_elements_mean",
                                           "sent_bytes_mean"};

using ShownSettings = std::vector<std::pair<std::string, std::string>>;

std::string epochs_of(const ResultFile& training) {
  return optional_text(number_of_summary(training, "epochs"));
}

ShownSettings settings_of(const ResultFile& training) {
  const Json& row = training.rows.front();
  ShownSettings settings{{"epochs", epochs_of(training)}};
  for (const auto& [name, value] : row.items())
    if (!kNoSettings.contains(name))
      settings.emplace_back(
          name, value.is_boolean() ? (value.get<bool>() ? "yes" : "no") : text_of(row, name));
  return settings;
}

/// ", feedback no": the settings by which the group differs from others of the same name.
std::string apart(const ShownSettings& settings, const std::vector<ShownSettings>& others) {
  std::string text;
  for (const auto& setting : settings) {
    const bool differs = std::any_of(others.begin(), others.end(), [&](const ShownSettings& other) {
      const auto found = std::find_if(other.begin(), other.end(), [&](const auto& pair) {
        return pair.first == setting.first;
      });
      return found == other.end() || found->second != setting.second;
    });
    if (!differs) continue;
    std::string words = setting.first;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += ", " + words + " " + setting.second;
  }
  return text;
}

struct End {
  const TrainingGroup* group;
  double percent;
};

std::optional<double> final_percent(const TrainingGroup& group) {
  std::vector<double> percents;
  for (const ResultFile* training : group.trainings)
    if (const auto percent = number_of(training->rows.back(), "test_accuracy_percent"))
      percents.push_back(*percent);
  return percents.empty() ? std::nullopt : std::optional(median(percents));
}

std::string end_text(const End& end, const std::map<std::string, double>& dense) {
  std::string text = end.group->name + " " + fixed(end.percent, 1) + " %";
  const auto beside = dense.find(end.group->epochs);
  if (beside != dense.end() && !end.group->dense)
    text += " (" + fixed(std::abs(beside->second - end.percent), 1) + " points " +
            (end.percent > beside->second ? "ahead of" : "behind") + " dense)";
  return text;
}

}  // namespace

std::vector<TrainingGroup> grouped_trainings(const std::vector<const ResultFile*>& trained) {
  std::vector<TrainingGroup> groups;
  std::vector<ShownSettings> settings;
  for (const ResultFile* training : trained) {
    if (training->rows.empty()) continue;
    const Json& row = training->rows.front();
    ShownSettings these = settings_of(*training);
    const auto found = std::find(settings.begin(), settings.end(), these);
    const auto place = static_cast<std::size_t>(found - settings.begin());
    if (found == settings.end()) {
      settings.push_back(std::move(these));
      groups.push_back({text_of(row, "network"),
                        text_of(row, "dataset"),
                        curve_name(row),
                        epochs_of(*training),
                        text_of(row, "compressor") == "dense",
                        {}});
    }
    std::vector<const ResultFile*>& seeds = groups[place].trainings;
    const bool again = std::any_of(seeds.begin(), seeds.end(), [&](const ResultFile* known) {
      return text_of(known->rows.front(), "seed") == text_of(row, "seed");
    });
    if (!again) seeds.push_back(training);
  }
  const std::vector<TrainingGroup> plain = groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<ShownSettings> others;
    for (std::size_t j = 0; j < groups.size(); ++j)
      if (j != i && plain[j].name == plain[i].name && plain[j].network == plain[i].network &&
          plain[j].dataset == plain[i].dataset)
        others.push_back(settings[j]);
    groups[i].name += apart(settings[i], others);
  }
  return groups;
}

std::string subject_of(const TrainingGroup& group) {
  return group.network + " on " + group.dataset;
}

std::vector<std::string> ends_of(const std::vector<TrainingGroup>& groups) {
  std::vector<std::string> sentences;
  std::set<std::string> said;
  for (const TrainingGroup& group : groups) {
    if (!said.insert(subject_of(group)).second) continue;
    std::vector<End> ends;
    std::map<std::string, double> dense;  // by epochs
    for (const TrainingGroup& other : groups) {
      if (subject_of(other) != subject_of(group)) continue;
      const std::optional<double> percent = final_percent(other);
      if (!percent) continue;
      ends.push_back({&other, *percent});
      if (other.dense) dense.emplace(other.epochs, *percent);
    }
    if (ends.empty()) continue;
    std::stable_sort(ends.begin(), ends.end(),
                     [](const End& a, const End& b) { return a.percent > b.percent; });
    std::vector<std::string> texts;
    for (const End& end : ends) texts.push_back(end_text(end, dense));
    sentences.push_back(subject_of(group) + " ended at: " + join(texts) + ".");
  }
  return sentences;
}

std::optional<double> number_of_summary(const ResultFile& training, std::string_view name) {
  const auto summary = training.document.find("summary");
  return summary == training.document.end() ? std::nullopt : number_of(*summary, name);
}

std::string curve_name(const Json& row) {
  const std::string compressor = text_of(row, "compressor");
  const std::string mode = text_of(row, "mode");
  const auto density = positive_of(row, "density");
  std::string name = compressor + (mode.empty() ? "" : " (" + mode + ")");
  if (density && *density < 1) name += " " + count_text(*density);
  return name;
}

FigurePoint point_of_seeds(double x, const std::vector<double>& values) {
  FigurePoint point{x, median(values)};
  if (values.size() > 1) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    point.low = *least;
    point.high = *most;
  }
  return point;
}

}  // namespace gradcast
