#include "sim/tta/trained_setups.hpp"

#include <algorithm>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

void require_same(const TrainingRun& one, const TrainingRun& other) {
  const TrainingSetup& a = one.setup;
  const TrainingSetup& b = other.setup;
  const auto require = [&](const std::string& what, const std::string& its,
                           const std::string& others) {
    if (its != others)
      throw DataError(one.file, 0,
                      what + " '" + its + "' differs from '" + others + "' of " + other.file +
                          "; name trainings of the same one");
  };
  require("network", a.network, b.network);
  require("dataset", a.dataset, b.dataset);
  require("workers", std::to_string(a.workers), std::to_string(b.workers));
  require("batch", std::to_string(a.batch), std::to_string(b.batch));
  if (one.parameters && other.parameters)
    require("parameters", std::to_string(*one.parameters), std::to_string(*other.parameters));
}

TrainedSetup& setup_among(std::vector<TrainedSetup>& all, const TrainingSetup& setup) {
  for (TrainedSetup& known : all)
    if (known.setup == setup) return known;
  all.push_back({setup, {}});
  return all.back();
}

void add_seed(TrainedSetup& to, const TrainingRun& run) {
  const auto place = std::lower_bound(to.seeds.begin(), to.seeds.end(), run,
                                      [](const auto& a, const auto& b) { return a.seed < b.seed; });
  if (place != to.seeds.end() && place->seed == run.seed)
    throw DataError(run.file, 0,
                    "is the same training as in " + place->file + ": " + run.setup.compressor +
                        " with seed " + std::to_string(run.seed) + "; name each once");
  to.seeds.insert(place, run);
}

std::vector<std::string> settings_in(const TrainingSetup& setup) {
  std::vector<std::string> settings;
  std::string_view left = setup.settings;
  const std::string_view between = kBetweenSettings;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(between), left.size());
    settings.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + between.size(), left.size()));
  }
  return settings;
}

/// The settings that not all of them share.
std::string settings_of_its_own(const TrainingSetup& one,
                                const std::vector<const TrainingSetup*>& alike) {
  std::vector<std::string> own;
  for (const std::string& setting : settings_in(one))
    if (!std::all_of(alike.begin(), alike.end(), [&](const TrainingSetup* other) {
          const std::vector<std::string> its = settings_in(*other);
          return std::find(its.begin(), its.end(), setting) != its.end();
        }))
      own.push_back(setting);
  return join(own);
}

}  // namespace

std::string TrainedSetup::name(bool with_density) const {
  std::string text = setup.compressor;
  if (!setup.mode.empty()) text += " (" + setup.mode + ")";
  if (with_density) text += " at " + number_to_text(setup.density);
  return text;
}

double TrainedSetup::best_percent() const {
  std::vector<double> bests;
  for (const TrainingRun& run : seeds)
    bests.push_back(std::max_element(run.tests.begin(), run.tests.end(), [](auto& a, auto& b) {
                      return a.percent < b.percent;
                    })->percent);
  return median(bests);
}

std::optional<double> TrainedSetup::sent_share() const {
  const Compressor* compressor = find_compressor(setup.compressor);
  if (compressor == nullptr || compressor->family != Family::Sparsifier) return std::nullopt;
  double sum = 0;
  int known = 0;
  for (const TrainingRun& run : seeds) {
    if (!run.sent_elements || run.parameters.value_or(0) <= 0) continue;
    sum +=
        *run.sent_elements / static_cast<double>(wanted_elements(*run.parameters, setup.density));
    ++known;
  }
  return known > 0 ? std::optional(sum / known) : std::nullopt;
}

const TrainedSetup* TrainedSetups::dense() const {
  return all.front().setup.dense() ? &all.front() : nullptr;
}

std::string TrainedSetups::name(const TrainedSetup& one) const {
  std::vector<const TrainingSetup*> alike;  // but for density and settings
  for (const TrainedSetup& other : all)
    if (other.setup.compressor == one.setup.compressor && other.setup.mode == one.setup.mode)
      alike.push_back(&other.setup);
  const bool densities_differ = std::any_of(alike.begin(), alike.end(), [&](const auto* other) {
    return other->density != one.setup.density;
  });
  const std::string settings = settings_of_its_own(one.setup, alike);
  return one.name(densities_differ) + (settings.empty() ? "" : " with " + settings);
}

TrainedSetups trained_setups(const std::vector<TrainingRun>& runs) {
  TrainedSetups setups;
  for (const TrainingRun& run : runs) {
    require_same(run, runs.front());
    add_seed(setup_among(setups.all, run.setup), run);
  }
  std::stable_partition(setups.all.begin(), setups.all.end(),
                        [](const TrainedSetup& each) { return each.setup.dense(); });
  return setups;
}

}  // namespace gradcast
