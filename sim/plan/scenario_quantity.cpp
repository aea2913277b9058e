#include "sim/plan/scenario_quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

struct Time {
  static double parse(std::string_view text) { return parse_time(text).count(); }
  static constexpr bool kInverse = false;
  static std::string print(double number, int digits) {
    return to_text(Seconds{rounded_to(digits, number)});
  }
  static Seconds made(double number) { return Seconds{number}; }
  static double number(Seconds time) { return time.count(); }
};

/// A rate as the time of a byte; "none" is a rate without limit.
struct Rate {
  static double parse(std::string_view text) {
    return text == "none" ? 0 : 1 / parse_rate(text).value;
  }
  static constexpr bool kInverse = true;
  static std::string print(double number, int digits) {
    // Rounded as it is printed, in bits.
    return number > 0 ? to_text(BytesPerSecond{rounded_to(digits, 8 / number) / 8}) : "none";
  }
  static BytesPerSecond made(double number) { return {number > 0 ? 1 / number : 0}; }
  static double number(BytesPerSecond rate) { return rate.value > 0 ? 1 / rate.value : 0; }
};

/// A rate that works beside a NIC's n: bytes take hypot(1/n, 1/rate), which is 1/n and n / 2 of the
/// square that the number is.
struct RateBeside {
  static double parse(std::string_view text) { return square(Rate::parse(text)); }
  static constexpr bool kInverse = true;
  static std::string print(double number, int digits) {
    return Rate::print(std::sqrt(number), digits);
  }
  static BytesPerSecond made(double number) { return Rate::made(std::sqrt(number)); }
  static double number(BytesPerSecond rate) { return square(Rate::number(rate)); }
  static double square(double value) { return value * value; }
};

struct Share {
  static double parse(std::string_view text) { return parse_percent(text); }
  static constexpr bool kInverse = false;
  static std::string print(double number, int digits) {
    return percent_to_text(rounded_to(digits, number));
  }
  static double made(double number) { return number; }
  static double number(double share) { return share; }
};

struct Factor {
  static double parse(std::string_view text) {
    const double factor = parse_number(text);
    if (factor >= 0) return factor;
    throw ValueError("'" + std::string(text) + "' is below 0, and no time can be");
  }
  static constexpr bool kInverse = false;
  static std::string print(double number, int digits) {
    return number_to_text(rounded_to(digits, number));
  }
  static double made(double number) { return number; }
  static double number(double factor) { return factor; }
};

/// A share of a rate, as what it adds to the time of a byte: half the rate adds 1.
struct ShareOfRate {
  static double parse(std::string_view text) { return number(parse_percent(text)); }
  static constexpr bool kInverse = true;
  static std::string print(double number, int digits) {
    return percent_to_text(rounded_to(digits, made(number)));
  }
  static double made(double number) { return 1 / (1 + number); }
  static double number(double share) {
    if (share > 0 && share <= 1) return 1 / share - 1;
    throw ValueError("a share of a rate is above 0% and at most 100%");
  }
};

template <class Kind, class Field>
ScenarioQuantity quantity(std::string_view name, std::string_view help, ScenarioQuantity::Of of,
                          bool adds_up, Field /*which*/) {
  return {name,
          help,
          of,
          adds_up,
          Kind::parse,
          Kind::print,
          [](Scenario& s, double number) { Field{}(s) = Kind::made(number); },
          [](const Scenario& s) { return Kind::number(Field{}(s)); },
          Kind::kInverse};
}

/// Numbers that clusters' files have for the hardware; all others are software.
constexpr std::array<std::string_view, 4> kHardware = {"nic_bandwidth", "intra_bandwidth",
                                                       "pcie_bandwidth", "nic_latency"};
constexpr std::array<std::string_view, 5> kOfCollectives = {
    "reduction_bandwidth", "per_message_latency", "per_collective_latency", "nic_share",
    "host_bandwidth"};

constexpr auto kCluster = ScenarioQuantity::Of::Cluster;
constexpr auto kCosts = ScenarioQuantity::Of::Costs;

struct SeenBy {
  std::string_view quantity;
  std::string_view numbers;
};

