// Values of flags that are not typed: environment and config file.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/cli/command.hpp"
#include "sim/engine/engine.hpp"
#include "sim/options/command_info.hpp"
#include "sim/options/config.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

Ran with_variables(const std::vector<std::string>& variables,
                   const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"env"};
  words.insert(words.end(), variables.begin(), variables.end());
  words.emplace_back(GRADCAST_PROGRAM);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_process(words);
}

Json document(const Ran& ran) {
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

const std::vector<std::string> kSimulate{"simulate", "--model",  "alexnet", "--engine",
                                         "analytic", "--format", "json"};

std::vector<std::string> simulate_with(std::vector<std::string> more) {
  more.insert(more.begin(), kSimulate.begin(), kSimulate.end());
  return more;
}

}  // namespace

TEST_CASE("what is typed wins over the environment, that over the file, that over defaults",
          "[cli]") {
  TemporaryFolder folder;
  const std::string file =
      folder.write("mine.toml", "nodes = 2\nbatch = 16\n[simulate]\nbatch = 32\n");
  const auto nodes = [&](const std::vector<std::string>& variables,
                         const std::vector<std::string>& more) {
    return document(with_variables(variables, simulate_with(more)))["results"][0]["nodes"]
        .get<std::string>();
  };
  CHECK(nodes({}, {}) == "4");
  CHECK(nodes({}, {"--config", file}) == "2");
  CHECK(nodes({"GRADCAST_CONFIG=" + file}, {}) == "2");
  CHECK(nodes({"GRADCAST_NODES=8"}, {"--config", file}) == "8");
  CHECK(nodes({"GRADCAST_NODES=8"}, {"--config", file, "--nodes", "16"}) == "16");
  CHECK(nodes({"GRADCAST_CONFIG=" + file}, {"--config", "none"}) == "4");
  CHECK(nodes({"GRADCAST_NODES="}, {}) == "4");
  // The command's own table wins over what stands above the tables.
  const Json result = document(with_variables({}, simulate_with({"-c", file})));
  CHECK(result["results"][0]["batch"] == 32);
}

TEST_CASE("a folder stands for its gradcast.toml, and ./ for the folder", "[cli]") {
  TemporaryFolder folder;
  folder.write("cluster.csv",
               "property,value,source\nnodes,3,x\ngpus_per_node,1,x\nnic_bandwidth,1GBps,x\n"
               "nic_latency,5us,x\nintra_bandwidth,12GBps,x\nintra_latency,1us,x\n");
  folder.write("gradcast.toml",
               "model = 'alexnet'\ncluster = './cluster.csv'\n[decide]\ncompressor = 'topk'\n");
  const std::string place = folder.path.string();
  const Json result = document(with_variables({}, simulate_with({"-c", place})));
  CHECK(result["results"][0]["nodes"] == "3");
  const Ran decided = gradcast_with({"decide", place, "--density", "0.02"});
  INFO(decided.err);
  REQUIRE(decided.exit_code == 0);
  CHECK_THAT(decided.out, Contains("topk (density 0.02)") && !Contains("powersgd"));
  CHECK(decided.out == gradcast_with({"decide", "--config", place, "--density", "0.02"}).out);
  const Ran none = gradcast_with({"decide", "models"});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Contains("'models' is no folder with a gradcast.toml"));
  CHECK(gradcast_with({"decide", place, "-c", place}).exit_code == 2);
}

TEST_CASE("a result names what it was given, wherever that came from", "[cli]") {
  TemporaryFolder folder;
  const std::string file = folder.write(
      "mine.toml", "[simulate]\nnodes = 2\nnic-bandwidth = '25Gbps'\noverlap = true\n");
  const std::string kept = with_variables({}, simulate_with({"-c", file})).out;
  const std::string typed =
      gradcast_with({"simulate", "--overlap", "yes", "--nodes", "2", "--nic-bandwidth", "25Gbps",
                     "--model", "alexnet", "--engine", "analytic", "--format", "json"})
          .out;
  CHECK(kept == typed);
  CHECK_THAT(kept, !Contains("mine.toml"));
  CHECK(
      with_variables({"GRADCAST_OVERLAP=yes", "GRADCAST_NODES=2", "GRADCAST_NIC_BANDWIDTH=25Gbps"},
                     simulate_with({}))
          .out == typed);
}

TEST_CASE("a value of a file counts as given", "[cli]") {
  TemporaryFolder folder;
  const std::string file = folder.write("mine.toml", "[simulate]\npayload = '1MiB'\n");
  refuses({"simulate", "--model", "alexnet", "-c", file}, 2, "leave --model out");
}

TEST_CASE("flags without a value are true or false", "[cli]") {
  TemporaryFolder folder;
  const std::string on = folder.write("on.toml", "split = true\n");
  const std::string off = folder.write("off.toml", "split = false\n");
  const auto arguments_with = [](const std::vector<std::string>& variables,
                                 const std::string& file) {
    return document(with_variables(
        variables, {"compare", "--engine", "analytic", "-f", "json", "-q", "-c", file}))["argv"];
  };
  const Json plain = {"gradcast", "compare", "--engine", "analytic", "--format", "json"};
  const Json split = {"gradcast", "compare", "--split", "--engine", "analytic", "--format", "json"};
  CHECK(arguments_with({}, on) == split);
  CHECK(arguments_with({}, off) == plain);
  CHECK(arguments_with({"GRADCAST_SPLIT=false"}, on) == plain);
  CHECK(arguments_with({"GRADCAST_SPLIT=1"}, off) == split);
  const Ran ran = with_variables({"GRADCAST_SPLIT=maybe"}, {"compare"});
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Contains("GRADCAST_SPLIT: 'maybe' is not true or false"));
}

