// `gradcast import` as a user runs it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/base/gzip.hpp"
#include "sim/base/text_file.hpp"
#include "sim/import/kineto/event_reader.hpp"
#include "tests/run_program.hpp"
#include "tests/sim/import/toy_fsdp.hpp"
#include "tests/sim/import/toy_run.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kA100 =
    GRADCAST_SOURCE_DIR "/tests/sim/import/traces/resnet50-ddp-a100x2.json.gz";

bool can_read() { return kineto::event_reader_built() && gzip_built(); }

/// The commands under "Next:", as words.
std::vector<std::vector<std::string>> next_of(const std::string& out) {
  std::vector<std::vector<std::string>> commands;
  for (std::size_t at = out.find("  gradcast "); at != std::string::npos;
       at = out.find("  gradcast ", at + 1)) {
    std::istringstream line(out.substr(at, out.find('\n', at) - at));
    std::vector<std::string> words;
    for (std::string word; line >> word;) words.push_back(word);
    words.erase(words.begin());
    commands.push_back(words);
  }
  return commands;
}

}  // namespace

TEST_CASE("an import prints what it knows, and the commands that go on from there work") {
  if (!can_read()) return;
  const TemporaryFolder folder;
  const std::string my = (folder.path / "my").string();
  const Ran ran = gradcast_runs("import", kA100, "-o", my, "--name", "resnet");
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("77 % of the step the GPU waits for the host: a faster GPU or "
                               "network changes little"));
  CHECK_THAT(ran.out, Contains("2049000, 7875584, 6563840, 6637568, 2431040"));
  CHECK_THAT(ran.out, Contains("one rank only, of 2: collectives include waiting"));
  CHECK(std::filesystem::exists(folder.path / "my/models/resnet.csv"));
  CHECK(std::filesystem::exists(folder.path / "my/platforms/resnet.csv"));
  const auto commands = next_of(ran.out);
  REQUIRE(commands.size() == 3);
  for (std::vector<std::string> words : commands) {
    words.insert(words.end(), {"--engine", "analytic", "-q"});
    const Ran next = gradcast_with(words);
    CAPTURE(words, next.err);
    CHECK(next.exit_code == 0);
  }
}

TEST_CASE("a fully sharded run goes on with the sharded schedule") {
  if (!can_read()) return;
  const TemporaryFolder folder;
  const std::string file = folder.write("fsdp.json", ToyFsdp{}.text());
  const Ran ran = gradcast_runs("import", file, "-o", (folder.path / "my").string());
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  const auto commands = next_of(ran.out);
  REQUIRE(commands.size() == 3);
  CHECK(commands[1].front() == "decide");
  for (std::vector<std::string> words : commands) {
    words.insert(words.end(), {"--engine", "analytic", "-q"});
    const Ran next = gradcast_with(words);
    CAPTURE(words, next.err);
    CHECK(next.exit_code == 0);
  }
}

// Its own measured step, on its own cluster: by physics alone within a tenth.
TEST_CASE("what an import says of a run forecasts that run") {
  if (!can_read()) return;
  const TemporaryFolder folder;
  REQUIRE(
      gradcast_runs("import", kA100, "-o", folder.path.string(), "--name", "resnet").exit_code ==
      0);
  const Ran ran =
      gradcast_runs("compare", "--measured", (folder.path / "traces/measured-resnet.csv").string(),
                    "--engine", "analytic", "--format", "json", "-q");
  REQUIRE(ran.exit_code == 0);
  const auto row = nlohmann::json::parse(ran.out)["results"][0];
  CHECK(row["measured_seconds"].get<double>() == Approx(0.220893));
  CHECK(row["predicted_seconds"].get<double>() == Approx(0.220893).epsilon(0.1));
}

TEST_CASE("GRADCAST_DATA finds what was imported by its names") {
  if (!can_read()) return;
  const TemporaryFolder folder;
  REQUIRE(
      gradcast_runs("import", kA100, "-o", folder.path.string(), "--name", "resnet").exit_code ==
      0);
  setenv("GRADCAST_DATA", folder.path.c_str(), 1);
  const Ran ran = gradcast_runs("list");
  unsetenv("GRADCAST_DATA");
  CHECK_THAT(ran.out, Contains("resnet") && Contains("iteration-resnet-nvidia-a100-pg509-200") &&
                          Contains("measured-resnet") && !Contains("BROKEN"));
}

