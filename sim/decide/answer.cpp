#include "sim/decide/answer.hpp"

#include <algorithm>
#include <string_view>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/time_unit.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

std::string to_a_tenth(double share) { return fixed(100 * share, 1) + " %"; }
std::string gigabytes(Bytes bytes) { return fixed(static_cast<double>(bytes.count) / 1e9, 1); }

std::string counted(int count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// The link that an exposed collective waits for: the narrowest on the way out of a node.
std::string link_words(const Cluster& cluster) {
  if (cluster.nodes == 1) return "links inside the node";
  const double out = cluster.nics_per_node * cluster.nic.bandwidth.value;
  const double uplink = cluster.leaf_uplink_bandwidth.value;
  if (cluster.pcie_bandwidth.value > 0 && cluster.pcie_bandwidth.value < out)
    return "the PCIe path of a node, " + to_text(cluster.pcie_bandwidth);
  if (uplink > 0 && cluster.nodes > cluster.nodes_per_leaf && uplink < cluster.nodes_per_leaf * out)
    return "the uplinks of leaf switches, " + to_text(cluster.leaf_uplink_bandwidth);
  return counted(cluster.nics_per_node, "NIC") + " of " + to_text(cluster.nic.bandwidth) +
         " a node";
}

/// The share of exposed communication that twice the bandwidth saves at least where links bind.
constexpr double kOfBandwidth = 0.2;

/// The links that exposed communication waits for. Where faster ones would save hardly any of it,
/// it is something else that binds.
std::string waits_for(const Decision& decision, double exposed) {
  const Cluster& cluster = decision.now.cluster;
  const std::string links = link_words(cluster);
  for (const WeighedOption& weighed : decision.ranked) {
    const bool faster =
        weighed.option.change == Change::Network && weighed.option.name.starts_with("network x 2");
    if (!faster || 1 - 1 / weighed.speedup >= kOfBandwidth * exposed) continue;
    return cluster.by_sockets ? "what the host's sockets carry of " + links
                              : "latency, waits or links inside nodes, more than " + links;
  }
  return links;
}

/// Whether a run fits in a GPU's usable memory: "yes", "no", or null if that is not known.
Json fits(const Decision& decision, Bytes memory) {
  if (!decision.usable) return {};
  if (exceeds_memory(decision, memory)) return "no";
  return decision.memory.activations_known ? Json("yes") : Json();
}

std::string memory_words(const Decision& decision) {
  std::string words = gigabytes(decision.memory.total());
  if (decision.gpu_memory) words += " of " + gigabytes(*decision.gpu_memory);
  words += " GB of a GPU";
  if (!decision.gpu.empty()) words += " (" + decision.gpu + ")";
  std::vector<std::string> parts;
  for (const MemoryPart& part : memory_parts())
    if (const Bytes bytes = decision.memory.*part.part; bytes.count > 0) {
      const bool optimizer = part.part == &MemoryUse::optimizer;  // an assumption like others
      const std::string which = optimizer ? " (" + to_text(decision.now.optimizer) + ")" : "";
      parts.push_back(std::string(part.name) + which + " " + gigabytes(bytes));
    }
  return words + ": " + join(parts) +
         (decision.memory.activations_known ? "" : "; without activations, which are not known");
}

/// "at most 416 a GPU; 1650 with recomputation", "none as it is; 3 with FSDP"; "" if it is not
/// known.
std::string batch_words(const Decision& decision) {
  std::vector<std::string> words;
  for (const FittingBatch& way : decision.fitting) {
    const std::string batch = std::to_string(way.batch);
    if (way.with.empty())
      words.push_back(way.batch == 0 ? "none as it is" : "at most " + batch + " a GPU");
    else if (way.batch > 0)
      words.push_back(batch + " with " + way.with);
  }
  return join(words, "; ");
}

/// "1281167 samples: 12.3 GPU hours, 24.6 at 2 an hour"; "" where neither is given.
std::string epoch_words(const Decision& decision, const DecideAsked& asked) {
  if (!asked.samples) return "";
  const double hours = epoch_hours(decision.forecast, *asked.samples);
  std::string words = number_to_text(*asked.samples) +
                      " samples: " + fixed(hours / decision.forecast.ranks, 2) + " hours, " +
                      fixed(hours, 1) + " GPU hours";
  if (asked.price)
    words += ", cost " + fixed(hours * *asked.price, 2) + " (" + number_to_text(*asked.price) +
             " a GPU hour)";
  return words;
}

/// The end of a verdict that is left out: every option runs on the cluster that was asked about.
constexpr std::string_view kHere = " on this cluster";

/// The verdict, and whether the option fits in memory. One that does not fit has no verdict: it
/// cannot pay. If today's run does not fit either, the estimate of memory is off, and the times
/// still say something.
std::string verdict_words(const Decision& decision, const WeighedOption& weighed) {
  const bool today_fits = decision.usable && !exceeds_memory(decision, decision.memory.total());
  if (today_fits && exceeds_memory(decision, weighed.forecast.memory))
    return "does not fit in memory";
  std::string words = words_of(weighed.verdict);
  if (words.ends_with(kHere)) words.resize(words.size() - kHere.size());
  if (exceeds_memory(decision, weighed.forecast.memory))
    words += "; does not fit in memory";
  else if (decision.usable && !today_fits)
    words += "; fits in memory";
  else if (weighed.option.change == Change::Batch && !decision.memory.activations_known)
    words += "; if activations fit";
  return words;
}

/// "surely overlap; surely not int8; cannot be told for 13 others". Without nodes: more of them buy
/// time, fewer save money, and the table says how much. Without what does not fit. Where today's
/// run does not fit, what does is needed, whether it is faster or not.
std::string pays_words(const Decision& decision) {
  std::vector<std::string> pays;
  std::vector<std::string> pays_not;
  std::vector<std::string> needed;
  bool nodes = false;
  std::size_t open = 0;
  const bool today_fits = !exceeds_memory(decision, decision.memory.total());
  for (const WeighedOption& each : decision.ranked) {
    if (exceeds_memory(decision, each.forecast.memory)) continue;
    if (!today_fits) needed.push_back(each.option.name);
    if (each.option.change == Change::Nodes) {
      nodes = nodes || each.verdict.pays == Pays::Yes;
      continue;
    }
    if (!today_fits && each.verdict.pays == Pays::No) continue;
    if (each.verdict.pays == Pays::CannotBeTold)
      ++open;
    else
      (each.verdict.pays == Pays::Yes ? pays : pays_not).push_back(each.option.name);
  }
  std::string words = !pays.empty() ? "surely " + join(pays)
                      : nodes       ? "nothing surely but more nodes"
                                    : "nothing surely";
  if (!today_fits)
    words +=
        needed.empty() ? "; no change fits in memory" : "; in memory fits only " + join(needed);
  if (!pays_not.empty()) words += "; surely not " + join(pays_not);
  if (open > 0) words += "; cannot be told for " + counted(static_cast<int>(open), "change");
  return words;
}

std::string todays_lines(const Decision& decision, const DecideAsked& asked) {
  const Evaluation& today = decision.forecast;
  constexpr std::size_t kNames = 12;
  std::string lines;
  const auto add = [&](std::string name, const std::string& value) {
    name.resize(kNames, ' ');
    if (!value.empty()) lines += "  " + name + value + "\n";
  };
  const TimeUnit unit = unit_for(today.result.iteration);
  std::string iteration = unit.text(today.result.iteration);
  if (today.interval)
    iteration += " (90 % interval: " + unit.number(today.interval->low) + " to " +
                 unit.text(today.interval->high) + ")";
  if (const std::string unknown = no_data_words(today.outside_seen); !unknown.empty())
    iteration += "; " + unknown;
  add("iteration", iteration);
  add("speed", fixed(today.samples_per_second(), 1) +
                   " samples/s by all GPUs; scaling efficiency " +
                   to_a_tenth(today.scaling_efficiency()));
  add("epoch", epoch_words(decision, asked));
  add("what binds", bound_words(decision));
  add("memory", memory_words(decision));
  if (const std::string batch = batch_words(decision); !batch.empty())
    add("batch", batch + " (" + fixed(100 * kReservedMemory, 0) +
                     " % of memory left for the GPU's runtime, collectives and the allocator)");
  add("what pays", pays_words(decision));
  return lines;
}

/// True if the option's software was seen less than today's.
bool seen_less(const WeighedOption& weighed, const Evaluation& today) {
  const std::vector<std::string> todays = terms_in(today.outside_seen);
  const std::vector<std::string> its = terms_in(weighed.forecast.outside_seen);
  return std::any_of(its.begin(), its.end(), [&](const std::string& term) {
    return std::find(todays.begin(), todays.end(), term) == todays.end();
  });
}

std::string options_table(const Decision& decision, const DecideAsked& asked) {
  Shortest shortest;
  for (const WeighedOption& weighed : decision.ranked)
    shortest.add(weighed.forecast.result.iteration);
  const TimeUnit unit = shortest.unit();
  TextTable table{{"one change", unit.headed("iteration"), "samples/s", "speedup", "90 % interval",
                   "GPU time", "GB"},
                  {}};
  const bool costs = asked.price && asked.samples;
  if (costs) table.header.emplace_back("epoch cost");
  table.header.emplace_back("verdict");
  for (const WeighedOption& weighed : decision.ranked) {
    const Evaluation& its = weighed.forecast;
    const auto& interval = weighed.interval;
    std::vector<std::string> line{
        weighed.option.name,
        unit.number(its.result.iteration) + (seen_less(weighed, decision.forecast) ? " ?" : ""),
        fixed(its.samples_per_second(), 1),
        fixed(weighed.speedup, 2),
        interval ? fixed(interval->low, 2) + " to " + fixed(interval->high, 2) : "-",
        fixed(weighed.gpu_time_ratio, 2),
        gigabytes(its.memory)};
    if (costs) line.push_back(fixed(epoch_cost(its, *asked.samples, *asked.price), 2));
    line.push_back(verdict_words(decision, weighed));
    table.rows.push_back(std::move(line));
  }
  return to_text(table);
}

/// The meaning of columns, verdicts and marks.
std::string legend(const Decision& decision) {
  const auto& ranked = decision.ranked;
  std::string text =
      "Speedup: samples/s over today's. GPU time: GPU seconds a sample over today's; below 1 is "
      "cheaper.\nSurely: the whole interval lies above 1 (pays), or below 1.01 (does "
      "not; a faster network: below 1.05).\n";
  if (std::any_of(ranked.begin(), ranked.end(),
                  [](const auto& each) { return each.verdict.pays == Pays::CannotBeTold; }))
    text += "Cannot be told: a measured run narrows the interval (`gradcast help learn`).\n";
  if (std::any_of(ranked.begin(), ranked.end(), [](const auto& each) {
        return each.verdict.pays == Pays::CannotBeTold && each.interval && each.interval->low > 1;
      }))
    text += "A compressor of a family of which nobody measured the software never surely pays.\n";
  if (std::any_of(ranked.begin(), ranked.end(),
                  [&](const auto& each) { return seen_less(each, decision.forecast); }))
    text += "?  Nobody measured this software like that; the interval allows for it.\n";
  return text +
         "Compressors, larger batches and more GPUs may need more samples to the same accuracy: "
         "`gradcast tta`.\n";
}

/// A line for each reason, with all options that it refuses.
std::string refused_lines(const std::vector<Option>& refused) {
  std::string lines;
  std::vector<std::string> told;
  for (const Option& option : refused) {
    if (std::find(told.begin(), told.end(), option.refused) != told.end()) continue;
    told.push_back(option.refused);
    std::vector<std::string> names;
    for (const Option& other : refused)
      if (other.refused == option.refused) names.push_back(other.name);
    lines += "  " + join(names) + ": " + option.refused + "\n";
  }
  return lines;
}

/// The columns of a run that has a forecast.
void add_forecast(Json& row, const Evaluation& forecast, const DecideAsked& asked) {
  row["iteration_seconds"] = forecast.result.iteration.count();
  const auto& interval = forecast.interval;
  row["interval_low_seconds"] = interval ? Json(interval->low.count()) : Json();
  row["interval_high_seconds"] = interval ? Json(interval->high.count()) : Json();
  row["exposed_communication_seconds"] = forecast.result.exposed_communication.count();
  row["samples_per_second"] = forecast.samples_per_second();
  row["scaling_efficiency"] = forecast.scaling_efficiency();
  const bool hours = asked.samples.has_value();
  row["epoch_gpu_hours"] = hours ? Json(epoch_hours(forecast, *asked.samples)) : Json();
  row["epoch_cost"] =
      hours && asked.price ? Json(epoch_cost(forecast, *asked.samples, *asked.price)) : Json();
  row["memory_bytes"] = forecast.memory.count;
}

Json row_of(const Decision& decision, const DecideAsked& asked, const std::string& name,
            const std::string& change, const std::string& flags, const Evaluation* forecast,
            const WeighedOption* weighed) {
  Json row;
  row["option"] = name;
  row["change"] = change;
  row["flags"] = flags;
  if (forecast != nullptr)
    add_forecast(row, *forecast, asked);
  else
    for (const char* column :
         {"iteration_seconds", "interval_low_seconds", "interval_high_seconds",
          "exposed_communication_seconds", "samples_per_second", "scaling_efficiency",
          "epoch_gpu_hours", "epoch_cost", "memory_bytes"})
      row[column] = nullptr;
  row["fits"] = forecast != nullptr ? fits(decision, forecast->memory) : Json();
  const bool compared = weighed != nullptr;
  const bool interval = compared && weighed->interval.has_value();
  row["speedup"] = compared ? Json(weighed->speedup) : Json();
  row["speedup_low"] = interval ? Json(weighed->interval->low) : Json();
  row["speedup_high"] = interval ? Json(weighed->interval->high) : Json();
  row["gpu_time_ratio"] = compared ? Json(weighed->gpu_time_ratio) : Json();
  row["verdict"] = compared ? Json(to_text(weighed->verdict.pays)) : Json();
  row["measure"] = compared ? Json(weighed->verdict.measure) : Json();
  row["evidence"] = forecast != nullptr ? forecast->evidence : "";
  row["outside"] = forecast != nullptr ? forecast->outside : "";
  row["outside_seen"] = forecast != nullptr ? forecast->outside_seen : "";
  row["engine"] = forecast != nullptr ? forecast->result.engine : "";
  row["refused"] = "";
  return row;
}

std::string flags_text(const Option& option) {
  std::vector<std::string> words;
  for (const auto& [flag, value] : option.flags) words.push_back("--" + flag + " " + value);
  return join(words, " ");
}

Json summary_of(const Decision& decision, const std::vector<std::string>& next) {
  const Shares shares = shares_of(decision.forecast);
  Json summary;
  summary["question"] = question_words(decision);
  summary["assumed"] = decision.assumed;
  summary["bound"] = to_text(bound_of(decision));
  summary["sentences"] = {question_words(decision), "What binds: " + bound_words(decision) + ".",
                          "What pays: " + pays_words(decision) + "."};
  if (const std::string batch = batch_words(decision); !batch.empty())
    summary["sentences"].push_back("Which batch fits: " + batch + ".");
  summary["compute_share"] = shares.compute;
  summary["communication_share"] = shares.communication;
  summary["software_share"] = shares.software;
  summary["gpu_memory_bytes"] = decision.gpu_memory ? Json(decision.gpu_memory->count) : Json();
  summary["usable_memory_bytes"] = decision.usable ? Json(decision.usable->count) : Json();
  summary["gpu"] = decision.gpu;
  summary["largest_batches"] = Json::array();
  for (const FittingBatch& way : decision.fitting)
    summary["largest_batches"].push_back({{"with", way.with}, {"batch", way.batch}});
  summary["next"] = next;
  return summary;
}

}  // namespace

