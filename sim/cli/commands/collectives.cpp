// `gradcast collectives`: prints the table that nccl-tests would print on a cluster, with reasons.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/iteration_result.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/request.hpp"
#include "sim/forecast/uncertainty.hpp"
#include "sim/network/collective_time.hpp"
#include "sim/network/nccl.hpp"
#include "sim/options/assumption_notes.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/svg.hpp"

namespace gradcast::commands {
namespace {

struct Kind {
  std::string_view name;
  std::string_view collective;  // as --collective names it
  Outcome outcome;
};
constexpr Kind kKinds[] = {{"all-reduce", "nccl", Outcome::AllReduced},
                           {"all-gather", "nccl-all-gather", Outcome::AllGathered},
                           {"reduce-scatter", "nccl-reduce-scatter", Outcome::Scattered},
                           {"broadcast", "nccl-broadcast", Outcome::Broadcast},
                           {"send-receive", "nccl-send-receive", Outcome::Passed}};

const Kind* parse_kind(const std::string& text) {
  std::vector<std::string> known;
  for (const Kind& kind : kKinds) {
    if (kind.name == text) return &kind;
    known.emplace_back(kind.name);
  }
  throw ValueError("'" + text + "' is not one of " + join(known) + did_you_mean(text, known));
}

std::vector<int> parse_nodes(const std::string& text) { return parse_counts_to(65'536, text); }

/// "1KiB..8GiB": every fourfold; or a list.
std::vector<Bytes> parse_sizes(const std::string& text) {
  std::vector<Bytes> sizes;
  for (const std::string& word : split_words(text, ',')) {
    const std::size_t dots = word.find("..");
    const Bytes first = parse_bytes(word.substr(0, dots));
    const Bytes last = dots == std::string::npos ? first : parse_bytes(word.substr(dots + 2));
    if (first.count < 1 || last < first)
      throw ValueError("'" + word + "' is no range of sizes, like '1KiB..8GiB'");
    sizes.push_back(first);
    while (sizes.back().count <= last.count / 4) sizes.push_back(sizes.back() * 4);
  }
  return sizes;
}

Flags collectives_flags() {
  Flags flags(
      "collectives",
      "Says what nccl-tests would print on a cluster: the algorithm and protocol that NCCL's own\n"
      "tables choose for each size, the time on the cluster's links, and both bandwidths of\n"
      "nccl-tests. Column `90 %` is the time's interval, as `simulate --payload` has it; `rule` "
      "is\n"
      "NCCL's own estimate, by which it chooses. On a cluster of AMD's GPUs it is RCCL that "
      "chooses,\n"
      "by tables of its own.",
      {"collectives --cluster dgx-h100 --nodes 1..64",
       "collectives --cluster dgx-a100 --nodes 16 --sizes 8KiB,25MiB --verbose",
       "collectives --cluster dgx-h100 --kind all-gather --format csv",
       "collectives --cluster mi300x --nodes 1..8",
       "collectives --cluster dgx-h100 --nodes 1..64 --plot dgx-h100.svg"});
  flags.add("kind", "all-reduce, all-gather, reduce-scatter, broadcast or send-receive",
            "all-reduce");
  flags.add("sizes",
            "a list of sizes, or a range in steps of 4: the buffer of an all-reduce or broadcast, "
            "what a rank sends to the next, else all ranks' parts together, as nccl-tests counts",
            "1KiB..1GiB");
  flags.add("nccl",
            "version of NCCL whose tables choose, like 2.18 or 2.27.5; or torch-2.5: what that "
            "PyTorch brings. RCCL counts its versions alike; its tables are known from 2.25 on",
            to_text(kUsualNccl));
  add_engine_flag(flags);
  flags.add_written("plot", Writes::File,
                    "also write this SVG: bus bandwidth and time over size, a line for each number "
                    "of nodes, with the algorithm and protocol where they change");
  flags.add_switch("verbose", "also the library's estimate for every algorithm and protocol");
  add_cluster_flags(flags);
  return flags;
}

/// The busiest of the first node's links and of those that nodes share, or "latency" if it is busy
/// for less than half of the time.
std::string bound_by(const std::vector<Phase>& phases, const Topology& topology, Seconds all) {
  std::map<std::uint32_t, double> busy;  // seconds, by link
  std::vector<std::uint32_t> links;
  const auto is_shared = [](const TopologyLink& link) { return !link.name.starts_with("node"); };
  const bool some_shared = std::ranges::any_of(topology.links, is_shared);
  for (const Phase& phase : phases)
    for (const Message& message : phase.messages) {
      const bool of_first = topology.node_of[static_cast<std::size_t>(message.from)] == 0;
      if (!of_first && !some_shared) continue;
      links.clear();
      topology.route(message.from, message.to, links);
      for (const std::uint32_t link : links)
        if (of_first || is_shared(topology.links[link]))
          busy[link] += phase.rounds * (message.bytes / topology.links[link].bandwidth).count();
    }
  const auto most = std::max_element(
      busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == busy.end() || most->second < all.count() / 2) return "latency";
  return topology.links[most->first].name;
}

constexpr double kMicro = 1e6;
constexpr double kGiga = 1e-9;

struct Asked {
  const Kind* kind;
  NcclVersion version;
  const Engine* engine;
  bool verbose;
};

Json row_of(const Scenario& scenario, const Asked& asked, Bytes size) {
  const Cluster& cluster = scenario.cluster;
  const RankLayout layout = layout_of(cluster);
  const Plan plan = make_plan(scenario);
  const IterationResult result = summarize(plan, asked.engine->run(plan, cluster));
  const double seconds = result.iteration.count();
  const std::optional<ForecastInterval> interval = interval_of(scenario, plan, result);
  Json row{{"kind", asked.kind->name},
           {"nodes", cluster.nodes},
           {"gpus_per_node", cluster.gpus_per_node},
           {"bytes", size.count},
           {"library", library_name(cluster)},
           {"library_version", to_text(asked.version)}};
  // As the plan's choice counts them: nccl-tests' size, less what the ranks do not divide.
  const bool parts = asked.kind->outcome == Outcome::AllGathered;
  const Bytes chosen_by = scenario.payload * (parts ? layout.ranks() : 1);
  const NcclWay way = nccl_way(cluster, asked.version, layout, asked.kind->outcome, chosen_by);
  const PlannedBucket& planned = plan.buckets.front();
  CollectiveLoad load{.payload = scenario.payload, .protocol = planned.protocol};
  const double passes = ring_steps(asked.kind->outcome, layout.ranks()) / layout.ranks();
  const double algorithm_bandwidth = static_cast<double>(size.count) / seconds * kGiga;
  row["algorithm"] = to_text(way.estimate.algorithm);
  row["protocol"] = to_text(way.estimate.protocol);
  row["us"] = seconds * kMicro;
  row["interval_low_seconds"] = interval ? Json(interval->low.count()) : Json();
  row["interval_high_seconds"] = interval ? Json(interval->high.count()) : Json();
  row["algbw_gb_per_second"] = algorithm_bandwidth;
  row["busbw_gb_per_second"] = algorithm_bandwidth * passes;
  row["bound_by"] = bound_by(phases_in({}, *planned.collective, layout, load),
                             make_topology(cluster), Seconds{seconds});
  const bool estimated = way.estimate.time > Seconds{0};  // NCCL has no estimate of sends
  row["rule_us"] = estimated ? Json(way.estimate.time.count() * kMicro) : Json();
  if (asked.verbose) {
    Json estimates = Json::array();
    for (const NcclEstimate& each : nccl_estimates(way.machine, asked.kind->outcome, chosen_by))
      if (estimated)
        estimates.push_back(std::string(to_text(each.algorithm)) + "/" +
                            std::string(to_text(each.protocol)) + " " +
                            fixed(each.time.count() * kMicro, 1));
    row["rule"] = join(estimates.get<std::vector<std::string>>(), "; ");
  }
  return row;
}

std::string number(const Json& value) {
  if (value.is_null()) return "-";
  const double of = value.get<double>();
  return fixed(of, of < 10 ? 2 : of < 1000 ? 1 : 0);
}

/// "78.5 to 165" in microseconds, of three digits or more; "-" where nobody knows.
std::string interval_words(const Json& row) {
  if (row["interval_low_seconds"].is_null()) return "-";
  const auto us = [&](const char* end) {
    const double of = row[end].get<double>() * kMicro;
    return fixed(of, of < 10 ? 2 : of < 100 ? 1 : 0);
  };
  return us("interval_low_seconds") + " to " + us("interval_high_seconds");
}

std::string table_of(const std::vector<Json>& rows, std::string_view library, bool verbose) {
  TextTable table{{"nodes", "GPUs", "size", "algorithm", "protocol", "us", "90 %", "algbw GB/s",
                   "busbw GB/s", "rule us", "bound by"},
                  {}};
  if (verbose) table.header.push_back(std::string(library) + "'s estimates, us");
  int nodes = 0;
  for (const Json& row : rows) {
    if (nodes != 0 && row["nodes"] != nodes) table.rows.push_back({});
    nodes = row["nodes"].get<int>();
    table.rows.push_back(
        {std::to_string(nodes), std::to_string(nodes * row["gpus_per_node"].get<int>()),
         to_text(Bytes{row["bytes"].get<std::int64_t>()}), row["algorithm"].get<std::string>(),
         row["protocol"].get<std::string>(), number(row["us"]), interval_words(row),
         number(row["algbw_gb_per_second"]), number(row["busbw_gb_per_second"]),
         number(row["rule_us"]), row["bound_by"].get<std::string>()});
    if (verbose) table.rows.back().push_back(row["rule"].get<std::string>());
  }
  return to_text(table);
}

/// A row for each number of nodes and size. Throws ValueError for a cluster that cannot be.
std::vector<Json> rows_of(const Flags& flags, const Request& request, const Asked& asked,
                          const std::vector<Bytes>& sizes, DataFiles& files) {
  std::vector<int> all_nodes;
  if (flags.given("nodes"))
    all_nodes = flags.value("nodes", parse_nodes);
  else
    all_nodes = {cluster_of(request, files).nodes};
  std::vector<std::pair<Request, int>> jobs;  // all of them can be, before the first is worked out
  for (const int nodes : all_nodes) {
    Request at = request;
    at.changed.push_back({"nodes", std::to_string(nodes)});
    if (const int ranks = cluster_of(at, files).ranks(); ranks > 1)
      jobs.emplace_back(std::move(at), ranks);
  }
  std::vector<Json> rows;
  for (auto& [at, ranks] : jobs)
    for (const Bytes size : sizes) {
      at.payload = asked.kind->outcome == Outcome::AllGathered
                       ? Bytes{std::max<std::int64_t>(1, size.count / ranks)}
                       : size;
      rows.push_back(row_of(make_scenario(with_defaults(at, files), files), asked, size));
    }
  return rows;
}

}  // namespace

int collectives(int argc, const char* const* argv) {
  Flags flags = collectives_flags();
  if (!flags.parse(argc, argv)) return 0;
  const Asked asked{flags.value("kind", parse_kind), flags.value("nccl", parse_nccl_version),
                    &chosen_engine(flags), flags.given("verbose")};
  const std::vector<Bytes> sizes = flags.value("sizes", parse_sizes);
  if (flags.given("plot") && flags.written("plot") == flags.written("output"))
    throw UsageError("--plot and --output are two files");
  Request request;
  read_cluster(flags, request, {"nodes"});
  request.collective = asked.kind->collective;
  request.nccl = to_text(asked.version);
  request.today = true;  // the stack that NCCL alone is, for the interval

  DataFiles files = DataFiles::standard();
  Answer answer;
  try {
    answer.rows = rows_of(flags, request, asked, sizes, files);
  } catch (const ValueError& error) {
    throw UsageError(error.what());
  }
  if (answer.rows.empty())
    throw UsageError("one GPU has nobody to exchange with: give --nodes or --gpus-per-node");
  const Cluster cluster = cluster_of(request, files);
  const std::string library(library_name(cluster));
  answer.table = table_of(answer.rows, library, asked.verbose);
  answer.table +=
      "\n" + library + " " + to_text(asked.version) +
      (library == "NCCL" && asked.version < NcclVersion{2, 7, 0}
           ? " has rings alone, and the size chooses their protocol (rule us: 2.7's tables)"
           : " chooses by its own tables (rule us)") +
      "; us is the time on this cluster's links, "
      "90 % its interval.\n";
  if (is_amd(gpu_generation_of(cluster)) && cluster.measured == nullptr)
    answer.table +=
        "Few logs of RCCL are known here, and none of the version whose tables these are.\n";
  if (flags.given("plot")) {
    const std::vector<Figure> figures = collective_figures(answer.rows);
    write_text_file(flags.written("plot"), svg_of(figures, Palette(figures)));
  }
  deliver(flags, files.inputs(), asked.engine->name, answer);
  note_usual_cluster(flags, request);
  note_gpus_of_node(flags, {request}, files);
  note_links(flags, cluster);
  return 0;
}

}  // namespace gradcast::commands
