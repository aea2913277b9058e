#include "sim/population/next_runs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/population/learning.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kMostSetups = 4;  // of the rows, the first
constexpr std::size_t kMostCandidates = 40;
constexpr std::size_t kMostNext = 3;
constexpr double kWorthWhile = 0.01;

bool same_work(const FitRow& a, const FitRow& b) {
  return a.run.model == b.run.model && a.run.batch == b.run.batch &&
         a.run.compute == b.run.compute && a.run.cluster == b.run.cluster &&
         a.run.payload.count == b.run.payload.count && a.run.collective == b.run.collective;
}

/// Rows of one set-up: the one on most nodes comes first.
std::vector<std::vector<const FitRow*>> setups_of(const std::vector<FitRow>& rows) {
  std::vector<std::vector<const FitRow*>> setups;
  for (const FitRow& row : rows) {
    const auto known = std::find_if(setups.begin(), setups.end(), [&](const auto& setup) {
      return same_work(*setup.front(), row);
    });
    if (known != setups.end())
      known->push_back(&row);
    else if (setups.size() < kMostSetups)
      setups.push_back({&row});
  }
  for (auto& setup : setups)
    std::stable_sort(setup.begin(), setup.end(),
                     [](const FitRow* a, const FitRow* b) { return a->run.nodes > b->run.nodes; });
  return setups;
}

std::string nodes_words(int nodes) {
  return std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

void set_nodes(Request& request, int nodes) {
  for (ClusterProperty& property : request.changed)
    if (property.name == "nodes") property.value = std::to_string(nodes);
}

/// The nodes that the cluster's file has.
int nodes_there(Request request, DataFiles& files) {
  std::erase_if(request.changed,
                [](const ClusterProperty& property) { return property.name == "nodes"; });
  return cluster_of(request, files).nodes;
}

class Candidates {
 public:
  Candidates(const std::vector<FitRow>& rows, const Stack& stack, const Engine& engine,
             DataFiles& files)
      : rows_(rows), stack_(std::make_shared<const Stack>(stack)), engine_(engine), files_(files) {
    for (const FitRow& row : rows) runs_.push_back(&row.run);
    for (const StackTerm& term : stack.terms)
      if (!term.compressor.empty() && !term.of_family) compressors_.insert(term.compressor);
  }

  std::vector<NextRun> all() {
    for (const auto& setup : setups_of(rows_)) {
      add_nodes(setup);
      if (setup.front()->run.payload.count > 0) continue;
      add_schedules(setup);
      add_compressors(setup);
    }
    return std::move(found_);
  }

 private:
  void add(const std::string& words, Request request) {
    if (found_.size() >= kMostCandidates) return;
    try {
      request = with_usual_costs(std::move(request), files_);
      const Scenario scenario = make_scenario(request, files_);
      Evaluation forecast = evaluate_on(scenario, stack_, engine_);
      if (forecast.problem.empty() && forecast.doubt.spread && scenario.cluster.ranks() > 1)
        found_.push_back({words, std::move(request), std::move(forecast), 0});
    } catch (const ValueError&) {
      return;
    } catch (const DataError&) {
      return;
    }
  }

  /// The model; where other rows have it too, with what tells them apart.
  std::string name_of(const FitRow& row) const {
    const MeasuredRun& run = row.run;
    if (run.payload.count > 0) return "a collective of " + to_text(run.payload);
    const auto differs = [&](auto member) {
      return std::any_of(rows_.begin(), rows_.end(), [&](const FitRow& other) {
        return other.run.model == run.model && !(other.run.*member == run.*member);
      });
    };
    std::string name = run.model;
    if (differs(&MeasuredRun::batch)) name += ", batch " + std::to_string(run.batch);
    if (differs(&MeasuredRun::cluster)) name += ", " + run.cluster;
    if (differs(&MeasuredRun::compute)) name += ", " + to_text(run.compute) + " alone";
    return name;
  }

  void add_nodes(const std::vector<const FitRow*>& setup) {
    const FitRow& row = *setup.front();
    const int most = std::max(row.run.nodes, nodes_there(row.request, files_));
    std::set<int> options{most};
    for (int nodes = 1; nodes < most; nodes *= 2) options.insert(nodes);
    for (const int nodes : options) {
      const bool measured = std::any_of(setup.begin(), setup.end(), [&](const FitRow* each) {
        return each->run.nodes == nodes && each->run.compressor == row.run.compressor;
      });
      if (measured) continue;
      Request request = row.request;
      set_nodes(request, nodes);
      add(name_of(row) + with_compressor(row.run.compressor) + ", " + nodes_words(nodes) +
              schedule_apart(row.run, runs_),
          std::move(request));
    }
  }

  static std::string with_compressor(const std::string& compressor) {
    return compressor == "dense" ? "" : ", " + compressor;
  }

  void add_schedules(const std::vector<const FitRow*>& setup) {
    const FitRow& row = *setup.front();
    const auto has = [&](const std::string& fusion, bool overlap) {
      return std::any_of(setup.begin(), setup.end(), [&](const FitRow* each) {
        return to_text(each->run.fusion) == fusion && each->run.overlap == overlap &&
               each->run.compressor == row.run.compressor;
      });
    };
    const auto try_schedule = [&](const std::string& fusion, bool overlap,
                                  const std::string& words) {
      if (has(fusion, overlap)) return;
      Request request = row.request;
      request.fusion = parse_fusion(fusion);
      request.overlap = overlap;
      add(name_of(row) + with_compressor(row.run.compressor) + ", " + nodes_words(row.run.nodes) +
              ", " + words,
          std::move(request));
    };
    const std::string own = to_text(row.run.fusion);
    try_schedule(own, !row.run.overlap, row.run.overlap ? "without overlap" : "with overlap");
    try_schedule("merged", false, "one merged collective after backward");
    try_schedule("layer", row.run.overlap, "a collective for each tensor");
  }

  void add_compressors(const std::vector<const FitRow*>& setup) {
    const FitRow& row = *setup.front();
    for (const std::string& compressor : compressors_) {
      const bool measured = std::any_of(rows_.begin(), rows_.end(), [&](const FitRow& each) {
        return each.run.compressor == compressor;
      });
      if (measured) continue;
      Request request = row.request;
      request.compressor = compressor;
      request.density = Request().density;
      // A library's rule carries all; a collective that is named for one compressor does not.
      const bool rule = row.scenario.nccl || row.scenario.library != nullptr;
      request.collective = rule ? row.request.collective : "";
      add(name_of(row) + with_compressor(compressor) + ", " + nodes_words(row.run.nodes) +
              schedule_apart(row.run, runs_),
          std::move(request));
    }
  }

  const std::vector<FitRow>& rows_;
  std::vector<const MeasuredRun*> runs_;
  std::shared_ptr<const Stack> stack_;
  const Engine& engine_;
  DataFiles& files_;
  std::set<std::string> compressors_;
  std::vector<NextRun> found_;
};

std::vector<double> log_draws(const Evaluation& forecast) {
  std::vector<double> times = gradcast::draws_of(*forecast.doubt.spread, true);
  for (double& time : times) time = std::log(time);
  return times;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double covariance_of(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a);
  const double mean_b = mean_of(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size());
}

}  // namespace