std::string question_words(const Decision& decision) {
  const Cluster& cluster = decision.now.cluster;
  const std::string gpus = counted(cluster.gpus_per_node, "GPU");
  const std::string size = cluster.nodes_alike() ? counted(cluster.nodes, "node") + " of " + gpus
                                                 : counted(cluster.ranks(), "GPU") + " in " +
                                                       counted(cluster.nodes, "node");
  return decision.now.model->name + " on " + decision.request.cluster + " (" + size + ", batch " +
         std::to_string(decision.now.batch()) +
         " a GPU): what binds, and what is each change worth?";
}

std::string bound_words(const Decision& decision) {
  const Shares shares = shares_of(decision.forecast);
  const std::string compute = "compute " + to_a_tenth(shares.compute);
  // Compute is measured or derived for one GPU, so that nothing but its share can be saved.
  const std::string without = shares.compute > 0
                                  ? "; without both at most " + fixed(1 / shares.compute, 2) +
                                        " times as fast by this forecast"
                                  : "";
  const std::string software = "software and waiting " + to_a_tenth(shares.software);
  const std::string communication = "exposed communication " + to_a_tenth(shares.communication) +
                                    " (" + waits_for(decision, shares.communication) + ")";
  switch (bound_of(decision)) {
    case Bound::Memory:
      return "memory: the run needs " + gigabytes(decision.memory.total()) + " GB, and " +
             gigabytes(*decision.usable) + " of a GPU's " + gigabytes(*decision.gpu_memory) +
             " GB are usable. Time: " + join({compute, communication, software});
    case Bound::Compute:
      return compute + " of the iteration; " + communication + ", " + software + without;
    case Bound::Communication:
      return communication + " of the iteration; " + compute + ", " + software + without;
    case Bound::Software:
      break;
  }
  return software + " of the iteration; " + compute + ", " + communication + without;
}

