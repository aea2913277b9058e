#include "sim/sweep/task.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/library_rule.hpp"

namespace gradcast {
namespace {

bool is_dense(const std::string& compressor) {
  const Compressor* known = find_compressor(compressor);
  return known != nullptr && known->family == Family::Dense;
}

/// Flags that only matter to compressors. Without a compressor they change nothing, and would turn
/// one dense run into many.
bool of_compressors(const std::string& flag) {
  static const std::set<std::string> kFlags = {
      "compressor",     "density",        "mode",
      "costs",          "scale-costs-to", "costs-of",
      "implementation", "selection",      "wire-bytes-per-element",
      "wire-messages",  "count-spread",   "encode-slowdown",
      "parameter",      "compressing",    "value-type"};
  return kFlags.contains(flag);
}

/// True for a collective that is chosen by size, here or by a library.
bool is_chosen_by_size(const std::string& collective) {
  return collective == "auto" || collective == "nccl" || collective == "rccl" ||
         find_library_rule(collective) != nullptr;
}

/// The same point without compression. If it names an all-gather, the usual all-reduce replaces it.
/// A collective that is chosen by size stays so, as in dense_twin.
SweepSettings without_compression(const SweepSettings& settings) {
  SweepSettings dense;
  for (const auto& [flag, value] : settings)
    if ((flag != "collective" || is_chosen_by_size(value)) && !of_compressors(flag))
      dense.emplace_back(flag, value);
  return dense;
}

/// The same by another schedule.
SweepSettings by_schedule(SweepSettings settings, const Schedule& schedule) {
  const auto set = [&](const std::string& flag, const std::string& value) {
    const auto typed = std::find_if(settings.begin(), settings.end(),
                                    [&](const auto& each) { return each.first == flag; });
    if (typed == settings.end())
      settings.emplace_back(flag, value);
    else
      typed->second = value;
  };
  set("fusion", to_text(schedule.fusion));
  set("overlap", schedule.overlap ? "yes" : "no");
  return settings;
}

std::string compressor_of(const SweepSettings& settings) {
  for (const auto& [flag, value] : settings)
    if (flag == "compressor") return value;
  return Request{}.compressor;
}

/// Among several compressors, one that the named collective cannot carry has its usual one, as in
/// `breakeven`.
void take_a_collective_that_carries(SweepSettings& settings) {
  const Compressor* compressor = find_compressor(compressor_of(settings));
  for (auto& [flag, value] : settings) {
    if (flag != "collective" || compressor == nullptr) continue;
    const Collective* named = find_collective(value);
    if (named != nullptr && !carries(*named, *compressor))
      value = default_collective(compressor->aggregation).name;
  }
}

bool has_several_compressors(const SweepPlan& plan) {
  return std::any_of(plan.axes.begin(), plan.axes.end(), [](const SweepAxis& axis) {
    return axis.flag == "compressor" && axis.values.size() > 1;
  });
}

std::string as_text(const SweepSettings& settings) {
  std::vector<std::string> words;
  for (const auto& [flag, value] : settings) words.push_back("--" + flag + "=" + value);
  return join(words, " ");
}

class Tasks {
 public:
  Tasks(const SweepPlan& plan, const Engine& engine, const std::string& made_by, DataFiles& files)
      : plan_(plan), engine_(engine), made_by_(made_by), files_(files) {}

  SweepTasks all() {
    std::set<std::string> seen;
    const bool several = has_several_compressors(plan_);
    for (std::int64_t i = 0; i < plan_.points(); ++i) {
      SweepSettings settings = plan_.point(i);
      const bool dense = is_dense(compressor_of(settings));
      if (several) take_a_collective_that_carries(settings);
      if (dense)
        std::erase_if(settings, [](const auto& each) { return of_compressors(each.first); });
      if (!seen.insert(as_text(settings)).second) continue;
      add_point(std::move(settings), dense);
    }
    return std::move(all_);
  }

 private:
  void add_point(SweepSettings settings, bool dense) {
    try {
      const Request request = request_of(settings, files_);
      const Estimates estimates = estimates_of(request, plan_.software, files_);
      PointTasks tasks;
      for (const Schedule& schedule : own_schedules(request, estimates))
        tasks.schedules.push_back(scheduled(settings, estimates, schedule, dense));
      if (plan_.against == Against::Best) tasks.dense = dense_runs(without_compression(settings));
      std::string software = estimates.fitted             ? software_of(*estimates.fitted)
                             : is_fitted(request.cluster) ? request.cluster
                                                          : request.stack;
      all_.points.push_back({std::move(settings), request, possible_cluster(request),
                             std::move(tasks), std::move(software), fitted(estimates)});
    } catch (const ValueError& error) {
      throw UsageError(error.what());
    }
  }

