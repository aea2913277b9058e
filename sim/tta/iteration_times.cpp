#include "sim/tta/iteration_times.hpp"

#include "sim/base/error.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/sent_counts.hpp"
#include "sim/network/collective.hpp"

namespace gradcast {
namespace {

std::string counted(int number, const std::string& one, const std::string& several) {
  return std::to_string(number) + " " + (number == 1 ? one : several);
}

void require_same_workers(const Scenario& scenario, const TrainedSetups& setups) {
  const int workers = setups.common().workers;
  const Cluster& cluster = scenario.cluster;
  if (cluster.ranks() == workers) return;
  const std::string first = counted(workers, "worker", "workers") + " trained " +
                            setups.all.front().seeds[0].file + ", and the cluster has " +
                            counted(cluster.ranks(), "GPU", "GPUs") +
                            ": how many iterations it takes depends on the workers; ";
  if (cluster.nodes_alike() && workers % cluster.gpus_per_node == 0)
    throw ValueError(first + "use --nodes " + std::to_string(workers / cluster.gpus_per_node) +
                     ", as a node has " + counted(cluster.gpus_per_node, "GPU", "GPUs"));
  throw ValueError(first + "choose --nodes and --gpus-per-node whose product is " +
                   std::to_string(workers));
}

void require_same_network(const Scenario& scenario, const TrainedSetups& setups) {
  for (const TrainedSetup& setup : setups.all)
    for (const TrainingRun& run : setup.seeds)
      if (run.parameters && *run.parameters != scenario.model->elements())
        throw ValueError("--model " + scenario.model->name + " has " +
                         std::to_string(scenario.model->elements()) + " parameters, and " +
                         run.setup.network + " of " + run.file + " has " +
                         std::to_string(*run.parameters) + ": name the network that was trained");
  const std::string& network = setups.common().network;
  const bool counted = setups.all.front().seeds.front().parameters.has_value();
  if (!counted && scenario.model->name != network)
    throw ValueError("--model is " + scenario.model->name + ", and " +
                     setups.all.front().seeds.front().file + " trained " + network +
                     ": name the network that was trained");
}

/// The best of several schedules: for dense the fastest, else as better_choice has it.
IterationTime best_of(const std::vector<Asked>& by_schedule, bool dense, const Engine& engine,
                      DataFiles& files) {
  std::optional<IterationTime> best;
  std::string problem;
  for (const Asked& asked : by_schedule) {
    const Evaluation evaluation = evaluate(asked, engine, files);
    if (!evaluation.problem.empty()) {
      if (problem.empty()) problem = asked.request.compressor + ": " + evaluation.problem;
      continue;
    }
    const IterationTime time{evaluation, to_text(schedule_of(asked.request))};
    if (!best || (dense ? time.seconds() < best->seconds()
                        : better_choice(time.seconds(), evaluation.outside_seen, best->seconds(),
                                        best->evaluation.outside_seen)))
      best = time;
  }
  if (!best) throw ValueError(problem);
  return *best;
}

void add_times_of_k(TimedSetup& timed, const Engine& engine, DataFiles& files) {
  Contestant sending_k = timed.contestant;
  sending_k.estimates.physics.request.sent_share.reset();
  timed.physics_of_k = best_of(sending_k.physics(), false, engine, files).seconds();
  if (!sending_k.estimates.fitted) return;
  sending_k.estimates.fitted->request.sent_share.reset();
  timed.fitted_of_k = best_of(sending_k.fitted(), false, engine, files).seconds();
}

}  // namespace

BreakEvenAsked contest_of(const TtaAsked& asked, const TrainedSetups& setups) {
  BreakEvenAsked contest;
  contest.request = asked.request;
  contest.request.batch = setups.common().batch;
  contest.over = asked.over;
  contest.against = "dense";
  contest.dense = asked.against;
  contest.from = asked.from;
  contest.to = asked.to;
  contest.software = asked.software;
  contest.jobs = asked.jobs;
  return contest;
}

std::vector<TimedSetup> iteration_times(const TtaAsked& asked, const TrainedSetups& setups,
                                        const Engine& engine, DataFiles& files) {
  const BreakEvenAsked contest = contest_of(asked, setups);
  std::vector<TimedSetup> all;
  for (const TrainedSetup& trained : setups.all) {
    const TrainingSetup& setup = trained.setup;
    Request request = contest.request;
    request.mode = setup.mode;
    if (!setup.dense()) request.density = setup.density;
    request.sent_share = trained.sent_share();
    if (request.sent_share && selects_by_parameter(setup.compressor)) {
      request.density =
          share_as_density({.density = setup.density, .mean = *request.sent_share}).density;
      request.sent_share = 1;
    }
    // A mode has no effect on a compressor with only one definition, so drop it.
    request = with_compressor(request, setup.compressor, true);
    request.parameter = setup.parameter;
    request.value_type = setup.value_type;
    if (setup.adds_up && request.collective.empty())
      request.collective = default_collective(Aggregation::AllReduce).name;
    TimedSetup timed{
        setup.dense() ? opponent_of(contest, files) : contestant_of(request, contest, false, files),
        {}};
    if (all.empty()) {
      const Scenario scenario = make_scenario(timed.contestant.estimates.physics, files);
      require_same_workers(scenario, setups);
      require_same_network(scenario, setups);
    }
    timed.physics = best_of(timed.contestant.physics(), setup.dense(), engine, files);
    if (timed.contestant.estimates.fitted)
      timed.fitted = best_of(timed.contestant.fitted(), setup.dense(), engine, files);
    if (request.sent_share && *request.sent_share != 1) add_times_of_k(timed, engine, files);
    all.push_back(timed);
  }
  return all;
}

}  // namespace gradcast