constexpr SeenBy kSeenBy[] = {
    {"reduction_bandwidth", "bytes ranks"},
    {"per_message_latency", "bytes ranks"},
    {"per_collective_latency", "calls"},
    {"per_tensor_negotiation", "calls ranks"},
    {"per_iteration_overhead", "shards"},
    {"communication_slowdown", "calls"},
    {"computing_slowdown", "calls"},
    {"nic_share", "nic"},
    {"host_bandwidth", "nic"},
    {"staging_bandwidth", "bytes ranks"},
    {"encode_factor", "elements density"},
    {"decode_factor", "elements density ranks"},
    {"encode_per_call", "calls elements density"},
    {"encode_per_tensor", "calls elements density"},
    {"encode_per_element", "calls elements density"},
    {"decode_per_call", "calls elements density"},
    {"decode_per_tensor", "calls elements density"},
    {"decode_per_rank", "calls elements ranks"},
};

/// The far ends of what the mechanism can do, as a stack's file would have them.
struct Bound {
  std::string_view quantity;
  std::string_view end;
};

constexpr Bound kBounds[] = {
    // Compute and collectives of a GPU share its memory and its multiprocessors. Half of them
    // doubles compute's time; a third triples that of a collective.
    {"communication_slowdown", "100%"},
    {"computing_slowdown", "200%"},
    {"late_start", "100%"},
    {"rank_spread", "15%"},
    {"nic_share", "10%"},
    // PCIe 1.0 of 4 lanes, as mining cards have it, carries 1 GB/s less its protocol. A copy in the
    // host's memory comes after it.
    {"staging_bandwidth", "500MBps"},
    // A slow core that others use, too.
    {"host_bandwidth", "50MBps"},
    // One slow core that reads two streams and writes one.
    {"reduction_bandwidth", "500MBps"},
};

std::vector<ScenarioQuantity> marked(std::vector<ScenarioQuantity> all) {
  const auto among = [](std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (ScenarioQuantity& quantity : all) {
    quantity.software = !among(kHardware, quantity.name);
    quantity.of_collectives = among(kOfCollectives, quantity.name);
    for (const SeenBy& seen : kSeenBy)
      if (seen.quantity == quantity.name) quantity.seen_by = seen.numbers;
    for (const Bound& bound : kBounds)
      if (bound.quantity == quantity.name) quantity.most = quantity.parse(bound.end);
  }
  return all;
}

}  // namespace

std::string ScenarioQuantity::range(double least, double most, int digits) const {
  const std::string one = text(std::max(0.0, least), digits);
  const std::string other = text(std::max(0.0, most), digits);
  return inverse ? other + " to " + one : one + " to " + other;
}

