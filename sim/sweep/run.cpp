#include "sim/sweep/run.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/forecast/workers.hpp"
#include "sim/inputs/cluster_values.hpp"
#include "sim/inputs/published_words.hpp"
#include "sim/sweep/upgrades.hpp"

namespace gradcast {
namespace {

/// "resnet-50, topk, 16 nodes"
std::string title_of(const Request& request) {
  std::string title = request.model.empty() ? "a collective" : request.model;
  title += ", " + request.compressor;
  for (const ClusterProperty& property : request.changed)
    if (property.name == "nodes") title += ", " + property.value + " nodes";
  return title;
}

/// Final accuracies of others' trainings with the compressors of the sweep, each said once.
std::vector<std::string> accuracy_sentences(const SweepTasks& tasks, DataFiles& files) {
  std::set<std::tuple<std::string, std::string, double>> looked;  // each reads files
  std::vector<std::string> sentences;
  for (const SweepPoint& point : tasks.points) {
    const Request& asked = point.request;
    if (!looked.emplace(asked.model, asked.compressor, asked.density).second) continue;
    std::string words =
        published_accuracy_words(asked.model, asked.compressor, asked.density, files);
    if (!words.empty()) sentences.push_back(std::move(words));
  }
  return sentences;
}

/// Sources of costs that nobody measured on the GPU, each said once, with its compressors where
/// others have another one.
std::vector<std::string> cost_sentences(const SweepTasks& tasks) {
  std::map<std::string, std::vector<std::string>> of_words;
  for (const SweepPoint& point : tasks.points) {
    const Request& asked = point.request;
    const Compressor* compressor = find_compressor(asked.compressor);
    if (compressor == nullptr || compressor->family == Family::Dense) continue;
    auto& names = of_words[scaled_costs_words(asked.costs, asked.costs_device)];
    const std::string name(compressor->name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::vector<std::string> sentences;
  for (const auto& [words, names] : of_words)
    if (!words.empty())
      sentences.push_back("Costs of " + (of_words.size() == 1 ? "compressing" : join(names)) +
                          " are " + words + ".");
  return sentences;
}

Workers workers_of(const SweepRun& run) {
  const std::vector<SweepTask>& tasks = run.tasks.tasks;
  return workers_for(run.engine, std::any_of(tasks.begin(), tasks.end(), [](const auto& task) {
                       return task.asked.request.cluster.ends_with(".xml");
                     }));
}

}  // namespace

Evaluations run_sweep(const SweepRun& run, Store* store, DataFiles& files) {
  const std::vector<SweepTask>& tasks = run.tasks.tasks;
  Evaluations all;
  std::vector<std::size_t> to_do;
  for (const std::size_t number : run.numbers) {
    const std::string& key = tasks[number].key;
    if (store != nullptr && store->done().contains(key))
      all.insert(*store->done().find(key));
    else
      to_do.push_back(number);
  }
  if (store != nullptr && !to_do.empty()) store->open_part();

  const Interruption interruption;
  Progress progress(std::vector<double>(to_do.size(), 1.0), run.quiet);
  std::size_t done = 0;
  const auto make = [&](std::size_t number) {
    return to_line(tasks[number].key, evaluate(tasks[number].asked, run.engine, files));
  };
  const auto take = [&](std::size_t number, const std::string& line) {
    const Evaluation evaluation = from_line(line);
    if (store != nullptr) store->add(tasks[number].key, evaluation);
    all.emplace(tasks[number].key, evaluation);
    if (++done < to_do.size()) progress.show(done, title_of(tasks[number].asked.request));
  };
  const auto title = [&](std::size_t number) { return title_of(tasks[number].asked.request); };
  run_forecasts(workers_of(run), run.jobs, to_do,
                {make, take, [] { return Interruption::asked(); }, title});
  progress.clear();
  if (done < to_do.size())
    throw Error(ExitCode::Interrupted,
                store != nullptr ? "interrupted: " + std::to_string(all.size()) + " of " +
                                       std::to_string(run.numbers.size()) +
                                       " forecasts are kept; the same command continues from there"
                                 : "interrupted; nothing is kept without -o FILE");
  if (store != nullptr) store->finish(all);
  return all;
}

Answer sweep_answer(const SweepPlan& plan, const SweepTasks& tasks, const Evaluations& done,
                    DataFiles& files) {
  Answer answer;
  answer.rows = sweep_rows(plan, tasks, done);
  answer.table = sweep_table(plan, answer.rows);
  answer.summary = sweep_summary(answer.rows);
  const std::vector<Upgrade> upgrades = upgrades_of(tasks, answer.rows, done);
  answer.summary["upgrades"] = upgrades_json(upgrades);
  std::vector<std::string> sentences = upgrade_sentences(upgrades);
  for (std::string& sentence : cost_sentences(tasks)) sentences.push_back(std::move(sentence));
  for (std::string& sentence : accuracy_sentences(tasks, files))
    sentences.push_back(std::move(sentence));
  answer.summary["sentences"] = sentences;
  if (!answer.summary["sentences"].empty()) answer.table += "\n";
  for (const Json& sentence : answer.summary["sentences"])
    answer.table += sentence.get<std::string>() + "\n";
  const bool draws = std::any_of(plan.axes.begin(), plan.axes.end(),
                                 [](const SweepAxis& axis) { return axis.flag == "count-spread"; });
  if (draws) answer.seed = tasks.points.front().request.seed;
  return answer;
}

}  // namespace gradcast
