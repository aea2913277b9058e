// A cluster file that names measured times of collectives.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/engine/engine.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/request.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

constexpr const char* kCluster =
    "property,value,source\nnodes,4,x\ngpus_per_node,2,x\nnic_bandwidth,1GBps,x\nnic_latency,5us,"
    "x\n"
    "intra_bandwidth,12GBps,x\nnetwork_kind,infiniband,x\nmeasured_collectives,times.csv,x\n";
// 25 MiB in 100 ms, and all ranks' 8 MiB in 30 ms.
constexpr const char* kTimes =
    "collective,nodes,gpus_per_node,bytes,library,seconds\n"
    "all-reduce,4,2,26214400,nccl-2.27.5,0.1\nall-gather,4,2,8388608,nccl-2.27.5,0.03\n";

struct Given {
  TemporaryFolder folder{};
  DataFiles files = DataFiles::standard();

  Given() { folder.write("times.csv", kTimes); }

  Request request(Bytes payload, const char* collective = "nccl") {
    Request request;
    request.cluster = folder.write("mine.csv", kCluster);
    request.payload = payload;
    request.collective = collective;
    return request;
  }
  double seconds(const Request& request, const Engine& engine) {
    return evaluate(make_scenario(request, files), engine).result.iteration.count();
  }
};

}  // namespace

TEST_CASE("a collective alone takes its measured time in every engine", "[measured_collectives]") {
  Given given;
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    CAPTURE(engine.name);
    CHECK(given.seconds(given.request(Bytes{26214400}), engine) == Approx(0.1).epsilon(1e-3));
    // An all-gather's payload is a rank's part: an eighth.
    CHECK(given.seconds(given.request(Bytes{1048576}, "nccl-all-gather"), engine) ==
          Approx(0.03).epsilon(1e-3));
  }
}

// Two GPUs of a node then have 6.7 GB/s in place of 12, below the NIC's 10.
TEST_CASE("so does one of several GPUs whose links inside nodes are a guess",
          "[measured_collectives]") {
  Given given;
  for (const char* gpus : {"1", "2"}) {
    Request request = given.request(Bytes{26214400});
    request.cluster = given.folder.write(
        "guess.csv", "property,value,source,deviation\nnodes,4,x,\ngpus_per_node," +
                         std::string(gpus) +
                         ",x,\nnic_bandwidth,10GBps,x,\nnic_latency,5us,x,\n"
                         "intra_bandwidth,12GBps,x,45%\nnetwork_kind,infiniband,x,\n"
                         "measured_collectives,times.csv,x,\n");
    request.changed = {{"gpus_per_node", "2"}};
    CHECK(make_scenario(request, given.files).cluster.intra.bandwidth == BytesPerSecond{6.7e9});
    CHECK(given.seconds(request, *find_engine("analytic")) == Approx(0.1).epsilon(1e-3));
  }
}

// A ring for each NIC shares links inside nodes. The closed form counts the most loaded link, but
// messages one by one leave gaps to each other: 8 MiB take 183 us so, and 210 us by the formula.
TEST_CASE("so does one whose messages are faster one by one than in the closed form",
          "[measured_collectives]") {
  Given given;
  given.folder.write("times.csv",
                     "collective,nodes,gpus_per_node,bytes,library,seconds\n"
                     "all-reduce,2,4,8388608,nccl-2.27.5,0.001\n");
  for (const Engine& engine : all_engines()) {
    if (!engine.built()) continue;
    CAPTURE(engine.name);
    Request request = given.request(Bytes{8388608});
    request.cluster = given.folder.write(
        "rails.csv",
        "property,value,source\nnodes,2,x\ngpus_per_node,4,x\nnics_per_node,2,x\n"
        "nic_bandwidth,424Gbps,x\nnic_latency,15us,x\nintra_bandwidth,1920Gbps,x\n"
        "network_kind,infiniband,x\nmeasured_collectives,times.csv,x\n");
    CHECK(given.seconds(request, engine) == Approx(0.001).epsilon(1e-3));
  }
}

// Without measured times the interval of a collective alone is some 0.7 to 1.5 times the forecast.
TEST_CASE("where a log is smooth, a collective's interval is as narrow as the log",
          "[measured_collectives]") {
  Given given;
  given.folder.write("times.csv",
                     "collective,nodes,gpus_per_node,bytes,library,seconds\n"
                     "all-reduce,4,2,1000000,nccl-2.27.5,0.002\n"
                     "all-reduce,4,2,2000000,nccl-2.27.5,0.003\n"
                     "all-reduce,4,2,4000000,nccl-2.27.5,0.005\n"
                     "all-reduce,4,2,8000000,nccl-2.27.5,0.009\n"
                     "all-reduce,4,2,16000000,nccl-2.27.5,0.017\n");
  const auto width = [&](Bytes payload) {
    Request request = given.request(payload);
    request.today = true;
    const Scenario scenario = make_scenario(with_defaults(request, given.files), given.files);
    const Evaluation its = evaluate(scenario, *find_engine("analytic"));
    REQUIRE(its.interval);
    return (its.interval->high - its.interval->low) / its.result.iteration;
  };
  CHECK(width(Bytes{3'000'000}) == Approx(2 * 2.015 * 0.02).epsilon(0.05));  // t with 5 degrees
  CHECK(width(Bytes{64'000'000}) > 0.5);                                     // beyond the log
}

TEST_CASE("measured times may be switched off, and an algorithm by name has none",
          "[measured_collectives]") {
  Given given;
  const Engine& analytic = *find_engine("analytic");
  Request off = given.request(Bytes{26214400});
  off.changed.push_back({"measured_collectives", "none"});
  CHECK(given.seconds(off, analytic) < 0.09);  // 2 x 7/8 of 26.2 MB at 1 GB/s are 46 ms
  CHECK(given.seconds(given.request(Bytes{26214400}, "ring-all-reduce"), analytic) < 0.09);
}

TEST_CASE("the words of a forecast say how it rests on measured times", "[measured_collectives]") {
  Given given;
  const auto words = [&](Request request) {
    return assumed_words(request, make_scenario(request, given.files));
  };
  CHECK_THAT(words(given.request(Bytes{26214400})), Contains("all-reduce as measured (times.csv)"));
  CHECK_THAT(words(given.request(Bytes{26214400}, "ring-all-reduce")),
             Contains("measured times unused: the collective is named (times.csv)"));
  Request more = given.request(Bytes{26214400});
  more.changed.push_back({"nodes", "64"});
  CHECK_THAT(words(more), Contains("by the model, scaled by times measured on 4 nodes"));
}

TEST_CASE("a file of measured times that is not there is named", "[measured_collectives]") {
  const TemporaryFolder folder;
  DataFiles files = DataFiles::standard();
  Request request;
  request.cluster = folder.write("mine.csv", kCluster);
  request.payload = Bytes{1024};
  CHECK_THROWS_WITH(make_scenario(request, files), Contains("times.csv"));
}

TEST_CASE("the file of measured times is an input of the answer", "[measured_collectives]") {
  Given given;
  make_scenario(given.request(Bytes{1024}), given.files);
  bool found = false;
  for (const InputFile& input : given.files.inputs())
    found = found || input.path.filename() == "times.csv";
  CHECK(found);
}