TEST_CASE("a config file that says what nobody knows is answered with 3, file and line", "[cli]") {
  TemporaryFolder folder;
  const auto refused = [&](const std::string& content, const std::string& says) {
    const std::string file = folder.write("mine.toml", content);
    refuses({"simulate", "--model", "alexnet", "-c", file}, 3, says);
  };
  refused("model = 'x'\nbtach = 2\n",
          "mine.toml:2: no command has a flag 'btach'; did you mean 'batch'?");
  refused("[simulate]\nworkers = 4\n", "mine.toml:2: 'simulate' has no flag 'workers'");
  refused("[simulat]\nnodes = 4\n",
          "mine.toml:1: there is no command 'simulat'; did you mean 'simulate'?");
  refused("output = 'x.csv'\n", "mine.toml:1: --output belongs on the command line");
  refused("[compare]\nsplit = 'yes'\n", "mine.toml:2: 'split' is on or off; write true or false");
  refused("nodes = []\n", "mine.toml:1: 'nodes' is an empty list");
  refused("nodes = [true]\n", "mine.toml:1: 'nodes' is no list of true and false");
  refused("nodes = \n", "mine.toml:1: this is not TOML");
  refused("\nnodes = 0\n", "mine.toml:2: 'nodes': '0' is not a count");
  refused("model = ''\n[simulate]\nbatch = ''\n", "mine.toml:3: 'batch': the value is empty");
  refused("format = 'xml'\n", "mine.toml:1: 'format': 'xml' is not table, csv or json");
  refuses({"list", "--config", (folder.path / "none.toml").string()}, 3,
          "none.toml: cannot read this file: No such file");
  const Ran ran = with_variables({"GRADCAST_NODES=many"}, kSimulate);
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Contains("GRADCAST_NODES: 'many' is not a whole number"));
}

TEST_CASE("a wrong config file is no reason not to help", "[cli]") {
  TemporaryFolder folder;
  const std::string variable = "GRADCAST_CONFIG=" + folder.write("mine.toml", "nonsense\n");
  for (const char* word : {"--help", "help", "--version", "man"})
    CHECK(with_variables({variable}, {word}).exit_code == 0);
  CHECK(with_variables({variable}, {"simulate", "--help"}).exit_code == 0);
  CHECK(with_variables({variable}, {"completion", "bash"}).exit_code == 0);
  CHECK(with_variables({variable}, {"list"}).exit_code == 3);
}

TEST_CASE("lists of a config file are those of a flag", "[cli]") {
  TemporaryFolder folder;
  const std::string file = folder.write("mine.toml", "workers = [1, 16]\nmodels = ['a', 'b']\n");
  const Json rows = document(gradcast_runs("config", "-c", file.c_str(), "-f", "json"))["results"];
  REQUIRE(rows.size() >= 2);
  const auto value_of = [&](const std::string& flag) {
    for (const Json& row : rows)
      if (row["command"] == "calibrate" && row["flag"] == flag) return row["value"];
    return Json();
  };
  CHECK(value_of("workers") == "1,16");
  CHECK(value_of("models") == "a,b");
}

TEST_CASE("config shows each value and what it comes from", "[cli]") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "gradcast");
  const std::string file = folder.write("gradcast/config.toml", "\nnodes = 2\n");
  const std::vector<std::string> variables{
      "-u", "GRADCAST_CONFIG", "XDG_CONFIG_HOME=" + folder.path.string(), "GRADCAST_BATCH=64"};
  const Json rows =
      document(with_variables(variables, {"config", "simulate", "-f", "json"}))["results"];
  const auto origin_of = [&](const std::string& flag) {
    for (const Json& row : rows)
      if (row["flag"] == flag) return row["from"].get<std::string>();
    return std::string("not shown");
  };
  CHECK(origin_of("nodes") == file + ":2");
  CHECK(origin_of("batch") == "GRADCAST_BATCH");
  CHECK(origin_of("density") == "default");
  CHECK(origin_of("model") == "not shown");
  const Ran all = with_variables(variables, {"config"});
  CHECK_THAT(all.out, Contains("GRADCAST_BATCH") && !Contains("default"));
  CHECK_THAT(all.err, Contains("the config file is " + file));
  refuses({"config", "simulat"}, 2, "did you mean 'simulate'?");
}

// A flag --data has no variable: $GRADCAST_DATA is the folder of models and traces.
TEST_CASE("a variable that means something else is no flag's", "[cli]") {
  gradcast::CommandInfo command;
  for (const char* name : {"data", "python", "config", "depth"}) {
    gradcast::FlagInfo flag;
    flag.name = name;
    flag.value = "VALUE";
    command.flags.push_back(flag);
  }
  const char* const before = std::getenv("GRADCAST_DATA");
  const std::string data = before == nullptr ? "" : before;
  setenv("GRADCAST_DATA", "/a/folder", 1);
  setenv("GRADCAST_DEPTH", "3", 1);
  const std::vector<gradcast::KeptValue> kept = gradcast::kept_values(command, "none");
  unsetenv("GRADCAST_DEPTH");
  setenv("GRADCAST_DATA", data.c_str(), 1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].flag == "depth");
  CHECK(kept[0].value == "3");
}

TEST_CASE("every flag of every command can be kept, but for those of one run only", "[cli]") {
  CHECK(gradcast::variable_of("nic-bandwidth") == "GRADCAST_NIC_BANDWIDTH");
  const std::set<std::string> of_one_run = {"output",   "config", "help", "shard",
                                            "timeline", "paje",   "plot"};
  for (const gradcast::CommandInfo& command : gradcast::describe_all())
    for (const gradcast::FlagInfo& flag : command.flags)
      CHECK(gradcast::may_be_kept(flag.name) == !of_one_run.contains(flag.name));
}
