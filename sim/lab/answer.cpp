#include "sim/lab/answer.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/statistics.hpp"
#include "sim/base/table.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/lab/matrix_product.hpp"

namespace gradcast::lab {
namespace {

const char* combination_word(Combination combination) {
  switch (combination) {
    case Combination::Gather:
      return "gather";
    case Combination::GTopK:
      return "gtopk";
    case Combination::Global:
      return "global";
  }
  return "";
}

/// Every setting, as columns have it.
Json settings_columns(const TrainingSettings& settings, const std::string& dataset) {
  Json row;
  row["network"] = settings.network;
  row["dataset"] = dataset;
  row["compressor"] = settings.compressor->name;
  row["mode"] = mode_text(settings.mode);
  row["density"] = settings.density;
  row["parameter"] = settings.parameter;
  row["value_type"] = value_type_text(settings.value_type);
  row["selection"] = settings.scope == Scope::Model ? "merged" : "per-tensor";
  row["aggregation"] = combination_word(settings.combination);
  row["candidates"] = settings.candidates;
  row["feedback"] = settings.feedback;
  row["momentum_correction"] = settings.momentum_correction;
  row["masking"] = settings.masking;
  row["shared_seed"] = settings.shared_seed;
  row["shared_scale"] = settings.shared_scale;
  row["workers"] = settings.workers;
  row["batch"] = settings.batch;
  row["learning_rate"] = settings.learning_rate;
  row["learning_rate_warmup"] = settings.learning_rate_warmup;
  row["density_warmup"] = settings.density_warmup;
  row["momentum"] = settings.momentum;
  row["weight_decay"] = settings.weight_decay;
  row["seed"] = settings.seed;
  return row;
}

/// Compares the elements sent with those that the density asks for, over all workers and
/// iterations.
void add_counts(Json& summary, const Training& training) {
  std::vector<double> ratios;
  std::size_t near = 0;
  for (std::size_t i = 0; i < training.counts().size(); ++i) {
    const std::int64_t wanted = training.wanted(training.density_in(static_cast<int>(i)));
    for (const std::int64_t sent : training.counts()[i]) {
      ratios.push_back(static_cast<double>(sent) / static_cast<double>(wanted));
      if (3 * sent >= 2 * wanted && 3 * sent <= 4 * wanted) ++near;
    }
  }
  if (ratios.empty()) return;
  summary["sent_over_k_mean"] =
      std::accumulate(ratios.begin(), ratios.end(), 0.0) / static_cast<double>(ratios.size());
  summary["sent_over_k_median"] = median(ratios);
  summary["sent_within_a_third_percent"] =
      100 * static_cast<double>(near) / static_cast<double>(ratios.size());
}

/// Elements of a worker in an iteration, over the whole training.
double sent_mean(const Training& training) {
  double sent = 0;
  double count = 0;
  for (const std::vector<std::int64_t>& counts : training.counts()) {
    sent += std::accumulate(counts.begin(), counts.end(), 0.0);
    count += static_cast<double>(counts.size());
  }
  return count > 0 ? sent / count : 0;
}

Json summary_of(const TrainingSettings& settings, const Dataset& dataset,
                const Training& training) {
  Json summary = settings_columns(settings, dataset.name);
  summary["parameters"] = training.parameters();
  summary["instructions"] = product_instructions();
  summary["epochs"] = settings.epochs;
  summary["iterations"] = training.iterations();
  summary["wanted_elements"] = training.wanted(settings.density);
  const std::vector<Evaluation>& evaluations = training.evaluations();
  summary["final_train_loss"] = evaluations.back().train_loss;
  summary["final_test_accuracy_percent"] = evaluations.back().test_accuracy_percent;
  double best = 0;
  for (const Evaluation& evaluation : evaluations)
    best = std::max(best, evaluation.test_accuracy_percent);
  summary["best_test_accuracy_percent"] = best;
  add_counts(summary, training);
  summary["sent_bytes_mean"] = training.bytes_of(sent_mean(training));
  return summary;
}

Json row_of(const Json& settings, const Training& training, const Evaluation& evaluation) {
  Json row = settings;
  row["epoch"] = evaluation.epoch;
  row["iteration"] = evaluation.iteration;
  row["train_loss"] = evaluation.train_loss;
  row["test_accuracy_percent"] = evaluation.test_accuracy_percent;
  row["sent_elements_mean"] = evaluation.sent_elements_mean;
  row["sent_bytes_mean"] = training.bytes_of(evaluation.sent_elements_mean);
  return row;
}

std::string number_of(const Json& summary, const char* name, int digits) {
  return fixed(summary[name].get<double>(), digits);
}

std::string table_of(const TrainingSettings& settings, const Training& training,
                     const Json& summary) {
  TextTable table{{"epoch", "iteration", "train loss", "accuracy %", "sent"}, {}};
  for (const Evaluation& evaluation : training.evaluations())
    table.rows.push_back({value_to_text(rounded_to(4, evaluation.epoch)),
                          std::to_string(evaluation.iteration), fixed(evaluation.train_loss, 4),
                          fixed(evaluation.test_accuracy_percent, 2),
                          fixed(evaluation.sent_elements_mean, 1)});
  std::string text =
      settings.network + ", " + std::to_string(training.parameters()) + " parameters; " +
      std::string(settings.compressor->name) + "; " + std::to_string(settings.workers) +
      " workers, batch " + std::to_string(settings.batch) + " each; " +
      std::to_string(training.iterations_in_epoch()) + " iterations an epoch\n\n" + to_text(table) +
      "\nThe training ends at " + number_of(summary, "final_test_accuracy_percent", 2) +
      " % of the test set; its best was " + number_of(summary, "best_test_accuracy_percent", 2) +
      " %.\n";
  text += "A worker sent " + number_of(summary, "sent_bytes_mean", 0) +
          " bytes an iteration in the mean; fp32 gradients are " +
          std::to_string(sizeof(float) * training.parameters()) + ".\n";
  if (settings.selects() && !settings.takes_density())
    text += "Of its elements a worker sent the share " + number_of(summary, "sent_over_k_mean", 6) +
            " in the mean, " + number_of(summary, "sent_over_k_median", 6) + " in the median.\n";
  else if (settings.takes_density())
    text += "A worker sent " + number_of(summary, "sent_over_k_mean", 3) +
            " of the k elements asked for in the mean, " +
            number_of(summary, "sent_over_k_median", 3) + " in the median; " +
            number_of(summary, "sent_within_a_third_percent", 1) +
            " % of its counts lie within 2k/3 and 4k/3.\n";
  return text;
}

std::string bounds_table(const std::vector<BoundCount>& bounds) {
  if (bounds.empty()) return "";
  TextTable table{{"u of", "elements", "checks", "above (1 - k/d)^2", "worst by"}, {}};
  for (const BoundCount& count : bounds)
    table.rows.push_back(
        {count.tensor, std::to_string(count.elements), std::to_string(count.checks),
         std::to_string(count.failures),
         count.failures > 0 ? value_to_text(rounded_to(2, count.worst_excess)) : "-"});
  return "\nTheorem 1 of Understanding Top-k Sparsification, held against every worker's u:\n\n" +
         to_text(table);
}

}  // namespace

Answer training_answer(const TrainingSettings& settings, const Dataset& dataset,
                       const Training& training, const Seen& seen) {
  const Json columns = settings_columns(settings, dataset.name);
  Answer answer;
  for (const Evaluation& evaluation : training.evaluations())
    answer.rows.push_back(row_of(columns, training, evaluation));
  answer.summary = summary_of(settings, dataset, training);
  answer.seed = settings.seed;
  answer.table = table_of(settings, training, answer.summary) + bounds_table(seen.bounds) +
                 observations_table(seen.observations);
  for (const BoundCount& count : seen.bounds)
    answer.more["bounds"].push_back({{"tensor", count.tensor},
                                     {"elements", count.elements},
                                     {"checks", count.checks},
                                     {"failures", count.failures},
                                     {"worst_excess", count.worst_excess}});
  for (const Observation& observation : seen.observations)
    answer.more["observations"].push_back(observation_json(observation));
  return answer;
}

std::string identity_of(const TrainingSettings& settings, const Dataset& dataset,
                        const std::vector<InputFile>& inputs) {
  Json identity = settings_columns(settings, dataset.name);
  // More epochs go on where fewer ended, but for warm-ups, which look at the epoch alone.
  identity["evaluate_every"] = settings.evaluate_every;
  identity["instructions"] = product_instructions();
  for (const InputFile& input : inputs) identity["inputs"].push_back(input.sha256);
  return identity.dump();
}

std::string counts_csv(const Training& training) {
  std::vector<Json> rows;
  for (std::size_t i = 0; i < training.counts().size(); ++i) {
    const double density = training.density_in(static_cast<int>(i));
    for (std::size_t worker = 0; worker < training.counts()[i].size(); ++worker)
      rows.push_back({{"iteration", i + 1},
                      {"worker", worker + 1},
                      {"elements", training.parameters()},
                      {"density", density},
                      {"wanted", training.wanted(density)},
                      {"sent", training.counts()[i][worker]}});
  }
  return rows_to_csv(rows);
}

}  // namespace gradcast::lab