std::string schedule_apart(const MeasuredRun& run, const std::vector<const MeasuredRun*>& all) {
  const bool apart = std::any_of(all.begin(), all.end(), [&](const MeasuredRun* other) {
    return other->model == run.model && other->payload.count == 0 &&
           (other->overlap != run.overlap || !(other->fusion == run.fusion));
  });
  if (!apart || run.payload.count > 0) return "";
  return ", " + to_text(run.fusion) + (run.overlap ? ", overlapped" : ", after backward");
}

double narrower_by(const std::vector<double>& logs, const std::vector<double>& measured,
                   double scatter) {
  const double own = scatter * scatter;
  const double variance = covariance_of(logs, logs);
  const double of_measured = covariance_of(measured, measured) + own;
  if (variance + own <= 0 || of_measured <= 0) return 0;
  const double together = covariance_of(logs, measured);
  const double left = std::max(0.0, variance - together * together / of_measured);
  return 1 - std::sqrt((left + own) / (variance + own));
}

std::vector<NextRun> runs_to_measure_next(const std::vector<FitRow>& rows, const Stack& stack,
                                          const Engine& engine, DataFiles& files) {
  std::vector<NextRun> found = Candidates(rows, stack, engine, files).all();
  std::vector<std::vector<double>> logs;
  for (const NextRun& each : found) logs.push_back(log_draws(each.forecast));
  for (std::size_t c = 0; c < found.size(); ++c) {
    double sum = 0;
    for (const std::vector<double>& target : logs)
      sum += narrower_by(target, logs[c], found[c].forecast.doubt.spread->scatter);
    found[c].narrower_percent = 100 * sum / static_cast<double>(logs.size());
  }
  std::erase_if(found,
                [](const NextRun& each) { return each.narrower_percent < 100 * kWorthWhile; });
  std::stable_sort(found.begin(), found.end(), [](const NextRun& a, const NextRun& b) {
    return a.narrower_percent > b.narrower_percent;
  });
  if (found.size() > kMostNext) found.resize(kMostNext);
  return found;
}

}  // namespace gradcast
