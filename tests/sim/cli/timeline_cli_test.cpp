#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/base/gzip.hpp"
#include "sim/base/text_file.hpp"
#include "sim/engine/engine.hpp"
#include "sim/timeline/chrome_trace.hpp"
#include "sim/timeline/timeline_parts.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;
using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

namespace {

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A small run: its own time is 0.02 s.
Words small_run(const Words& more) {
  return joined({"simulate", "--model", "alexnet", "--nodes", "2", "--gpus-per-node", "2"}, more);
}

bool with_simgrid() { return find_engine("simgrid")->built(); }

std::string content_of(const std::filesystem::path& path) { return read_text_file(path).content; }

/// The largest difference, in microseconds, between the parts of a result and those of the slices
/// in its timeline, as the rank sees them that the result is seen from.
double astray(const Words& choices) {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "t.json").string();
  const Ran ran = gradcast_with(joined(
      {"simulate", "--model", "vgg-16", "--nodes", "2", "--format", "json", "--timeline", file},
      choices));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Json result = Json::parse(ran.out)["results"][0];
  const ChromeTrace trace = read_chrome_trace(file);
  CHECK(trace.world_size == 8);
  CHECK_FALSE(first_that_does_not_nest(trace));
  REQUIRE(trace.seen_from_rank);
  const std::string rank = std::to_string(*trace.seen_from_rank);
  const IterationResult parts = parts_of(trace, rank);
  double most = 0;
  const auto compare = [&](const char* name, Seconds its) {
    const double difference =
        1e6 * std::abs(result[std::string(name) + "_seconds"].get<double>() - its.count());
    CAPTURE(name, its.count());
    CHECK(difference < 1);
    most = std::max(most, difference);
  };
  compare("iteration", parts.iteration);
  compare("forward", parts.forward);
  compare("backward", parts.backward);
  compare("encode", parts.encode);
  compare("communication", parts.communication);
  compare("exposed_communication", parts.exposed_communication);
  compare("exposed_communication", marked_exposed(trace, rank));
  compare("decode", parts.decode);
  compare("update", parts.update);
  compare("overhead", parts.overhead);
  compare("wait", parts.wait);
  compare("hidden_codec", parts.hidden_codec);
  return most;
}

}  // namespace

// 8 ranks, 32 tensors.
TEST_CASE("slices of a timeline, read back, add up to the result's parts to a microsecond",
          "[cli]") {
  const TemporaryFolder folder;
  const std::string events = folder.write("events.csv",
                                          "event,target,at,lasting,value\n"
                                          "pause,rank 5,100ms,50ms,\nspeed,rank 7,0s,,90%\n");
  for (const Engine& engine : all_engines()) {
    if (!engine.built() || !engine.fluid.empty()) continue;
    const std::string name(engine.name);
    for (const char* compressor : {"dense", "topk"}) {
      CAPTURE(name, compressor);
      CHECK(astray({"--compressor", compressor, "--engine", name}) < 1);
      CHECK(astray({"--compressor", compressor, "--engine", name, "--overlap", "yes", "--fusion",
                    "cycle:5ms,64MiB", "--compute-jitter", "5%", "--events", events}) < 1);
      CHECK(astray({"--compressor", compressor, "--engine", name, "--overlap", "yes", "--fusion",
                    "layer", "--encode-stream", "side", "--encode-slowdown", "20%", "--queue",
                    "priority", "--events", events}) < 1);
      if (name != "analytic")  // it knows no collectives that share the network
        CHECK(astray({"--compressor", compressor, "--engine", name, "--overlap", "yes", "--fusion",
                      "layer", "--encode-stream", "side", "--queue", "priority",
                      "--network-streams", "2", "--compute-jitter", "5%"}) < 1);
    }
  }
}

