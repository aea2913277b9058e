#include "sim/validate/curves.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/statistics.hpp"
#include "sim/base/table.hpp"
#include "sim/forecast/software_spread.hpp"
#include "sim/import/network/derived_links.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/network/collective_choice.hpp"
#include "sim/network/measured_time.hpp"

namespace gradcast {
namespace {

constexpr Bytes kFromHere{1 << 20};

/// A row of a log, with what NCCL's own lines in such logs say of the machine.
struct LoggedTime {
  std::string log;
  std::string machine;  // its file: generation of GPUs, kind of network, NICs
  CurvePoint point;
  NcclVersion version = kUsualNccl;
};

std::vector<LoggedTime> logged_times(DataFiles& files) {
  std::vector<LoggedTime> all;
  for (const char* name : {"measured-nccl-tests", "measured-nccl-p5"}) {
    const MeasuredRuns measured = load_measured_runs(files.read(kMeasuredRuns, name));
    for (const MeasuredRun& run : measured.runs) {
      constexpr std::string_view kNccl = "nccl-";  // "nccl" alone is an all-reduce
      const std::string collective =
          run.collective == "nccl" ? "all-reduce" : run.collective.substr(kNccl.size());
      const bool parts = collective == "all-gather";
      LoggedTime time{run.source, run.cluster, {}, kUsualNccl};
      if (!run.nccl.empty()) time.version = parse_nccl_version(run.nccl);
      time.point = {collective,
                    run.nodes,
                    run.gpus_per_node,
                    run.payload * (parts ? run.nodes * run.gpus_per_node : 1),
                    run.nccl.empty() ? "nccl" : "nccl-" + run.nccl,
                    run.iteration};
      all.push_back(std::move(time));
    }
  }
  return all;
}

enum class Links { Derived, OfFile };

/// The cluster that an import makes of the times, with --cluster where its links are of a file.
std::shared_ptr<const MeasuredCollectives> learned_from(const std::vector<LoggedTime>& times,
                                                        Links links, DataFiles& files) {
  const Cluster machine = load_cluster(files.read(kClusters, times.front().machine));
  ImportedCluster imported;
  Cluster& cluster = imported.cluster;
  std::vector<CurvePoint> points;
  for (const LoggedTime& time : times) {
    points.push_back(time.point);
    cluster.nodes = std::max(cluster.nodes, time.point.nodes);
    cluster.gpus_per_node = std::max(cluster.gpus_per_node, time.point.gpus_per_node);
  }
  imported.curve = curve_of(std::move(points));
  if (links == Links::OfFile)
    return std::make_shared<const MeasuredCollectives>(
        MeasuredCollectives{"learned", imported.curve, machine});
  cluster.nics_per_node = machine.nics_per_node;
  imported.sources["nics_per_node"] = "NCCL's lines";
  cluster.network_kind = machine.network_kind;
  cluster.gpu_generation = gpu_generation_of(machine);
  cluster.nvlink_sharp = machine.nvlink_sharp;
  cluster.intra = machine.intra;
  cluster.nic.latency = Seconds{9.6e-6};
  cluster.nic.bandwidth = BytesPerSecond{12e9};
  derive_links(imported);
  return std::make_shared<const MeasuredCollectives>(
      MeasuredCollectives{"learned", imported.curve, cluster});
}

/// Errors of rows, in percent.
using Errors = std::vector<double>;

std::string mean_of(const Errors& errors) {
  return errors.empty() ? "" : fixed(summarize_errors(errors).mean_absolute, 1) + " %";
}

struct OfLog {
  Errors large, small;  // sizes
  Errors widths;    // of 90 % intervals, in percent, of large ones that have one by measured times
  int inside = 0;   // them
  Errors modelled;  // large ones, without measured times
  Errors of_file;   // large ones, with the links of the machine's file
};

/// A cluster as one row had it.
Cluster cluster_of(const LoggedTime& time, Cluster cluster) {
  cluster.nodes = time.point.nodes;
  cluster.gpus_per_node = time.point.gpus_per_node;
  cluster.lay_out_ranks();
  cluster.by_sockets = cluster.nic_share == 1 && network_kind_of(cluster) == NetworkKind::Tcp;
  return cluster;
}

/// The forecast's error in percent of the measured time.
double error_of(const LoggedTime& time, const Cluster& on) {
  const Cluster cluster = cluster_of(time, on);
  const Seconds forecast = modelled(cluster, time.version, nullptr,
                                    *outcome_named(time.point.collective), time.point.bytes)
                               .time;
  return 100 * (forecast / time.point.seconds - 1);
}

/// A cluster that learned, in both ways.
struct Learned {
  std::shared_ptr<const MeasuredCollectives> derived, of_file;
};

Learned learn(const std::vector<LoggedTime>& times, DataFiles& files) {
  return {learned_from(times, Links::Derived, files), learned_from(times, Links::OfFile, files)};
}

/// Notes whether the interval that a forecast by measured times has holds the row.
void judge_interval(const LoggedTime& time, const std::shared_ptr<const MeasuredCollectives>& how,
                    OfLog& log) {
  Cluster cluster = how->described;
  cluster.measured = how;
  cluster = cluster_of(time, std::move(cluster));
  const Outcome outcome = *outcome_named(time.point.collective);
  Bytes payload = time.point.bytes;
  if (outcome == Outcome::AllGathered) payload.count /= cluster.ranks();
  const std::optional<double> deviation =
      CollectiveChoice(cluster, time.version, nullptr).measured_deviation(outcome, payload);
  if (!deviation) return;
  const double reach = *deviation * t_quantile((1 + kIntervalLevel) / 2, kSpreadDegrees);
  log.widths.push_back(100 * (std::exp(reach) - std::exp(-reach)));
  log.inside += std::abs(std::log1p(log.large.back() / 100)) <= reach ? 1 : 0;
}

void forecast_row(const LoggedTime& time, const Learned& learned, OfLog& errors) {
  const auto measured = [&](const std::shared_ptr<const MeasuredCollectives>& how) {
    Cluster cluster = how->described;
    cluster.measured = how;
    return error_of(time, cluster);
  };
  if (time.point.bytes < kFromHere) return errors.small.push_back(measured(learned.derived));
  errors.large.push_back(measured(learned.derived));
  judge_interval(time, learned.derived, errors);
  errors.of_file.push_back(measured(learned.of_file));
  errors.modelled.push_back(error_of(time, learned.derived->described));
}

/// `goal`: a mean error that is wanted, in percent.
std::string table_of(const std::map<std::string, OfLog>& logs, double goal) {
  std::string text =
      "| log | rows from 1 MiB | mean error | worst | with the links of the cluster's file | by "
      "the "
      "derived links alone | below 1 MiB: rows | mean error | intervals | inside | median width |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  const auto row = [&](const std::string& name, const OfLog& of) {
    const double worst = of.large.empty() ? 0 : summarize_errors(of.large).worst;
    text += "| " + name + " | " + std::to_string(of.large.size()) + " | " + mean_of(of.large) +
            " | " + with_sign(worst, 0) + " % | " + mean_of(of.of_file) + " | " +
            mean_of(of.modelled) + " | " + std::to_string(of.small.size()) + " | " +
            mean_of(of.small) + " | " + std::to_string(of.widths.size()) + " | " +
            std::to_string(of.inside) + " | " +
            (of.widths.empty() ? "" : fixed(median(of.widths), 0) + " %") + " |\n";
  };
  OfLog all;
  int good = 0;
  for (const auto& [name, of] : logs) {
    row("`" + name + "`", of);
    good += !of.large.empty() && summarize_errors(of.large).mean_absolute <= goal ? 1 : 0;
    all.inside += of.inside;
    for (const auto member :
         {&OfLog::large, &OfLog::small, &OfLog::modelled, &OfLog::of_file, &OfLog::widths}) {
      const Errors& added = of.*member;
      (all.*member).insert((all.*member).end(), added.begin(), added.end());
    }
  }
  row("all", all);
  return text + "\n" + std::to_string(good) + " of " + std::to_string(logs.size()) +
         " logs have a mean error of " + fixed(goal, 0) +
         " % or less from 1 MiB up, and half of the rows one of " +
         fixed(summarize_errors(all.large).median_absolute, 1) + " % or less.\n";
}

/// "polaris-nccl2.18-setup5" of "polaris-n540-nccl2.18-setup5".
std::string family_of(const std::string& log) {
  const std::size_t at = log.find("-n");
  if (at == std::string::npos) return log;
  const std::size_t end = log.find_first_not_of("0123456789", at + 2);
  return end == at + 2 ? log
                       : log.substr(0, at) + (end == std::string::npos ? "" : log.substr(end));
}

/// Runs on more nodes than `most`, by what was learned from the others.
std::string larger_runs(const std::vector<LoggedTime>& times, int most, DataFiles& files) {
  std::map<std::string, std::vector<LoggedTime>> few, many;
  for (const LoggedTime& time : times)
    (time.point.nodes <= most ? few : many)[family_of(time.log)].push_back(time);
  std::map<std::string, OfLog> logs;
  for (const auto& [family, larger] : many) {
    const auto& learned = few[family];
    if (std::none_of(learned.begin(), learned.end(),
                     [](const LoggedTime& time) { return time.point.nodes > 1; }))
      continue;
    const Learned cluster = learn(learned, files);
    for (const LoggedTime& time : larger)
      forecast_row(time, cluster,
                   logs[time.log + ", " + std::to_string(time.point.nodes) + " nodes"]);
  }
  return table_of(logs, 20);
}

/// Each log learns from the sizes in even places, and forecasts the others; then the other way.
std::string other_sizes(const std::vector<LoggedTime>& times, DataFiles& files) {
  std::map<std::string, std::vector<LoggedTime>> by_log;
  for (const LoggedTime& time : times) by_log[time.log].push_back(time);
  std::map<std::string, OfLog> logs;
  for (auto& [log, all] : by_log) {
    std::stable_sort(all.begin(), all.end(), [](const LoggedTime& a, const LoggedTime& b) {
      return std::tie(a.point.collective, a.point.nodes, a.point.bytes) <
             std::tie(b.point.collective, b.point.nodes, b.point.bytes);
    });
    std::vector<LoggedTime> halves[2];
    for (std::size_t i = 0, place = 0; i < all.size(); ++i, ++place) {
      if (i > 0 && std::tie(all[i].point.collective, all[i].point.nodes) !=
                       std::tie(all[i - 1].point.collective, all[i - 1].point.nodes))
        place = 0;
      halves[place % 2].push_back(all[i]);
    }
    for (const int learned : {0, 1}) {
      if (halves[learned].empty() || halves[1 - learned].empty()) continue;
      const Learned cluster = learn(halves[learned], files);
      for (const LoggedTime& time : halves[1 - learned]) forecast_row(time, cluster, logs[log]);
    }
  }
  return table_of(logs, 5);
}

}  // namespace

std::string curves_as_markdown(DataFiles& files) {
  const std::vector<LoggedTime> times = logged_times(files);
  return "Learned from 8 nodes or fewer, larger runs:\n\n" + larger_runs(times, 8, files) +
         "\nLearned from one and two nodes, larger runs:\n\n" + larger_runs(times, 2, files) +
         "\nLearned from every other size, the other sizes:\n\n" + other_sizes(times, files);
}

}  // namespace gradcast