TEST_CASE("list and selftest know the measured times of collectives") {
  const TemporaryFolder folder;
  const std::string log =
      std::string(GRADCAST_SOURCE_DIR) + "/traces/examples/nccl-tests-8-nodes.log";
  REQUIRE(gradcast_runs("import", log.c_str(), "-o", folder.path.string(), "--name", "mine")
              .exit_code == 0);
  std::ostringstream cluster;
  cluster << std::ifstream(folder.path / "platforms/mine.csv").rdbuf();
  CHECK_THAT(cluster.str(), Contains("gpu,a100-40gb,inferred: NVIDIA A100-SXM4-40GB"));
  std::filesystem::create_directory(folder.path / "models");
  setenv("GRADCAST_DATA", folder.path.c_str(), 1);
  const Ran list = gradcast_runs("list");
  const Ran selftest = gradcast_runs("selftest");
  unsetenv("GRADCAST_DATA");
  CHECK_THAT(list.out, Contains("file of collectives  collectives-mine") &&
                           Contains("measured times of all-reduce, up to 8 nodes"));
  CHECK_THAT(selftest.out, Contains("data: traces/collectives-*.csv"));
}

// 220.893 - 110.893 = 110 ms are taken from the 170.449 that the GPU waits for its host.
TEST_CASE("--iteration-seconds takes the profiler's share from the host") {
  if (!can_read()) return;
  const TemporaryFolder folder;
  const Ran ran = gradcast_runs("import", kA100, "-o", folder.path.string(), "--iteration-seconds",
                                "0.110893", "--format", "json", "-q");
  REQUIRE(ran.exit_code == 0);
  const auto row = nlohmann::json::parse(ran.out)["results"][0];
  CHECK(row["window_seconds"].get<double>() == Approx(0.110893));
  CHECK(row["backward_seconds"].get<double>() == Approx(0.02524).epsilon(0.001));
  CHECK(row["host_seconds"].get<double>() == Approx(0.060449).epsilon(0.001));
}

TEST_CASE("the result has the figures, in JSON and as a row of CSV") {
  if (!can_read()) return;
  const TemporaryFolder folder;
  const Ran json =
      gradcast_runs("import", kA100, "-o", folder.path.string(), "--format", "json", "-q");
  const auto row = nlohmann::json::parse(json.out)["results"][0];
  CHECK(row["kind"] == "kineto");
  CHECK(row["world_size"] == 2);
  CHECK(row["linked"] == 3774);
  CHECK(row["gradients"] == 161);
  CHECK(row["elements"] == 25'557'032);
  CHECK(row["shapes"] == "inferred");
  const Ran csv =
      gradcast_runs("import", kA100, "-o", folder.path.string(), "--format", "csv", "-q");
  CHECK_THAT(csv.out, Contains("2049000 7875584 6563840 6637568 2431040"));
}

TEST_CASE("an import that fails writes nothing") {
  if (!can_read()) return;
  const TemporaryFolder folder;
  const auto refuses_text = [&](const std::string& text, const std::string& says) {
    const std::string file = folder.write("trace.json", text);
    refuses({"import", file, "-o", (folder.path / "my").string()}, 3, says);
    CHECK_FALSE(std::filesystem::exists(folder.path / "my"));
  };
  const std::string whole = ToyRun{}.text();
  refuses_text(whole.substr(0, whole.size() / 2), "is cut off");
  refuses_text("", "is empty");
  refuses_text("tensor,elements\na,1\n", "is none of the kinds that can be imported");
  refuses_text(R"({"schema":"1.0.1","nodes":[]})", "is none of the kinds");
  // The head of an archive's entry has 512 bytes: its name, numbers, and at 257 the format's name.
  std::string archive = "trace.json";
  archive.resize(257);
  archive += "ustar  ";
  archive.resize(512);
  refuses_text(archive + whole, "is a tar archive; unpack it (tar -xf)");
  Gzip packed;
  packed.add(archive + whole);
  refuses_text(packed.finish(), "is a tar archive");
  ToyRun none;
  none.step_name = "";
  none.gradients = none.optimizer = false;
  refuses_text(none.text(), "has no steps (ProfilerStep#N), and no gradients");
  ToyRun vast;  // 2^40 elements
  vast.gradient_dims[0] = R"("Input Dims":[[1048576,1048576]])";
  refuses_text(vast.text(), "says what no forecast can use");
  refuses({"import", "no-such.json", "-o", "my"}, 3, "no such file");
  refuses({"import", folder.path.string(), "-o", "my"}, 3, "is not a regular file");
}

