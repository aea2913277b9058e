// Forecasts of the competing runs. Each is made when it is first needed, and only once.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/breakeven/contest.hpp"
#include "sim/breakeven/finding.hpp"
#include "sim/breakeven/quantity.hpp"

namespace gradcast {

/// A run with some values changed. Its files are read once.
class Probe {
 public:
  Probe(Asked asked, DataFiles& files) : asked_(std::move(asked)), files_(&files) {}

  /// Throws as make_scenario does.
  const Scenario& scenario();
  /// If the run cannot have the value, the forecast holds the problem.
  RunForecast at(const std::vector<std::pair<Quantity, double>>& values, const Engine& engine);

 private:
  Scenario with(const std::vector<std::pair<Quantity, double>>& values);

  Asked asked_;
  DataFiles* files_;
  std::optional<Scenario> scenario_;
};

/// A run by each of the schedules among which it may choose. The best counts: for dense the fastest
/// one, else as better_choice has it.
class Choices {
 public:
  Choices(const std::vector<Asked>& by_schedule, DataFiles& files);

  /// Reads the files, before threads or processes share them. Throws as make_scenario does.
  void prepare();
  /// The scenario of the first choice.
  const Scenario& scenario() { return probes_.front().scenario(); }
  bool several() const { return probes_.size() > 1; }
  /// If no choice can have the value, the forecast holds the first one's problem.
  RunForecast at(const std::vector<std::pair<Quantity, double>>& values, const Engine& engine);

 private:
  std::vector<std::size_t> worth_simulating(const std::vector<std::pair<Quantity, double>>& values,
                                            const Engine& engine);

  bool better(const RunForecast& one, const RunForecast& other, double slack) const;

  bool dense_;
  std::vector<Probe> probes_;
  std::vector<std::string> schedules_;
};

/// The runs that compete over one quantity. Several threads may ask for forecasts at the same time.
class Forecasts {
 public:
  Forecasts(Quantity over, const Engine& engine, DataFiles& files)
      : over_(over), engine_(&engine), files_(files) {}

  /// Adds a run and returns its number. `varies`: false for a run that the quantity does not
  /// change.
  std::size_t add(const std::vector<Asked>& by_schedule, bool varies);
  Choices& choices(std::size_t run) { return runs_[run].choices; }

  const RunForecast& at(std::size_t run, double value);
  bool knows(std::size_t run, double value) const;

  const Engine& engine() const { return *engine_; }
  /// Sets the engine. Forecasts of another engine are dropped.
  void use(const Engine& engine);

  /// The forecasts since the last call, for learn() in another process. Not while threads ask.
  std::string news();
  void learn(const std::string& news);

 private:
  using Key = std::pair<std::size_t, double>;
  struct Run {
    Choices choices;
    bool varies = true;
  };

  Key key_of(std::size_t run, double value) const;

  Quantity over_;
  const Engine* engine_;
  DataFiles& files_;
  std::vector<Run> runs_;
  std::mutex lock_{};  // guards the members below
  std::map<Key, RunForecast> known_{};
  std::vector<Key> news_{};
};

/// One search: two runs of `Forecasts`.
struct Question {
  std::size_t its = 0;
  std::size_t other = 0;
  LookedAt range;
};

/// The threads or processes of a search, and its progress report.
struct Searching {
  std::size_t jobs = 1;
  std::function<void(std::size_t done, std::size_t all)> progress = [](std::size_t, std::size_t) {};
};

/// Answers all questions, in their order. The answers are the same for any number of jobs. If an
/// engine would simulate some runs message by message and others as flows, all are simulated as
/// flows, so that a change of the winner never comes from a change of the method. On 32 and 36
/// ranks the two methods differ by 0.001 % at most, but by 4 % at worst in the tests' random
/// scenarios, and compressed and dense runs may be closer than that.
std::vector<Finding> answers_to(const std::vector<Question>& questions, Forecasts& forecasts,
                                const Searching& searching);

}  // namespace gradcast