std::vector<Json> decide_rows(const Decision& decision, const DecideAsked& asked) {
  std::vector<Json> rows{row_of(decision, asked, "today", "", "", &decision.forecast, nullptr)};
  for (const WeighedOption& each : decision.ranked)
    rows.push_back(row_of(decision, asked, each.option.name,
                          std::string(to_text(each.option.change)), flags_text(each.option),
                          &each.forecast, &each));
  for (const Option& option : decision.refused) {
    rows.push_back(row_of(decision, asked, option.name, std::string(to_text(option.change)),
                          flags_text(option), nullptr, nullptr));
    rows.back()["refused"] = option.refused;
  }
  return rows;
}

std::string decide_table(const Decision& decision, const DecideAsked& asked,
                         const std::vector<std::string>& next) {
  std::string text = question_words(decision) + "\nAssumed: " + decision.assumed + "; engine " +
                     decision.forecast.result.engine + "\n\nToday\n" +
                     todays_lines(decision, asked) + "\n" + options_table(decision, asked) + "\n" +
                     legend(decision);
  if (!decision.refused.empty()) text += "\nLeft out:\n" + refused_lines(decision.refused);
  if (!next.empty()) text += "\nNext:\n";
  for (const std::string& command : next) text += "  " + command + "\n";
  return text;
}

Answer decide_answer(const Decision& decision, const DecideAsked& asked,
                     const std::vector<std::string>& next) {
  Answer answer;
  answer.table = decide_table(decision, asked, next);
  answer.rows = decide_rows(decision, asked);
  answer.summary = summary_of(decision, next);
  return answer;
}

}  // namespace gradcast
