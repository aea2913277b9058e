#include "sim/options/transfer_flags.hpp"

#include <set>

#include "sim/base/table.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/inputs/cost_transfer.hpp"

namespace gradcast {
namespace {

/// The line of costs whose time no scaling changed; "" of others.
std::string unscaled_line(const UsedCosts& used, const CostTable& table, const Device& from) {
  if (!stays_as_it_is(table, from, used.compressor, used.implementation)) return "";
  return "the time of " + used.compressor + " by " + used.implementation +
         " is taken as it is, for one thread block does the work: it may be 2.1 times more or less";
}

}  // namespace

void add_transfer_flags(Flags& flags) {
  flags.add("scale-costs-to",
            "a device of traces/devices.csv, like h200: the costs are scaled to its memory "
            "bandwidth and launch time; cpu: a guess for a CPU");
  flags.add("costs-of", "the device on which the costs were found (default: the cost table's)");
}

void TransferChoice::apply(Request& request) const {
  request.costs_device = to;
  request.costs_of = of;
}

TransferChoice read_transfer(const Flags& flags, DataFiles& files) {
  if (!flags.given("scale-costs-to")) {
    if (flags.given("costs-of"))
      throw UsageError("--costs-of belongs to --scale-costs-to, which is not given");
    return {};
  }
  const std::vector<Device> devices = load_devices(files.read(kDevices, "devices"));
  const auto known = [&](const std::string& name) { return device_named(devices, name).name; };
  const auto known_or_cpu = [&](const std::string& name) {
    return name == kCpu ? name : known(name);
  };
  TransferChoice choice{flags.value("scale-costs-to", known_or_cpu), ""};
  if (flags.given("costs-of")) choice.of = flags.value("costs-of", known);
  return choice;
}

void note_usual_costs(const Flags& flags, const TransferChoice& choice, const Request& request,
                      DataFiles& files) {
  const std::string words = scaled_costs_words(request.costs, request.costs_device);
  if (!words.empty() && !choice.asked())
    flags.note("costs " + words +
               (request.costs_device == kCpu
                    ? " (--costs names the table that it writes)"
                    : " (--costs names a table of yours, as `gradcast calibrate` writes it)"));
  const bool scaled = !request.costs_device.empty() && request.costs_device != kCpu;
  if (!scaled || choice.asked() || request.implementation.empty()) return;
  DataFiles others = files.beside();
  const auto devices = others.parsed(others.read(kDevices, "devices"), load_devices);
  const auto table =
      others.parsed(others.read(kCostTables, request.costs, request.costs_folder), load_cost_table);
  const UsedCosts used{request.costs, request.compressor, request.implementation};
  const std::string line =
      unscaled_line(used, *table, device_of(*table, request.costs_of, *devices));
  if (!line.empty()) flags.note(line);
}

void note_transfer(const Flags& flags, const TransferChoice& choice,
                   const std::vector<UsedCosts>& used, DataFiles& files) {
  if (!choice.asked()) return;
  if (choice.to == kCpu) {
    for (const UsedCosts& costs : used)
      flags.note("costs " + scaled_costs_words(costs.table, choice.to));
    return;
  }
  const std::vector<Device> devices = load_devices(files.read(kDevices, "devices"));
  const Device& to = device_named(devices, choice.to);
  std::set<std::string> told;
  for (const UsedCosts& costs : used) {
    const auto table =
        files.parsed(files.read(kCostTables, costs.table, costs.folder), load_cost_table);
    const Device& from = device_of(*table, choice.of, devices);
    const std::string unscaled = unscaled_line(costs, *table, from);
    if (!unscaled.empty() && told.insert(unscaled).second) flags.note(unscaled);
    if (!told.insert(costs.table).second) continue;
    flags.note("costs of " + costs.table + " are scaled from " + from.name + " to " + to.name +
               ", where they were not timed: launches take " + fixed(to.launch / from.launch, 2) +
               " times as long, streaming " +
               fixed(from.memory_bandwidth.value / to.memory_bandwidth.value, 2) + " times");
  }
}

}  // namespace gradcast