TEST_CASE("flags of an import that make no sense are refused") {
  refuses({"import"}, 2, "a file is missing");
  refuses({"import", kA100}, 2, "-o is missing");
  refuses({"import", kA100, "-o", "my", "--name", "../x"}, 2, "cannot name files");
  refuses({"import", kA100, "-o", "my", "--kind", "kinet"}, 2, "did you mean 'kineto'?");
  if (!can_read()) return;
  const TemporaryFolder folder;
  const std::string my = (folder.path / "my").string();
  refuses({"import", kA100, "-o", my, "--gpus-per-node", "3"}, 2, "2 ranks do not fill");
  refuses({"import", kA100, "-o", my, "--iteration-seconds", "0"}, 2, "is no time of a step");
  CHECK_FALSE(std::filesystem::exists(my));
}

TEST_CASE("a training log goes from import over learn to a forecast") {
  const TemporaryFolder folder;
  const std::string my = (folder.path / "my").string();
  const std::string log = GRADCAST_SOURCE_DIR "/tests/sim/import/logs/titan-colours.log";
  const Ran ran = gradcast_runs("import", log, "-o", my, "--name", "ours", "--model", "llama-3-8b",
                                "--cluster", "dgx-h100", "--compute-seconds", "1.1s");
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("parameters sharded over 8 ranks by FSDP2 (sharding fsdp)"));
  const std::string measured = my + "/traces/measured-ours.csv";
  const auto commands = next_of(ran.out);
  REQUIRE(commands.size() == 2);
  CHECK(commands[1] == std::vector<std::string>{"learn", measured, "-o", "my-cluster"});
  CHECK(gradcast_with(commands[0]).exit_code == 0);
  const Ran learned = gradcast_runs("learn", measured, "-o", my, "-q");
  CAPTURE(learned.err);
  REQUIRE(learned.exit_code == 0);
  const auto forecast = next_of(learned.out);
  REQUIRE(forecast.size() == 1);
  CHECK(gradcast_with(forecast[0]).exit_code == 0);
}

TEST_CASE("logs of two machines are refused by their GPUs, and told by their times") {
  const TemporaryFolder folder;
  const std::string log =
      std::string(GRADCAST_SOURCE_DIR) + "/traces/examples/nccl-tests-8-nodes.log";
  const std::string text = gradcast::read_text_file(log).content;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    for (std::size_t at = other.find(from); at != std::string::npos; at = other.find(from, at + 1))
      other.replace(at, from.size(), to);
    REQUIRE(other != text);
    return folder.write("other.log", other);
  };
  const std::string a10 = changed("NVIDIA A100-SXM4-40GB", "NVIDIA A10");
  const Ran refused = gradcast_runs("import", log, a10, "-o", folder.path.string());
  CHECK(refused.exit_code == 2);
  CHECK(refused.err == "gradcast: " + log + " is of NVIDIA A100-SXM4-40GB, " + a10 +
                           " of NVIDIA A10: a cluster has GPUs of one kind; import each by "
                           "itself\n");
  const std::string sockets = "node0:1:1 [0] NCCL INFO Using network Socket\n";
  const std::string slow = folder.write("slow.log", sockets + text);
  const std::string fast =
      folder.write("fast.log", "node0:1:1 [0] NCCL INFO Using network IB\n" + text);
  const Ran told = gradcast_runs("import", fast, slow, "-o", folder.path.string());
  CHECK(told.exit_code == 0);
  CHECK(told.err ==
        "gradcast: the files name two networks, infiniband and tcp: the last one is taken; are all "
        "files of one cluster?\n");
}

