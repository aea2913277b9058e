// Costs of compressing where a CPU computes: a GPU's are a guess there, and no verdict rests on
// them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

/// Two hosts of one CPU each over 400 Mb/s, as a probe writes them.
class CpuCluster {
 public:
  explicit CpuCluster(const std::string& more = "") {
    write("model.csv", "layer,tensor,elements,forward_flops\nfc,fc.weight,6000000,0\n");
    write("trace.csv",
          "# device: Intel(R) Xeon(R) Processor\n# batch: 32\n# update: "
          "2277us\ntensor,forward_seconds,backward_seconds\n"
          "fc.weight,0.03,0.03\n");
    write("cluster.csv",
          "property,value,source\nnodes,2,a\ngpus_per_node,1,a\nnic_bandwidth,400Mbps,a\n"
          "nic_latency,287us,a\nintra_bandwidth,16Gbps,a\nintra_latency,30us,a\n"
          "network_kind,tcp,a\n" +
              more);
    write("costs.csv",
          "# device: CPU\ncompressor,mode,implementation,tensors,elements,density,workers,"
          "distribution,selected,encode_seconds,encode_p95_seconds,decode_seconds,"
          "decode_p95_seconds,samples,evidence\n"
          "topk,,gradcast-cpu,1,6000000,0.01,2,normal,60000,0.03,0.03,0.002,0.002,5,measured\n");
  }

  std::string path(const std::string& name) const { return (scratch_.path / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    gradcast::write_text_file(path(name), text);
  }

  std::vector<std::string> asks(const std::string& command,
                                const std::vector<std::string>& more) const {
    std::vector<std::string> words{
        command,     "--model",           path("model.csv"), "--trace",  path("trace.csv"),
        "--cluster", path("cluster.csv"), "--stack",         "ddp-gloo", "--density",
        "0.01"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Ran run(const std::string& command, const std::vector<std::string>& more) const {
    const Ran ran = gradcast_with(asks(command, more));
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    return ran;
  }

 private:
  TemporaryFolder scratch_;
};

constexpr const char* kMeasure =
    "the kernels of int8 on this CPU (gradcast calibrate --device cpu)";

}  // namespace

TEST_CASE("a compressor that nobody timed on the CPU is a guess, and never surely pays",
          "[cli][cpu_costs]") {
  const UsersPreset users;
  const CpuCluster cluster;
  for (const std::vector<std::string>& costs : {std::vector<std::string>{},
                                                {"--costs", cluster.path("costs.csv")},
                                                {"--costs", "cost-v100-derived"}}) {
    CAPTURE(costs);
    std::vector<std::string> asked{"--compressor", "int8"};
    asked.insert(asked.end(), costs.begin(), costs.end());
    const Ran simulated = cluster.run("simulate", asked);
    CHECK_THAT(simulated.out, !Contains("surely pays") &&
                                  Contains("cannot be told: measure " + std::string(kMeasure)) &&
                                  Contains("guessed for a CPU"));
    CHECK_THAT(simulated.out, !Contains("derived from the simulated V100"));
    asked.insert(asked.end(), {"--format", "json"});
    const Json options = Json::parse(cluster.run("decide", asked).out)["results"];
    bool seen = false;
    for (const Json& option : options) {
      if (!option["option"].get<std::string>().starts_with("int8")) continue;
      seen = true;
      CHECK(option["verdict"] == "cannot be told");
      CHECK(option["measure"] == kMeasure);
    }
    CHECK(seen);
  }
  const Ran broken = cluster.run("breakeven", {"--compressor", "int8", "--over", "nic-bandwidth"});
  CHECK_THAT(broken.out, !Contains("surely pays") && Contains(kMeasure));
  const Ran swept = cluster.run("sweep", {"--compressor", "dense,int8", "--format", "csv"});
  CHECK_THAT(swept.out, Contains("cannot be told") && Contains(kMeasure));
  CHECK_THAT(swept.out, !Contains("surely"));
}

TEST_CASE("guessed costs widen the forecast from 10 to 2500 times a GPU's", "[cli][cpu_costs]") {
  const UsersPreset users;
  const CpuCluster cluster;
  const Json row = Json::parse(
      cluster.run("simulate", {"--compressor", "int8", "--format", "json"}).out)["results"][0];
  // 6 million elements take a V100 about 0.2 ms, and so a CPU 2 ms to 0.5 s.
  CHECK(row["interval_high_seconds"].get<double>() - row["interval_low_seconds"].get<double>() >
        0.2);
}

TEST_CASE("costs that were timed on the CPU are no guess", "[cli][cpu_costs]") {
  const UsersPreset users;
  const CpuCluster cluster;
  const Ran simulated =
      cluster.run("simulate", {"--compressor", "topk", "--costs", cluster.path("costs.csv")});
  CHECK_THAT(simulated.out, !Contains("guess") && !Contains("calibrate --device cpu"));
}

TEST_CASE("a GPU that is named compresses, whatever computed the trace", "[cli][cpu_costs]") {
  const UsersPreset users;
  const CpuCluster cluster("gpu,v100,a\n");
  const Ran simulated = cluster.run("simulate", {"--compressor", "int8"});
  CHECK_THAT(simulated.out, !Contains("guess"));
}
