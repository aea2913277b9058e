#include "sim/evaluation.hpp"

#include "sim/devices.hpp"
#include "sim/error.hpp"

namespace gradcast {

Evaluation evaluate(const Scenario& scenario, const Engine& engine) {
  const Plan plan = make_plan(scenario);
  Evaluation evaluation;
  evaluation.result = summarize(plan, engine.run(plan, scenario.cluster, scenario.world));
  evaluation.ranks = plan.ranks();
  evaluation.batch = scenario.batch();
  evaluation.compute = scenario.compute();
  evaluation.collective = collectives_of(plan);
  evaluation.evidence = evidence_of(plan);
  evaluation.outside = outside_of(plan);
  if (evaluation.result.lost.empty())
    evaluation.interval = interval_of(scenario, plan, evaluation.result);
  else
    evaluation.problem = "the run never ends: " + evaluation.result.lost;
  return evaluation;
}

Evaluation evaluate(const Asked& asked, const Engine& engine, DataFiles& files) {
  const auto refused = [](const std::exception& why) {
    Evaluation none;
    none.problem = why.what();
    return none;
  };
  try {
    return evaluate(make_scenario(asked, files), engine);
  } catch (const ValueError& why) {
    return refused(why);
  } catch (const DataError& why) {
    return refused(why);
  }
}

std::string content_of(const Asked& asked, const Engine& engine, DataFiles& files) {
  const Request& request = asked.request;
  std::string content = "engine " + std::string(engine.name) + "\ncluster " + request.cluster +
                        "\ncosts " + request.costs + "\nsoftware " + asked.software + "\n";
  const auto add = [&](const TextFile& file) {
    content += "file " + files.sha256_of(file.path) + "\n";
  };
  const RequestFiles read = read_files(request, files);
  for (const TextFile* file : read.all()) add(*file);
  if (!asked.software.empty()) add(files.read(kClusters, asked.software));
  if (!request.costs_device.empty()) add(files.read(kDevices, "devices"));
  return content;
}

}  // namespace gradcast
