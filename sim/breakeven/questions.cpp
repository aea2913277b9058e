#include "sim/breakeven/questions.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/text.hpp"
#include "sim/breakeven/finding.hpp"
#include "sim/breakeven/forecasts.hpp"
#include "sim/breakeven/quantity.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/inputs/published_words.hpp"
#include "sim/plan/scenario.hpp"

namespace gradcast {
namespace {

std::string shape_of(const Scenario& scenario, std::optional<Quantity> over) {
  std::vector<std::string> words;
  const Cluster& cluster = scenario.cluster;
  const std::string gpus =
      std::to_string(cluster.gpus_per_node) + (cluster.gpus_per_node == 1 ? " GPU" : " GPUs");
  if (over == Quantity::Nodes)
    words.push_back("nodes of " + gpus);
  else
    words.push_back(std::to_string(cluster.nodes) + (cluster.nodes == 1 ? " node" : " nodes") +
                    " of " + gpus);
  if (over != Quantity::NicBandwidth && own_value(Quantity::NicBandwidth, scenario) > 0)
    words.push_back(
        in_words(Quantity::NicBandwidth, own_value(Quantity::NicBandwidth, scenario), 0));
  if (over != Quantity::Density && scenario.sparse())
    words.push_back(in_words(Quantity::Density, scenario.density, 0));
  return join(words);
}

/// The run's settings in the rows of an answer.
std::vector<std::pair<std::string, Json>> setting_of(const Scenario& scenario,
                                                     const Request& request, Quantity over) {
  const bool nodes = over == Quantity::Nodes;
  const bool rate = over == Quantity::NicBandwidth;
  const bool density = over == Quantity::Density;
  return {{"batch", scenario.batch()},
          {"fusion", to_text(scenario.fusion)},
          {"overlap", scenario.overlap ? "yes" : "no"},
          {"costs", request.costs},
          {"costs_scaled_to", request.costs_device},
          {"cluster", request.cluster},
          {"nodes", nodes ? Json() : Json(scenario.cluster.nodes)},
          {"gpus_per_node", scenario.cluster.gpus_per_node},
          {"nic_bandwidth", rate || !scenario.cluster.platform_file.empty()
                                ? Json()
                                : Json(to_text(scenario.cluster.nic.bandwidth))},
          {"density", density ? Json() : Json(scenario.density)}};
}

/// The questions to search: for each compressor with physics alone and, if it has a fit, fitted.
struct Posed {
  Contestant opponent;
  std::vector<Question> questions;
  std::vector<Scenario> scenarios;  // one per compressor, with physics alone
};

Posed pose(const BreakEvenAsked& asked, const std::vector<Contestant>& contestants,
           Forecasts& forecasts, DataFiles& files) {
  const Quantity over = *asked.over;
  Posed posed{opponent_of(asked, files), {}, {}};
  const Contestant& against = posed.opponent;
  // A factor on kernel costs changes the compressor's run only; the other stays as it is.
  const bool other_varies = over != Quantity::KernelCost;
  const std::size_t other = forecasts.add(against.physics(), other_varies);
  const std::size_t other_fitted =
      against.estimates.fitted ? forecasts.add(against.fitted(), other_varies) : other;
  for (const Contestant& contestant : contestants) {
    const std::size_t its = forecasts.add(contestant.physics(), true);
    posed.scenarios.push_back(forecasts.choices(its).scenario());
    const Scenario& scenario = posed.scenarios.back();
    require_settable(scenario, over);
    const LookedAt range = range_of(asked, {&scenario, &forecasts.choices(other).scenario()});
    posed.questions.push_back({its, other, range});
    if (!contestant.estimates.fitted) continue;
    posed.questions.push_back({forecasts.add(contestant.fitted(), true), other_fitted, range});
  }
  return posed;
}

std::vector<Finding> search(const BreakEvenAsked& asked, const std::vector<Question>& questions,
                            Forecasts& forecasts, bool quiet) {
  std::optional<Progress> progress;
  Searching searching;
  searching.jobs = asked.jobs;
  searching.progress = [&](std::size_t done, std::size_t all) {
    if (!progress) progress.emplace(std::vector<double>(all, 1), quiet);
    if (done < all) progress->show(done, "break-even over " + to_text(*asked.over));
  };
  std::vector<Finding> findings = answers_to(questions, forecasts, searching);
  progress.reset();
  if (std::none_of(findings.begin(), findings.end(),
                   [](const Finding& finding) { return finding.pays_at_start.has_value(); }))
    throw UsageError("nothing that was looked at has an answer: " + findings.front().problem);
  return findings;
}

/// All of an answer but what was found.
Answered unanswered(const BreakEvenAsked& asked, const Contestant& contestant,
                    const Contestant& opponent, const Scenario& scenario) {
  Answered answered;
  answered.model = scenario.model->name;
  answered.setting = setting_of(scenario, contestant.estimates.physics.request, *asked.over);
  Told& told = answered.told;
  told.over = *asked.over;
  told.setting = scenario.model->name + " on " + scenario.cluster.name + " (" +
                 shape_of(scenario, told.over) + ")";
  told.compressor = contestant.name;
  told.against = asked.against_words();
  told.could_choose = contestant.schedules.size() < opponent.schedules.size();
  const Request& physics = contestant.estimates.physics.request;
  told.costs = scaled_costs_words(physics.costs, physics.costs_device);
  told.gpus_per_node = scenario.cluster.nodes_alike() ? scenario.cluster.gpus_per_node : 0;
  for (const Contestant* each : {&contestant, &opponent})
    if (each->costs_guessed) told.guessed.push_back(each->name);
  if (!contestant.estimates.fitted) return answered;
  told.software = software_of(*contestant.estimates.fitted);
  for (const Contestant* each : {&contestant, &opponent})
    if (!each->costs_fitted) told.unfitted.push_back(each->name);
  return answered;
}

}  // namespace

std::vector<Answered> answer_questions(const BreakEvenAsked& asked,
                                       const std::vector<Contestant>& contestants,
                                       const Engine& engine, DataFiles& files, bool quiet) {
  Forecasts forecasts(*asked.over, engine, files);
  const Posed posed = pose(asked, contestants, forecasts, files);
  const std::vector<Finding> findings = search(asked, posed.questions, forecasts, quiet);
  std::vector<Answered> all;
  std::size_t next = 0;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    Answered answered = unanswered(asked, contestants[i], posed.opponent, posed.scenarios[i]);
    if (asked.against_dense() && asked.over != Quantity::Density)
      answered.told.accuracy = published_accuracy_words(answered.model, contestants[i].name,
                                                        posed.scenarios[i].density, files);
    answered.told.physics = findings[next++];
    if (contestants[i].estimates.fitted) answered.told.fitted = findings[next++];
    all.push_back(answered);
  }
  return all;
}

}  // namespace gradcast