TEST_CASE("a log of nccl-tests may be packed") {
  if (!gzip_built()) return;
  const TemporaryFolder folder;
  Gzip packed;
  packed.add(gradcast::read_text_file(std::string(GRADCAST_SOURCE_DIR) +
                                      "/traces/examples/nccl-tests-8-nodes.log")
                 .content);
  const Ran ran = gradcast_runs("import", folder.write("all.log.gz", packed.finish()), "-o",
                                folder.path.string(), "--name", "mine");
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("all-reduce on 8 x"));
}

TEST_CASE("a training log may be packed, and have zeros where a node crashed") {
  if (!gzip_built()) return;
  const TemporaryFolder folder;
  Gzip packed;
  packed.add("step: 1  loss: 9.0  tps: 50  mfu: 1%\nstep: 2  loss: 9.0  tps: 8,000  mfu: 1%\n");
  packed.add(std::string("step: 3  loss: 9.0  tps: 7,0\0\0 mfu: 1%\n", 39));
  const Ran ran = gradcast_runs("import", folder.write("run.log.gz", packed.finish()), "-o",
                                folder.path.string(), "--model", "llama-3-8b", "--cluster",
                                "dgx-h100", "--compute-seconds", "7s", "--nodes", "2", "--batch",
                                "2", "--sequence", "8000");
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("2 x 8      2           1   2.0000"));
  CHECK_THAT(ran.out, Contains("1 iteration without a whole number"));
  CHECK(std::filesystem::exists(folder.path / "traces/measured-run.csv"));
}

TEST_CASE("flags of training logs are for them, and a wrong one ends the import") {
  const TemporaryFolder folder;
  const std::string log = GRADCAST_SOURCE_DIR "/tests/sim/import/logs/titan-colours.log";
  const auto refuses_with = [&](std::vector<std::string> more, const char* says) {
    more.insert(more.begin(), {"import", log, "-o", folder.path.string()});
    refuses(more, 2, says);
  };
  refuses_with({}, "give --model (it trains 'llama3 8B'), --cluster and");
  refuses_with({"--model", "llama-38b"}, "did you mean 'llama-3-8b'?");
  refuses_with({"--model", "llama-3-8b", "--cluster", "dgx-h100", "--compute-seconds", "0s"},
               "takes more than 0 s");
  refuses_with({"--model", "lenet-5", "--cluster", "dgx-h100", "--trace", "none"}, "--trace");
  refuses_with({"--tokens", "3"}, "--tokens is for checkpoints and ONNX");
  refuses_with({"--tick", "1ns"}, "--tick is for text workloads");
  refuses({"import", folder.write("graph.txt", "node1 -- Input0 -- forward_compute_time=0, "), "-o",
           folder.path.string(), "--compute-seconds", "1s"},
          2, "--compute-seconds is for training logs");
}

TEST_CASE("a build without the JSON library says what is missing") {
  if (kineto::event_reader_built()) return;
  const TemporaryFolder folder;
  refuses({"import", folder.write("t.json", "[{\"ph\":\"X\"}]"), "-o", "my"}, 5, "simdjson");
}

// 1,000 blanks pack into a few bytes.
TEST_CASE("a gzip bomb is refused before it fills the memory") {
  if (!can_read()) return;
  Gzip gzip;
  gzip.add("{\"traceEvents\": [");
  const std::string blanks(std::size_t{1} << 20, ' ');
  for (int i = 0; i < 64; ++i) gzip.add(blanks);
  const TemporaryFolder folder;
  const std::string file = folder.write("bomb.json.gz", gzip.finish());
  refuses({"import", file, "-o", "my", "--kind", "kineto"}, 3, "unpacks to more than");
}

TEST_CASE("an execution trace without an optimizer's lists has nothing to write, and says so") {
  const TemporaryFolder folder;
  const std::string trace = folder.write(
      "et.json",
      R"({"schema": "1.1.0-chakra.0.0.4", "start_ts": 1, "nodes": [{"id": 2, "name": "aten::mm", )"
      R"("ctrl_deps": 1, "inputs": {"values": [], "shapes": [], "types": []}, "attrs": []}]})");
  refuses({"import", trace, "-o", (folder.path / "my").string()}, 3,
          "et.json: has nothing that could be written; not known: the model: no foreach");
  CHECK(folder.files() == 1);
}
