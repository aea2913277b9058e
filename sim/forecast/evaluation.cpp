#include "sim/forecast/evaluation.hpp"

#include "sim/base/error.hpp"
#include "sim/base/thread_pool.hpp"
#include "sim/forecast/link_doubt.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/plan/memory.hpp"
#include "sim/plan/plan_summary.hpp"
#include "sim/plan/stack_use.hpp"

namespace gradcast {

Evaluation evaluate(const Scenario& scenario, const Engine& engine) {
  leave_if_stopped();
  const Plan plan = make_plan(scenario);
  Evaluation evaluation;
  evaluation.result = summarize(plan, engine.run(plan, scenario.cluster, scenario.world));
  evaluation.ranks = plan.ranks();
  evaluation.batch = scenario.batch();
  evaluation.compute = alone(scenario);
  evaluation.collective = collectives_of(plan);
  evaluation.evidence = evidence_of(plan);
  evaluation.outside = outside_of(plan);
  evaluation.outside_seen = outside_seen(scenario);
  evaluation.memory = memory_of(scenario, plan).total();
  evaluation.stacked = scenario.stack != nullptr;
  if (!evaluation.result.lost.empty()) {
    evaluation.problem = "the run never ends: " + evaluation.result.lost;
    return evaluation;
  }
  evaluation.doubt = doubt_of(scenario, plan, evaluation.result);
  evaluation.interval = interval_of(evaluation.result.iteration, evaluation.doubt);
  return evaluation;
}

Evaluation answer_or_problem(const DataFiles& files, const std::function<Evaluation()>& forecast) {
  Evaluation none;
  try {
    return forecast();
  } catch (const ValueError& why) {
    none.problem = why.what();
  } catch (const DataError& why) {
    none.problem = why.what();
  }
  const std::string root = files.root().string() + "/";
  if (none.problem.starts_with(root)) none.problem.erase(0, root.size());
  return none;
}

Evaluation evaluate(const Asked& asked, const Engine& engine, DataFiles& files) {
  return answer_or_problem(files, [&] {
    const Scenario scenario = make_scenario(asked, files);
    Evaluation evaluation = evaluate(scenario, engine);
    const std::optional<SoftwareSpread>& spread = evaluation.doubt.spread;
    evaluation.assumed =
        assumed_words(asked.request, scenario) + (spread ? link_words(scenario, *spread) : "");
    return evaluation;
  });
}

std::string content_of(const Asked& asked, const Engine& engine, DataFiles& files) {
  const Request& request = asked.request;
  std::string content = "engine " + std::string(engine.name) + "\ncluster " + request.cluster +
                        "\ncosts " + request.costs + "\nstack " + request.stack + "\nsoftware " +
                        asked.software + "\nways " + asked.ways_of + "\n";
  const auto add = [&](const TextFile& file) {
    content += "file " + files.sha256_of(file.path) + "\n";
  };
  const RequestFiles read = read_files(request, files);
  for (const TextFile* file : read.all()) add(*file);
  if (!asked.software.empty()) add(files.read(kClusters, asked.software));
  if (!request.costs_device.empty() || request.sharding.kind == Sharding::Fsdp)
    add(files.read(kDevices, "devices"));
  return content;
}

}  // namespace gradcast
