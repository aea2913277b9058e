// `gradcast train`: how many iterations a compressor costs. It asks here; sim/lab/ trains.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text_file.hpp"
#include "sim/lab/answer.hpp"
#include "sim/lab/asked.hpp"
#include "sim/lab/bound_checks.hpp"
#include "sim/lab/checkpoint.hpp"
#include "sim/lab/observation.hpp"
#include "sim/lab/training.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::commands {
namespace {

using lab::Training;

/// Keeps the state where the user wants it kept.
class Keeper {
 public:
  Keeper(const lab::TrainAsked& asked, std::string identity)
      : path_(asked.checkpoint), identity_(std::move(identity)) {}

  /// True if there was a state to go on from.
  bool resume(Training& training, int workers) const {
    if (path_.empty()) return false;
    auto state = lab::read_checkpoint(path_, identity_, training.parameters(),
                                      static_cast<std::size_t>(workers));
    if (!state) return false;
    if (state->iteration > training.iterations())
      throw UsageError("--epochs: " + path_ + " has " + std::to_string(state->iteration) +
                       " iterations behind it, and these are " +
                       std::to_string(training.iterations()) +
                       "; ask for more epochs, or name another --checkpoint");
    training.resume(std::move(*state));
    return true;
  }
  void keep(const Training& training) const {
    if (!path_.empty()) lab::write_checkpoint(path_, identity_, training.state());
  }
  bool keeps() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string identity_;
};

std::string what_is_done(const Training& training) {
  std::string text = "iteration " + std::to_string(training.iteration());
  if (!training.evaluations().empty())
    text += ", accuracy " + fixed(training.evaluations().back().test_accuracy_percent, 1) + " %";
  return text;
}

/// Records what the user asked to see of u: bounds, observations, vectors.
class Observer {
 public:
  Observer(const lab::TrainAsked& asked, const Training& training)
      : asked_(asked), training_(training) {
    if (!asked.observe.empty() && asked.observe.back() > training.iterations())
      throw UsageError("--observe: iteration " + std::to_string(asked.observe.back()) +
                       " comes after the last, " + std::to_string(training.iterations()));
    if (asked.check_bound)
      bounds_.emplace(training.tensors(), static_cast<std::size_t>(asked.settings.workers),
                      asked.settings.density);
    std::error_code ignored;
    if (!asked.record.empty()) std::filesystem::create_directories(asked.record, ignored);
  }

  /// Called before the iteration's exchange.
  void look(const lab::Exchange& exchange) {
    if (bounds_) bounds_->look(exchange);
    const int iteration = training_.iteration() + 1;
    if (!std::binary_search(asked_.observe.begin(), asked_.observe.end(), iteration)) return;
    if (!asked_.record.empty()) note_written(record_u(exchange, iteration, asked_.record).string());
    // A training that is gone on with has not seen its beginning.
    if (!asked_.checkpoint.empty()) return;
    for (auto& seen : observe(exchange, training_.tensors(), iteration))
      observations_.push_back(std::move(seen));
  }

  lab::Seen seen() const {
    return {bounds_ ? bounds_->counts() : std::vector<lab::BoundCount>{}, observations_};
  }

  void write() const {
    if (asked_.observations.empty()) return;
    write_text_file(asked_.observations, observations_csv(observations_));
    note_written(asked_.observations);
  }

 private:
  const lab::TrainAsked& asked_;
  const Training& training_;
  std::vector<lab::Observation> observations_;
  std::optional<lab::BoundChecks> bounds_;
};

void train_to_the_end(Training& training, const Keeper& keeper, Observer& observer, bool quiet) {
  Progress progress(std::vector<double>(static_cast<std::size_t>(training.iterations()), 1.0),
                    quiet);
  while (!training.finished()) {
    if (Interruption::asked()) {
      keeper.keep(training);
      throw Error(ExitCode::Interrupted,
                  "interrupted after iteration " + std::to_string(training.iteration()) + " of " +
                      std::to_string(training.iterations()) +
                      (keeper.keeps() ? "; the same command goes on from " + keeper.path()
                                      : "; nothing is kept without --checkpoint"));
    }
    training.step([&](const lab::Exchange& exchange) { observer.look(exchange); });
    if (training.iteration() % training.iterations_in_epoch() == 0) keeper.keep(training);
    progress.show(static_cast<std::size_t>(training.iteration()), what_is_done(training));
  }
}

}  // namespace

int train(int argc, const char* const* argv) {
  Flags flags = lab::train_flags();
  if (!flags.parse(argc, argv)) return 0;
  const Interruption interruption;
  try {
    const lab::TrainAsked asked = lab::read_train_asked(flags);
    std::vector<InputFile> inputs;
    const lab::Dataset dataset = lab::read_dataset(asked, inputs);
    Training training(asked.settings, dataset, chosen_jobs(flags));
    const Keeper keeper(asked, lab::identity_of(asked.settings, dataset, inputs));
    if (keeper.resume(training, asked.settings.workers))
      flags.note("goes on after " + what_is_done(training) + ", from " + keeper.path());
    Observer observer(asked, training);
    train_to_the_end(training, keeper, observer, flags.quiet());
    observer.write();
    if (!asked.counts.empty()) {
      write_text_file(asked.counts, lab::counts_csv(training));
      note_written(asked.counts);
    }
    deliver(flags, inputs, "",
            lab::training_answer(asked.settings, dataset, training, observer.seen()));
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  return 0;
}

}  // namespace gradcast::commands