  std::vector<Schedule> own_schedules(const Request& request, const Estimates& estimates) {
    if (!request.best_schedule) return {schedule_of(request)};
    return schedules_of(request, estimates, files_);
  }

  ScheduledTasks scheduled(const SweepSettings& settings, const Estimates& estimates,
                           const Schedule& schedule, bool dense) {
    ScheduledTasks tasks{schedule, both(settings, estimates, schedule), {}};
    tasks.dense = dense ? tasks.own : dense_run(without_compression(settings), schedule);
    return tasks;
  }

  /// `settings`: without compression.
  TaskPair dense_run(const SweepSettings& settings, const Schedule& schedule) {
    const auto [known, fresh] = twins_.try_emplace(as_text(by_schedule(settings, schedule)));
    if (fresh) known->second = both(settings, dense_asked(settings).estimates, schedule);
    return known->second;
  }

  struct DenseAsked {
    Request request;
    Estimates estimates;
  };

  const DenseAsked& dense_asked(const SweepSettings& settings) {
    const auto [known, fresh] = dense_asked_.try_emplace(as_text(settings));
    if (fresh) {
      const Request request = request_of(settings, files_);
      known->second = {request, estimates_of(request, plan_.software, files_)};
    }
    return known->second;
  }

  /// The dense runs by all schedules. One would use the fastest of them without a compressor.
  std::vector<ScheduledTasks> dense_runs(const SweepSettings& settings) {
    const auto [known, fresh] = dense_.try_emplace(as_text(settings));
    if (!fresh) return known->second;
    const DenseAsked& asked = dense_asked(settings);
    for (const Schedule& schedule : schedules_of(asked.request, asked.estimates, files_)) {
      const TaskPair tasks = dense_run(settings, schedule);
      known->second.push_back({schedule, tasks, tasks});
    }
    return known->second;
  }

  std::optional<Cluster> possible_cluster(const Request& request) {
    try {
      return cluster_of(request, files_);
    } catch (const ValueError&) {  // its forecasts say why
      return std::nullopt;
    }
  }

  /// Tables are compared once for each compressor.
  bool fitted(const Estimates& estimates) {
    if (!estimates.fitted) return false;
    const Request& request = estimates.fitted->request;
    const std::string costs = join({request.compressor, request.costs, request.implementation,
                                    estimates.physics.request.costs},
                                   "\n");
    const auto [known, fresh] = fitted_.try_emplace(costs, false);
    if (!fresh) return known->second;
    try {
      known->second = costs_fitted(estimates, files_);
    } catch (const ValueError&) {  // its forecasts say why
    } catch (const DataError&) {
    }
    return known->second;
  }

  TaskPair both(const SweepSettings& settings, const Estimates& estimates,
                const Schedule& schedule) {
    const SweepSettings own = by_schedule(settings, schedule);
    TaskPair pair{number_of(own, with_schedule(estimates.physics, schedule)), std::nullopt};
    if (estimates.fitted) pair.fitted = number_of(own, with_schedule(*estimates.fitted, schedule));
    return pair;
  }

  std::size_t number_of(const SweepSettings& settings, const Asked& asked) {
    const std::string decides =
        made_by_ + "\n" + as_text(settings) + "\n" + content_of(asked, engine_, files_);
    const auto [found, fresh] = numbers_.try_emplace(decides, all_.tasks.size());
    if (fresh) all_.tasks.push_back({sha256_hex(decides), asked});
    return found->second;
  }

  const SweepPlan& plan_;
  const Engine& engine_;
  const std::string& made_by_;
  DataFiles& files_;
  std::map<std::string, std::size_t> numbers_;
  std::map<std::string, bool> fitted_;
  std::map<std::string, TaskPair> twins_;  // dense runs that points share
  std::map<std::string, DenseAsked> dense_asked_;
  std::map<std::string, std::vector<ScheduledTasks>> dense_;
  SweepTasks all_;
};

}  // namespace

SweepTasks tasks_of(const SweepPlan& plan, const Engine& engine, const std::string& made_by,
                    DataFiles& files) {
  return Tasks(plan, engine, made_by, files).all();
}

}  // namespace gradcast
