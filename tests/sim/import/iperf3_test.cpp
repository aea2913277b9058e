// Results of iperf3 -J.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/written.hpp"
#include "tests/sim/import/network_imports.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::string result(const std::string& test, const std::string& end,
                   const std::string& remote = "10.0.0.2") {
  return R"({"start":{"version":"iperf 3.16","connected":[{"local_host":"10.0.0.1","remote_host":")" +
         remote + R"("}],"test_start":{)" + test + R"(}},"intervals":[],"end":{)" + end + "}}\n";
}

const std::string kTcp = R"("protocol":"TCP","num_streams":1,"reverse":0,"target_bitrate":0)";
const std::string kTenGigabits =
    R"("streams":[{"sender":{"min_rtt":40}}],"sum_received":{"bits_per_second":1e10})";

double rate_of(const std::string& text) {
  return network_of({text}).cluster->cluster.nic.bandwidth.value;
}

}  // namespace

TEST_CASE("iperf3 gives a link's rate and half of its round trip", "[network]") {
  // 9.4 Gb/s are 1.175 GB/s.
  const Imported imported = network_of(
      {R"({"start":{"version":"iperf 3.16","test_start":{"protocol":"TCP","num_streams":1}},
           "end":{"streams":[{"sender":{"min_rtt":52,"mean_rtt":80}}],
                  "sum_received":{"bits_per_second":9.4e9}}})"});
  const Cluster& cluster = imported.cluster->cluster;
  CHECK(cluster.nic.bandwidth.value == Approx(1.175e9));
  CHECK(cluster.nic.latency.count() == Approx(26e-6));
  CHECK(cluster.network_kind == NetworkKind::Tcp);
  CHECK(cluster.nodes == 2);
  const ImportedFiles files = files_of(imported, "m", shape_of(imported, {}), "my", {});
  CHECK(files.files.size() == 1);  // no collective was measured
  require_readable(files);

  CHECK_THROWS_WITH(network_of({R"({"start":{"test_start":{"num_streams":1}},
                                     "error":"unable to connect to server"})"}),
                    Contains("iperf3 failed: unable to connect to server"));
  CHECK_THROWS_WITH(network_of({R"({"start":{"version":"iperf 3.16"},"end":{}})"}),
                    Contains("has no rate"));
}

TEST_CASE("packets of UDP that got lost are no part of the rate", "[network]") {
  const auto sum = [](const char* rest) {
    return std::string(R"("streams":[{"udp":{}}],"sum":{"bits_per_second":2.5e10)") + rest + "}";
  };
  const std::string udp = R"("protocol":"UDP","num_streams":1,"target_bitrate":0,"reverse":0)";
  const std::string reversed = R"("protocol":"UDP","num_streams":1,"target_bitrate":0,"reverse":1)";
  // 40 % of 25 Gb/s are 1.25 GB/s.
  CHECK(rate_of(result(udp, sum(R"(,"lost_percent":60,"sender":true)"))) == Approx(1.25e9));
  CHECK(rate_of(result(udp, sum(R"(,"lost_percent":60)"))) == Approx(1.25e9));
  CHECK(rate_of(result(reversed, sum(R"(,"lost_percent":60)"))) == Approx(3.125e9));
  CHECK(rate_of(result(udp, sum(R"(,"lost_percent":60,"sender":false)"))) == Approx(3.125e9));
  CHECK(rate_of(result(udp, sum(R"(,"lost_percent":60,"sender":true)") +
                                R"(,"sum_received":{"bits_per_second":8e9})")) == Approx(1e9));
}

TEST_CASE("a rate that the test was told to send is no link's", "[network]") {
  const auto limited = [](const char* protocol, const char* bitrate) {
    return std::string(R"("protocol":")") + protocol + R"(","num_streams":2)" + bitrate;
  };
  const auto streams = [](const char* sum) { return std::string(R"("streams":[{},{}],)") + sum; };
  // Two streams of 5 Gb/s.
  CHECK_THROWS_WITH(rate_of(result(limited("TCP", R"(,"target_bitrate":5000000000)"),
                                   streams(R"("sum_received":{"bits_per_second":9.9e9})"))),
                    Contains("reaches the 10Gbps that the test was told to send") &&
                        Contains("run iperf3 without -b"));
  CHECK(rate_of(result(limited("TCP", R"(,"target_bitrate":5000000000)"),
                       streams(R"("sum_received":{"bits_per_second":8e9})"))) == Approx(1e9));
  const std::string megabits = streams(R"("sum":{"bits_per_second":2097000,"sender":true})");
  for (const char* bitrate : {R"(,"target_bitrate":1048576)", ""})
    CHECK_THROWS_WITH(rate_of(result(limited("UDP", bitrate), megabits)),
                      Contains("UDP with -b 0 (its default is 1 Mbit/s)"));
}

TEST_CASE("streams of --bidir that go the other way are not counted", "[network]") {
  const Imported imported =
      network_of({result(kTcp + R"(,"bidir":1)",
                         R"("streams":[{"sender":{"min_rtt":40}},{"sender":{"min_rtt":0}}],
         "sum_received":{"bits_per_second":8e9},
         "sum_received_bidir_reverse":{"bits_per_second":9e9})")});
  CHECK(imported.cluster->cluster.nic.bandwidth.value == Approx(1e9));
  CHECK(imported.cluster->cluster.nic.latency.count() == Approx(20e-6));
  const std::string notes = join(imported.notes.inferred);
  CHECK_THAT(notes, Contains("of one direction while both were used (--bidir)"));
  CHECK_THAT(notes, !Contains("streams together"));
}

TEST_CASE("a host measured with itself is refused", "[network]") {
  for (const char* host : {"127.0.0.1", "127.0.1.1", "::1", "localhost", "10.0.0.1"})
    CHECK_THROWS_WITH(rate_of(result(kTcp, kTenGigabits, host)),
                      Contains("measures a host with itself, and no network"));
}

TEST_CASE("a result is found behind other lines, and a second one is not taken", "[network]") {
  const std::string one = result(kTcp, kTenGigabits);
  CHECK(rate_of("warning: UDP block size 1460 exceeds TCP MSS 1448\n" + one) == Approx(1.25e9));
  CHECK_THROWS_WITH(rate_of("\n" + one + one),
                    Contains("0.log:3: begins a second result: give each a file of its own"));
  const std::string stream = R"({"event":"start","data":{"version":"iperf 3.17","test_start":{)" +
                             kTcp + "}}}\n" + R"({"event":"interval","data":{"sum":{}}})" + "\n";
  CHECK(rate_of(stream + R"({"event":"end","data":{)" + kTenGigabits + "}}\n") == Approx(1.25e9));
  CHECK_THROWS_WITH(rate_of(stream), Contains("has no event 'end'"));
  CHECK_THROWS_WITH(rate_of(stream + R"({"event":"error","data":"unable to connect"})"),
                    Contains("iperf3 failed: unable to connect"));
  CHECK_THROWS_WITH(rate_of("Connecting to host 10.0.0.2, port 5201\n[ ID] Interval    Transfer\n"),
                    Contains("is iperf3's text for people: run iperf3 with -J"));
}
