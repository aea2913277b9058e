// Forecasts of the runs that compete, made when they are asked for, and once.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/breakeven/contest.hpp"
#include "sim/breakeven/finding.hpp"
#include "sim/breakeven/quantity.hpp"

namespace gradcast {

/// A run of which some values are changed. What it reads is read once.
class Probe {
 public:
  Probe(Asked asked, DataFiles& files) : asked_(std::move(asked)), files_(&files) {}

  /// Throws as make_scenario does.
  const Scenario& scenario();
  /// A value that the run cannot have is a problem of that forecast.
  Forecast at(const std::vector<std::pair<Quantity, double>>& values, const Engine& engine);

 private:
  Scenario with(const std::vector<std::pair<Quantity, double>>& values);

  Asked asked_;
  DataFiles* files_;
  std::optional<Scenario> scenario_;
};

/// The runs that compete over one quantity.
class Forecasts {
 public:
  Forecasts(Quantity over, const Engine& engine, DataFiles& files)
      : over_(over), engine_(&engine), files_(files) {}

  /// `varies`: false for a run that the quantity does not change. Returns the run's number.
  std::size_t add(const Asked& asked, bool varies);
  Probe& probe(std::size_t run) { return runs_[run].probe; }

  const Forecast& at(std::size_t run, double value);
  bool knows(std::size_t run, double value) const;

  const Engine& engine() const { return *engine_; }
  /// What another engine said is forgotten.
  void use(const Engine& engine);

  /// What was forecast since the last call, for another process's learn().
  std::string news();
  void learn(const std::string& news);

 private:
  using Key = std::pair<std::size_t, double>;
  struct Run {
    Probe probe;
    bool varies = true;
  };

  Key key_of(std::size_t run, double value) const;

  Quantity over_;
  const Engine* engine_;
  DataFiles& files_;
  std::vector<Run> runs_;
  std::map<Key, Forecast> known_;
  std::vector<Key> news_;
};

/// One search: two runs of `Forecasts`.
struct Question {
  std::size_t its = 0;
  std::size_t other = 0;
  LookedAt range;
};

/// How the searching goes on.
struct Searching {
  std::size_t processes = 1;
  std::function<void(std::size_t done, std::size_t all)> progress = [](std::size_t, std::size_t) {};
  std::function<bool()> stop = [] { return false; };
};

/// Throws Error (130) where ctrl-C was heard: a search that was stopped has no answer.
void require_uninterrupted();

/// All questions, in their order; none where it is stopped. The same answers for any number of
/// processes. Where `simgrid` would simulate some runs message by message and others as flows, all
/// are simulated as flows, so that a change of the winner is never one of the method: on 32 and 36
/// ranks the two differ by 0.001 % at most, but by 4 % at worst in the tests' random scenarios, and
/// compressed and dense runs may lie nearer than either.
std::vector<Finding> answers_to(const std::vector<Question>& questions, Forecasts& forecasts,
                                const Searching& searching);

}  // namespace gradcast