TEST_CASE("a timeline is the same file every time, whatever it is called, and leaves no other",
          "[cli]") {
  const TemporaryFolder folder;
  const std::string first = (folder.path / "a.json").string();
  const std::string second = (folder.path / "b.json").string();
  const Ran ran = gradcast_with(small_run({"--timeline", first}));
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.err, Contains("the timeline of 4 ranks is in " + first));
  CHECK(gradcast_with(small_run({"--timeline", second, "-q"})).err.empty());
  CHECK(content_of(first) == content_of(second));
  CHECK(folder.files() == 2);
  const Json document = Json::parse(content_of(first));
  CHECK(document["otherData"]["schema"]["name"] == "gradcast/timeline");
  CHECK(document["otherData"]["inputs"].size() == 5);
  CHECK(document["otherData"]["seed"].is_null());
  // And nothing in the answer changes.
  CHECK(ran.out == gradcast_with(small_run({})).out);
  if (!gzip_built()) return;
  const std::string packed = (folder.path / "c.json.gz").string();
  CHECK(gradcast_with(small_run({"--timeline", packed})).exit_code == 0);
  CHECK(read_chrome_trace(packed).lanes.size() == 8);
}

TEST_CASE("a timeline shows the ranks that are asked for", "[cli]") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "a.json").string();
  const auto processes = [&](const char* ranks) {
    CHECK(gradcast_with(
              small_run({"--timeline", file, "--timeline-ranks", ranks, "--engine", "analytic"}))
              .exit_code == 0);
    std::string all;
    for (const TraceLane& lane : read_chrome_trace(file).lanes)
      if (lane.thread == "compute") all += lane.process_id + " ";
    return all;
  };
  CHECK(processes("1,3") == "1 3 ");
  CHECK(processes("0..2") == "0 1 2 ");
  CHECK(processes("all") == "0 1 2 3 ");
  CHECK(processes("one-per-class") == "0 ");
  refuses(small_run({"--timeline", file, "--timeline-ranks", "4"}), 2,
          "--timeline-ranks: there is no rank 4");
  refuses(small_run({"--timeline", file, "--timeline-ranks", "some"}), 2,
          "--timeline-ranks: 'some' is not a rank; ranks are");
  refuses(small_run({"--timeline-ranks", "all"}), 2, "--timeline, which is not given");
}

TEST_CASE("links' load is in the timeline where there are links", "[cli]") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "a.json").string();
  const Ran analytic = gradcast_with(small_run({"--timeline", file, "--engine", "analytic"}));
  CHECK_THAT(analytic.err, Contains("no counters of their load"));
  CHECK(read_chrome_trace(file).counters.empty());
  const Ran fluid = gradcast_with(small_run({"--timeline", file, "--engine", "flow-fluid"}));
  CHECK_THAT(fluid.err, Contains("only the first one's messages"));
  // Two nodes: all that a ring brings from one to the other, 2 x 3/4 of 4 x 61,100,840 bytes.
  CHECK(gradcast_with(small_run({"--timeline", file, "--engine", "flow-exact"})).exit_code == 0);
  const ChromeTrace exact = read_chrome_trace(file);
  const auto nic = std::find_if(exact.counters.begin(), exact.counters.end(),
                                [](const auto& each) { return each.name == "node1.nic0.down"; });
  REQUIRE(nic != exact.counters.end());
  CHECK(nic->series == "Gbps");
  double gigabits = 0;
  for (std::size_t i = 0; i + 1 < nic->samples.size(); ++i)
    gigabits += nic->samples[i].value *
                static_cast<double>(nic->samples[i + 1].at - nic->samples[i].at) / 1e9;
  CHECK(gigabits * 1e9 / 8 == Approx(1.5 * 4 * 61'100'840).epsilon(1e-5));
  CHECK(nic->samples.back().value == 0);
}

