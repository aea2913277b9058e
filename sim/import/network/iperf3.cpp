// The rate of a link and its round trip, as `iperf3 -J` writes them
// (https://software.es.net/iperf/).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/import/network/json_results.hpp"
#include "sim/import/network/network_facts.hpp"

namespace gradcast {
namespace {

/// The parts of a result: that of -J has both, --json-stream writes them as events.
struct Iperf3Result {
  Json start, end;
};

bool is_iperf3_text(std::string_view begin) {
  const auto has = [&](std::string_view words) {
    return begin.find(words) != std::string_view::npos;
  };
  return has("[ ID] Interval") && (has("Connecting to host ") || has("Server listening on "));
}

[[noreturn]] void fail_as(const Json& error, const std::string& path) {
  throw DataError(path, 0, "iperf3 failed: " + shortened(clean_text(json_line(error)), 100));
}

Iperf3Result result_in(const TextFile& file) {
  const std::string path = file.path.string();
  const std::vector<JsonPart> parts = json_objects(file.content);
  if (parts.empty())
    throw DataError(path, 0,
                    is_iperf3_text(std::string_view(file.content).substr(0, kNetworkHead))
                        ? "is iperf3's text for people: run iperf3 with -J"
                        : "has no JSON of iperf3: run it with -J");
  Iperf3Result result;
  bool stream = false, whole = false;
  for (const JsonPart& part : parts) {
    const Json document = parse_json(part.text, path, part.line);
    if (const Json& error = json_member(document, "error"); error.is_string()) fail_as(error, path);
    const std::string event = json_line(json_member(document, "event"));
    const Json& data = json_member(document, "data");
    stream = stream || !event.empty();
    if (event == "error") fail_as(data, path);
    if (!event.empty()) {
      if (event == "start") result.start = data;
      if (event == "end") result.end = data;
      continue;
    }
    if (parts.size() > 1 && !json_member(document, "end").is_object()) continue;  // no result
    if (whole)
      throw DataError(path, part.line, "begins a second result: give each a file of its own");
    whole = true;
    result = {json_member(document, "start"), json_member(document, "end")};
  }
  if (stream && !result.end.is_object())
    throw DataError(path, 0, "has no event 'end': iperf3 was stopped before its end");
  return result;
}

/// True for a test of a host with itself.
bool is_loopback(const Json& start) {
  const auto loops = [](const std::string& host) {
    return host == "localhost" || host == "::1" || host.starts_with("127.") ||
           host.starts_with("::ffff:127.");
  };
  if (loops(json_line(json_member(json_member(start, "connecting_to"), "host")))) return true;
  const Json& connected = json_member(start, "connected");
  if (!connected.is_array()) return false;
  return std::any_of(connected.begin(), connected.end(), [&](const Json& stream) {
    const std::string remote = json_line(json_member(stream, "remote_host"));
    return loops(remote) ||
           (!remote.empty() && remote == json_line(json_member(stream, "local_host")));
  });
}

/// The rate of one direction in bits a second, without what got lost; 0 where none is said.
double rate_received(const Iperf3Result& result) {
  const double received =
      json_number(json_member(json_member(result.end, "sum_received"), "bits_per_second"));
  if (received > 0) return received;
  // Some versions have one sum for UDP: the sender's, with the share of its packets that got lost.
  const Json& sum = json_member(result.end, "sum");
  const Json& of_sender = json_member(sum, "sender");
  const bool reversed =
      json_number(json_member(json_member(result.start, "test_start"), "reverse")) > 0;
  const bool sent = of_sender.is_boolean() ? of_sender.get<bool>() : !reversed;
  const double lost = std::clamp(json_number(json_member(sum, "lost_percent")), 0., 100.);
  return json_number(json_member(sum, "bits_per_second")) * (sent ? 1 - lost / 100 : 1);
}

/// Throws DataError if the rate is that of the test's own limit: then the link may carry more.
void require_unlimited(double bits, double streams, const Json& test, const std::string& path) {
  const Json& said = json_member(test, "target_bitrate");
  const bool udp = json_line(json_member(test, "protocol")) == "UDP";
  constexpr double kUsualOfUdp = 1048576;
  const double target = (said.is_number() ? said.get<double>() : udp ? kUsualOfUdp : 0) * streams;
  constexpr double kNear = 0.1;
  if (!(target > 0) || std::abs(bits / target - 1) > kNear) return;
  throw DataError(path, 0,
                  "reaches the " + to_text(BytesPerSecond{rounded_to(4, target / 8)}) +
                      " that the test was told to send, so that the link may carry more: run "
                      "iperf3 without -b" +
                      (udp ? ", and UDP with -b 0 (its default is 1 Mbit/s)" : ""));
}

}  // namespace

bool is_iperf3(std::string_view begin) {
  return begin.find("\"iperf 3") != std::string_view::npos ||
         (begin.find("\"test_start\"") != std::string_view::npos &&
          begin.find("\"num_streams\"") != std::string_view::npos) ||
         is_iperf3_text(begin);
}

NetworkFacts read_iperf3(const TextFile& file) {
  const std::string path = file.path.string();
  const Iperf3Result result = result_in(file);
  if (is_loopback(result.start))
    throw DataError(path, 0,
                    "measures a host with itself, and no network: run iperf3 between two nodes");
  const double bits = rate_received(result);
  constexpr double kLeastBits = 1e3, kMostBits = 1e14;
  if (!(bits >= kLeastBits && bits <= kMostBits))
    throw DataError(path, 0, "has no rate (end, sum_received, bits_per_second) from 1e3 to 1e14");
  const Json& test = json_member(result.start, "test_start");
  const bool both = json_number(json_member(test, "bidir")) > 0;
  double round_trip = std::numeric_limits<double>::infinity();  // microseconds
  double streams = 0;
  if (const Json& all = json_member(result.end, "streams"); all.is_array())
    for (const Json& stream : all) {
      ++streams;
      const double its = json_number(json_member(json_member(stream, "sender"), "min_rtt"));
      if (its > 0) round_trip = std::min(round_trip, its);
    }
  if (both) streams = std::floor(streams / 2);  // half of them go the other way
  require_unlimited(bits, std::max(1., streams), test, path);
  NetworkFacts facts;
  facts.kind = "iperf3";
  facts.nodes = 2;
  facts.network_kind = NetworkKind::Tcp;
  facts.nic_bandwidth = BytesPerSecond{rounded_to(4, bits / 8)};
  constexpr double kLongestTrip = 60e6;
  if (round_trip <= kLongestTrip) facts.nic_latency = Seconds{rounded_to(3, round_trip / 2 * 1e-6)};
  facts.notes.used.push_back(noted_name(file) + ": the rate received" +
                             (facts.nic_latency ? ", and half of the least round trip" : ""));
  if (streams > 1)
    facts.notes.inferred.push_back("nic_bandwidth: of " + number_to_text(streams) +
                                   " streams together, so that one may reach less");
  if (both)
    facts.notes.inferred.push_back(
        "nic_bandwidth: of one direction while both were used (--bidir): alone it may reach more");
  return facts;
}

}  // namespace gradcast
