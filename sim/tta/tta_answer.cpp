#include "sim/tta/tta_answer.hpp"

#include <set>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/tta/tta_sentences.hpp"

namespace gradcast {
namespace {

void add_said(std::vector<std::string>& said, const std::string& sentence) {
  if (!sentence.empty()) said.push_back(sentence);
}

std::vector<std::string> all_sentences(const TtaFound& found) {
  std::vector<std::string> said;
  for (const TimeToAccuracy& one : found.times)
    add_said(said, compressor_sentence(one, found.setups.name(found.setups.all[one.setup])));
  for (const TimeToAccuracy& one : found.times)
    if (!one.fitted)  // iterations are the same by either estimate
      add_said(said, theorem_sentence(found.setups.all[one.setup], one,
                                      found.setups.name(found.setups.all[one.setup])));
  for (const AccuracyBreakEven& one : found.break_evens)
    add_said(said,
             break_even_sentence(one, found.setups.name(found.setups.all[one.setup]), *found.over));
  for (std::size_t i = 0; i < found.setups.all.size(); ++i) {
    const TrainedSetup& setup = found.setups.all[i];
    add_said(said, traffic_sentence(setup, found.timed[i], found.setups.name(setup)));
  }
  for (const std::string& sentence : doubt_sentences(found.timed)) said.push_back(sentence);
  if (const TrainedSetups& setups = found.setups;
      setups.all.size() > 1 && setups.all[1].setup.dense())
    said.push_back("All are held against the first dense training, " + setups.name(setups.all[0]) +
                   ".");
  if (found.setups.dense() == nullptr)
    said.emplace_back("There is no dense training to hold these against.");
  return said;
}

}  // namespace

TtaFound find_times_to_accuracy(const TtaAsked& asked, const Engine& engine, DataFiles& files) {
  std::vector<TrainingRun> runs;
  for (const std::string& path : asked.trainings)
    for (const TrainingRun& run : read_training(files.read_path(path))) runs.push_back(run);
  TtaFound found{trained_setups(runs), {}, {}};
  if (asked.over && found.setups.dense() == nullptr)
    throw ValueError("--over holds compressors against dense, and no training is of dense");
  if (asked.over && found.setups.all.size() == 1)
    throw ValueError("--over holds compressors against dense, and no training has a compressor");
  const std::vector<double> targets = percent_of(asked.targets, found.setups);
  found.timed = iteration_times(asked, found.setups, engine, files);
  found.times = times_to_accuracy(found.setups, found.timed, targets);
  found.over = asked.over;
  if (asked.over)
    found.break_evens =
        accuracy_break_evens(asked, found.setups, found.timed, targets, engine, files);
  return found;
}

Answer tta_answer(const TtaFound& found, bool curve, Format format) {
  Answer answer;
  answer.rows = time_rows(found);
  const std::vector<std::string> said = all_sentences(found);
  for (const std::string& sentence : said) answer.table += sentence + "\n";
  answer.table += "\n" + time_table(found);
  answer.summary["sentences"] = said;
  if (found.over) {
    answer.table += "\n" + break_even_table(found);
    answer.more["break_evens"] = break_even_rows(found);
    if (format == Format::Csv) answer.rows = break_even_rows(found);
  }
  if (curve) {
    answer.table += "\n" + curve_table(found);
    answer.more["curves"] = curve_rows(found);
    if (format == Format::Csv) answer.rows = curve_rows(found);
  }
  return answer;
}

std::string engines_of(const TtaFound& found) {
  std::set<std::string> engines;
  for (const TimedSetup& timed : found.timed) {
    engines.insert(timed.physics.evaluation.result.engine);
    if (timed.fitted) engines.insert(timed.fitted->evaluation.result.engine);
  }
  engines.erase("");
  return join({engines.begin(), engines.end()});
}

}  // namespace gradcast
