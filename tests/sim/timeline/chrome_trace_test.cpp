#include "sim/timeline/chrome_trace.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/gzip.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

ChromeTrace read(const std::string& text) {
  const TemporaryFolder folder;
  return read_chrome_trace(folder.write("trace.json", text));
}

std::string packed(const std::string& text) {
  Gzip gzip;
  gzip.add(text);
  return gzip.finish();
}

const std::string kTwoLanes = R"([
  {"ph":"M","name":"process_name","pid":10,"tid":0,"args":{"name":"rank 10"}},
  {"ph":"M","name":"thread_name","pid":10,"tid":7,"args":{"name":"compute"}},
  {"ph":"X","name":"b","cat":"kernel","pid":10,"tid":7,"ts":2.5,"dur":1.25,
   "args":{"phase":"backward","grid":[1,[2,{"x":3}]],"stream":7}},
  {"ph":"X","name":"a","pid":10,"tid":7,"ts":1,"dur":1},
  {"ph":"X","name":"c","pid":"2","tid":"Spans","ts":"3.001","dur":"0.5"},
  {"ph":"C","name":"link","pid":16,"ts":0.004,"args":{"Gbps":9.5,"note":"no number"}},
  {"ph":"C","name":"link","pid":16,"ts":0.002,"args":{"Gbps":1}},
  {"ph":"s","id":1,"cat":"x","name":"y","pid":10,"tid":7,"ts":2},
  {"ph":"i","name":"Record Window End","pid":"","tid":"","ts":5},
  {"name":"no phase at all"}
])";

}  // namespace

TEST_CASE("a trace's slices, names and counters are read, and all else is passed over") {
  for (const std::string& text :
       {kTwoLanes, R"({"schemaVersion":1,"deviceProperties":[{"id":0,"x":[{}]}],"traceEvents":)" +
                       kTwoLanes + R"(,"distributedInfo":{"rank":0,"world_size":16},
                     "otherData":{"seen_from_rank":3,"notes":["as it is"]}})"}) {
    const ChromeTrace trace = read(text);
    REQUIRE(trace.lanes.size() == 2);
    CHECK(trace.lanes[0].process_id == "2");  // by number, though the file has it as text
    CHECK(trace.lanes[0].thread_id == "Spans");
    CHECK(trace.lanes[0].process.empty());
    CHECK(trace.lanes[0].slices[0].span == Span{3001, 3501});
    const TraceLane* lane = trace.find("10", "compute");
    REQUIRE(lane == &trace.lanes[1]);
    CHECK(lane->process == "rank 10");
    REQUIRE(lane->slices.size() == 2);
    CHECK(lane->slices[0].name == "a");  // by date, not as they stand
    CHECK(lane->slices[0].span == Span{1000, 2000});
    CHECK(lane->slices[1].span == Span{2500, 3750});
    CHECK(lane->slices[1].category == "kernel");
    CHECK(lane->slices[1].phase == "backward");
    REQUIRE(trace.counters.size() == 1);
    CHECK(trace.counters[0].series == "Gbps");
    CHECK(trace.counters[0].samples[0].at == 2);
    CHECK(trace.counters[0].samples[1].value == 9.5);
    CHECK_FALSE(first_that_does_not_nest(trace));
    CHECK(trace.world_size == (text == kTwoLanes ? std::nullopt : std::optional(16)));
    CHECK(trace.seen_from_rank == (text == kTwoLanes ? std::nullopt : std::optional(3)));
    CHECK(trace.notes.size() == (text == kTwoLanes ? 0 : 1));
  }
}

TEST_CASE("slices that Perfetto would drop are found in somebody else's trace") {
  const ChromeTrace trace = read(R"([{"ph":"X","name":"a","pid":1,"tid":2,"ts":0,"dur":5},
    {"ph":"X","name":"fine","pid":1,"tid":3,"ts":4.999,"dur":5},
    {"ph":"X","name":"b","pid":1,"tid":2,"ts":4.999,"dur":5}])");
  const auto wrong = first_that_does_not_nest(trace);
  REQUIRE(wrong);
  CHECK(wrong->lane == "1, 2");
  CHECK(wrong->outer.name == "a");
  CHECK(wrong->inner.name == "b");
}

TEST_CASE("packed traces read as unpacked ones do, in one member or several") {
  if (!gzip_built()) return;
  const TemporaryFolder folder;
  const std::size_t middle = kTwoLanes.size() / 2;
  for (const std::string& bytes :
       {packed(kTwoLanes), packed(kTwoLanes.substr(0, middle)) + packed(kTwoLanes.substr(middle)),
        packed(kTwoLanes) + std::string(512, '\0')})
    CHECK(read_chrome_trace(folder.write("t.json.gz", bytes)).lanes.size() == 2);
}

TEST_CASE("a file that is no trace is refused, with its place") {
  const auto refusal = [](const std::string& text) {
    try {
      read(text);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK_THAT(refusal("[\n{\"ph\":\"M\"},\noops]"),
             Contains("trace.json:3: is no whole JSON: byte 15"));
  CHECK_THAT(refusal("{\"traceEvents\":["), Contains("trace.json:1:") && Contains("should go on"));
  CHECK_THAT(refusal(""), Contains("is no whole JSON"));
  CHECK_THAT(refusal("{\"results\":[]}"), Contains("neither an array of events nor"));
  CHECK_THAT(refusal("17"), Contains("neither an array of events nor"));
  CHECK_THAT(refusal("{\"traceEvents\":17}"), Contains("neither an array of events nor"));
  CHECK_THAT(refusal(R"([{},{"ph":"X","name":"a","dur":1}])"),
             Contains("event 2: \"ts\" of 'a' is missing"));
  CHECK_THAT(refusal(R"([{"ph":"X","name":"a","ts":1,"dur":-1}])"), Contains("is negative"));
  // The end of these would be beyond an int64 of nanoseconds.
  CHECK_THAT(refusal(R"([{"ph":"X","name":"a","ts":8999999999999999,"dur":8999999999999999}])"),
             Contains("event 1: \"ts\" of 'a' is 8999999999999999, not microseconds"));
  CHECK(refusal(R"([{"ph":"X","name":"a","ts":4e15,"dur":4e15}])") == "none");
  for (const char* time : {"\"soon\"", "null", "[]", "1e300", "18446744073709551615", "\"inf\""})
    CHECK_THAT(refusal(R"([{"ph":"X","name":"a","dur":1,"ts":)" + std::string(time) + "}]"),
               Contains("event 1: \"ts\" of 'a' is ") && Contains(", not microseconds"));
  CHECK_THROWS_AS(read_chrome_trace("/nowhere/trace.json"), DataError);
  CHECK_THROWS_AS(read_chrome_trace("/"), DataError);
}