const std::vector<ScenarioQuantity>& all_scenario_quantities() {
  static const std::vector<ScenarioQuantity> kAll = marked({
      quantity<Rate>(
          "nic_bandwidth", "goodput of a NIC", kCluster, false,
          [](auto& s) -> auto& { return s.cluster.nic.bandwidth; }),
      quantity<Rate>(
          "intra_bandwidth", "between GPUs of a node", kCluster, false,
          [](auto& s) -> auto& { return s.cluster.intra.bandwidth; }),
      quantity<Rate>(
          "pcie_bandwidth", "shared by a node's GPUs", kCluster, false,
          [](auto& s) -> auto& { return s.cluster.pcie_bandwidth; }),
      quantity<Rate>(
          "reduction_bandwidth", "at which a rank adds up what it received", kCluster, false,
          [](auto& s) -> auto& { return s.cluster.reduction_bandwidth; }),
      quantity<Time>(
          "nic_latency", "one way between GPUs of two nodes", kCluster, false,
          [](auto& s) -> auto& { return s.cluster.nic.latency; }),
      quantity<Time>(
          "per_message_latency", "software time of every message", kCluster, true,
          [](auto& s) -> auto& { return s.cluster.per_message_latency; }),
      quantity<Time>(
          "per_collective_latency", "software time of every collective", kCluster, true,
          [](auto& s) -> auto& { return s.cluster.per_collective_latency; }),
      quantity<Time>(
          "per_tensor_negotiation", "of agreeing on a tensor before its collective", kCluster, true,
          [](auto& s) -> auto& { return s.cluster.per_tensor_negotiation; }),
      quantity<Time>(
          "per_iteration_overhead", "software time of every iteration", kCluster, true,
          [](auto& s) -> auto& { return s.cluster.per_iteration_overhead; }),
      quantity<Time>(
          "per_tensor_overhead", "what the framework spends on each gradient tensor in backward",
          kCluster, true, [](auto& s) -> auto& { return s.cluster.per_tensor_overhead; }),
      quantity<Factor>(
          "shard_copy_passes",
          "of the GPU's memory by FSDP's copies of what it gathers or scatters", kCluster, false,
          [](auto& s) -> auto& { return s.cluster.shard_copy_passes; }),
      quantity<Share>(
          "rank_spread", "deviation of ranks' compute times: all wait for the slowest", kCluster,
          true, [](auto& s) -> auto& { return s.cluster.rank_spread; }),
      quantity<Share>(
          "communication_slowdown", "of backward while a collective runs", kCluster, true,
          [](auto& s) -> auto& { return s.cluster.communication_slowdown; }),
      quantity<Share>(
          "computing_slowdown", "of a collective while its GPU computes", kCluster, true,
          [](auto& s) -> auto& { return s.cluster.computing_slowdown; }),
      quantity<Share>(
          "late_start", "share of backward that is over before the first collective begins",
          kCluster, true, [](auto& s) -> auto& { return s.cluster.late_start; }),
      quantity<ShareOfRate>(
          "nic_share", "of its NIC's bandwidth that the transport reaches", kCluster, true,
          [](auto& s) -> auto& { return s.cluster.nic_share; }),
      quantity<Rate>(
          "staging_bandwidth", "at which gathered bytes go through the host's memory", kCluster,
          false, [](auto& s) -> auto& { return s.cluster.staging_bandwidth; }),
      quantity<RateBeside>(
          "host_bandwidth", "at which a host's CPU sends and receives beside its NIC", kCluster,
          false, [](auto& s) -> auto& { return s.cluster.host_bandwidth; }),
      quantity<Factor>(
          "encode_factor", "encoding over what the cost table says", kCosts, false,
          [](auto& s) -> auto& { return s.codec.encode_factor; }),
      quantity<Factor>(
          "decode_factor", "decoding over what the cost table says", kCosts, false,
          [](auto& s) -> auto& { return s.codec.decode_factor; }),
      quantity<Time>(
          "encode_per_call", "what a call of the compressor takes beside its kernels", kCosts, true,
          [](auto& s) -> auto& { return s.codec.per_call; }),
      quantity<Time>(
          "encode_per_element", "what an element takes beside the kernels", kCosts, true,
          [](auto& s) -> auto& { return s.codec.per_element; }),
      quantity<Time>(
          "encode_per_tensor", "what encoding takes for each tensor beside its kernels", kCosts,
          true, [](auto& s) -> auto& { return s.codec.per_tensor; }),
      quantity<Time>(
          "decode_per_call", "what a call of decoding takes beside its kernels", kCosts, true,
          [](auto& s) -> auto& { return s.codec.decode_per_call; }),
      quantity<Time>(
          "decode_per_tensor", "what decoding takes for each tensor beside its kernels", kCosts,
          true, [](auto& s) -> auto& { return s.codec.decode_per_tensor; }),
      quantity<Time>(
          "decode_per_rank", "what a call of decoding takes for each rank's set", kCosts, true,
          [](auto& s) -> auto& { return s.codec.decode_per_rank; }),
  });
  return kAll;
}

const ScenarioQuantity& find_scenario_quantity(std::string_view name) {
  std::vector<std::string> known;
  for (const ScenarioQuantity& quantity : all_scenario_quantities()) {
    if (quantity.name == name) return quantity;
    known.emplace_back(quantity.name);
  }
  throw ValueError("unknown parameter '" + std::string(name) + "'" + did_you_mean(name, known) +
                   " (parameters: " + join(known) + ")");
}

}  // namespace gradcast