TEST_CASE("of several replicas the first has a timeline, of a lost run none", "[cli]") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "a.json").string();
  const Ran ran =
      gradcast_with(small_run({"--timeline", file, "--compute-jitter", "5%", "--replicas", "3"}));
  CHECK_THAT(ran.err, Contains("the timeline is of the first of 3 replicas"));
  CHECK(Json::parse(content_of(file))["otherData"]["seed"] == 1);
  const Ran one = gradcast_with(small_run({"--compute-jitter", "5%", "--format", "json"}));
  const ChromeTrace trace = read_chrome_trace(file);
  CHECK(parts_of(trace, std::to_string(*trace.seen_from_rank)).iteration.count() ==
        Approx(Json::parse(one.out)["results"][0]["iteration_seconds"].get<double>()));
  const std::string events =
      folder.write("events.csv", "event,target,at,lasting,value\npause,rank 1,1ms,,\n");
  const std::string lost = (folder.path / "lost.json").string();
  const Ran never = gradcast_with(small_run({"--timeline", lost, "--events", events}));
  INFO(never.err);
  CHECK(never.exit_code == 0);
  CHECK_THAT(never.err, Contains("no timeline or trace was written, because the run never ends"));
  CHECK_FALSE(std::filesystem::exists(lost));
}

TEST_CASE("SimGrid's own trace is whole, the same every time, and names no place", "[cli]") {
  if (!with_simgrid()) return;
  const TemporaryFolder folder;
  for (const char* name : {"a.paje", "b, c.paje"}) {
    const std::string file = (folder.path / name).string();
    const Ran ran = gradcast_with(small_run({"--paje", file}));
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.err, Contains("SimGrid's trace is in " + file));
  }
  CHECK(folder.files() == 2);
  const std::string trace = content_of(folder.path / "a.paje");
  CHECK(trace == content_of(folder.path / "b, c.paje"));
  CHECK_THAT(trace, Contains("PajeSetVariable") && Contains("node0.nic0_UP") &&
                        Contains("bandwidth_used") && !Contains(folder.path.string()));
}

// SimGrid 3.32 aborts when it traces the graph of a platform file's split-duplex links, and without
// the graph it knows the links, but not their load.
TEST_CASE("the links of a platform file are in both traces", "[cli]") {
  if (!with_simgrid()) return;
  const TemporaryFolder folder;
  const std::string platform = folder.write("p.xml", R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="10us"/>
  </zone>
</platform>
)");
  const std::string timeline = (folder.path / "t.json").string();
  const std::string paje = (folder.path / "t.paje").string();
  const Ran ran = gradcast_with({"simulate", "--model", "alexnet", "--cluster", platform,
                                 "--timeline", timeline, "--paje", paje});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const ChromeTrace trace = read_chrome_trace(timeline);
  REQUIRE(trace.counters.size() == 8);  // four links, both ways
  CHECK(trace.counters[0].name == "c_link_0_DOWN");
  CHECK(trace.counters[0].samples[0].value == 8);  // Gbps
  CHECK_THAT(content_of(paje), Contains("\"c_link_0\""));
  CHECK_THAT(ran.err, Contains("does not trace what split-duplex links of a platform file carry"));
}

TEST_CASE("traces that cannot be written are refused in one line", "[cli]") {
  refuses(small_run({"--timeline", "trace.txt"}), 2, "'trace.txt' should be the name of a .json");
  refuses(small_run({"--timeline", "a.json", "-o", "a.json"}), 2, "cannot be two files at once");
  refuses(small_run({"--timeline", "/nowhere/a.json"}), 1, "cannot write /nowhere/a.json");
  if (!gzip_built()) refuses(small_run({"--timeline", "a.json.gz"}), 5, "zlib1g-dev");
  if (!with_simgrid()) {
    refuses(small_run({"--paje", "t.paje"}), 5, "libsimgrid-dev");
    return;
  }
  refuses(small_run({"--paje", "t.paje", "--engine", "analytic"}), 2,
          "--paje: the engine 'analytic' writes none");
  refuses(small_run({"--paje", "/nowhere/a.paje"}), 1, "cannot write /nowhere/a.paje");
  refuses(small_run({"--timeline", "a.json", "--paje", "a.json"}), 2, "two files at once");
  // A full disk: SimGrid does not say so.
  const TemporaryFolder folder;
  const std::string file = (folder.path / "a.paje").string();
  const Ran full = gradcast_limited(small_run({"--paje", file}), 5'000);
  CHECK(full.exit_code == 1);
  CHECK_THAT(full.err, Contains("cannot write " + file));
  CHECK(folder.files() == 0);
}
