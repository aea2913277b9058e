// The rate of a link and its round trip, as `iperf3 -J` writes them
// (https://software.es.net/iperf/).
#include <algorithm>
#include <limits>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/json_results.hpp"
#include "sim/import/network/network_facts.hpp"

namespace gradcast {
bool is_iperf3(std::string_view begin) {
  return begin.find("\"iperf 3") != std::string_view::npos ||
         (begin.find("\"test_start\"") != std::string_view::npos &&
          begin.find("\"num_streams\"") != std::string_view::npos);
}

NetworkFacts read_iperf3(const TextFile& file) {
  const std::string path = file.path.string();
  const Json document = parse_json(file.content, path);
  if (const Json& error = json_member(document, "error"); error.is_string())
    throw DataError(path, 0, "iperf3 failed: " + shortened(clean_text(json_line(error)), 100));
  const Json& end = json_member(document, "end");
  double bits = json_number(json_member(json_member(end, "sum_received"), "bits_per_second"));
  if (!(bits > 0))
    bits = json_number(json_member(json_member(end, "sum"), "bits_per_second"));  // UDP
  constexpr double kLeastBits = 1e3, kMostBits = 1e14;
  if (!(bits >= kLeastBits && bits <= kMostBits))
    throw DataError(path, 0, "has no rate (end, sum_received, bits_per_second) from 1e3 to 1e14");
  double round_trip = std::numeric_limits<double>::infinity();  // microseconds
  std::size_t streams = 0;
  if (const Json& all = json_member(end, "streams"); all.is_array())
    for (const Json& stream : all) {
      ++streams;
      const double its = json_number(json_member(json_member(stream, "sender"), "min_rtt"));
      if (its > 0) round_trip = std::min(round_trip, its);
    }
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
    facts.notes.inferred.push_back("nic_bandwidth: of " + std::to_string(streams) +
                                   " streams together, so that one may reach less");
  return facts;
}

}  // namespace gradcast
