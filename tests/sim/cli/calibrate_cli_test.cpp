// `gradcast calibrate` as a user runs it, on the CPU.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "kernels/gpu.hpp"
#include "sim/calibration/points.hpp"
#include "sim/inputs/cost_table.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using namespace gradcast;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> calibrate(const std::string& models, const std::string& out,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"calibrate", "--device", "cpu", "--models", models,
                                     "--seconds", "0.002",    "-o",  out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string small_model(const TemporaryFolder& folder) {
  return folder.write("small.csv",
                      "layer,tensor,elements,forward_flops\n"
                      "a,a.w,20000,1\na,a.b,100,0\nb,b.w,7000,1\nc,c.w,3000,1\n");
}

std::string content(const std::string& path) { return read_text_file(path).content; }

std::multiset<std::string> keys(const std::string& path) {
  std::multiset<std::string> keys;
  for (const CostRow& row : load_cost_table(read_text_file(path)).rows) keys.insert(key_of(row));
  return keys;
}

std::size_t lines(const std::string& path) {
  if (!std::filesystem::exists(path)) return 0;
  const std::string text = content(path);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The program, running. `out_path`: where standard output goes.
struct Running {
  pid_t child;

  explicit Running(const std::vector<std::string>& arguments,
                   const std::string& out_path = "/dev/null")
      : child(fork()) {
    if (child != 0) return;
    std::vector<char*> argv{const_cast<char*>("gradcast")};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(open(out_path.c_str(), O_RDWR | O_CREAT, 0600), STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    execv(GRADCAST_PROGRAM, argv.data());
    _exit(127);
  }

  /// The exit code, or the negative signal.
  int wait() const {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

void wait_for_lines(const std::string& path, std::size_t wanted) {
  for (int i = 0; i < 15000 && lines(path) < wanted; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  REQUIRE(lines(path) >= wanted);
}

/// An interpreter that takes the place of Python and torch.
struct FakePython {
  explicit FakePython(const TemporaryFolder& folder, const std::string& script) {
    const std::string path = folder.write("python", "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    setenv("GRADCAST_PYTHON", path.c_str(), 1);
  }
  ~FakePython() { unsetenv("GRADCAST_PYTHON"); }
};

constexpr const char* kTorchGreets = "echo '{\"torch\": \"9.9\", \"device\": \"fake\"}'\n";
constexpr const char* kTorchAnswers =
    "echo '{\"encode\": [0.5, 0.6, 20], \"decode\": [[0.1, 0.2, 20]], \"selected\": 1, "
    "\"recall\": 1, \"variant\": \"\"}'\n";
constexpr const char* kTorchAnswersNoDecode =
    "echo '{\"encode\": [0.5, 0.6, 20], \"decode\": [], \"selected\": 1, \"recall\": 1}'\n";

}  // namespace

TEST_CASE("costs that were measured here are what simulate forecasts with", "[cli]") {
  TemporaryFolder folder;
  const std::string costs = (folder.path / "costs.csv").string();
  const Ran measured = gradcast_with(
      calibrate("resnet-50", costs, {"--compressors", "gaussian", "--workers", "1,16"}));
  INFO(measured.err);
  REQUIRE(measured.exit_code == 0);
  const Ran ran = gradcast_runs("simulate", "--model", "resnet-50", "--costs", costs.c_str(),
                                "--compressor", "gaussian", "--format", "json");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Json result = Json::parse(ran.out)["results"][0];
  CHECK(result["evidence"] == "measured");
  CHECK(result["implementation"] == "gradcast-cpu");
  CHECK(result["mode"] == "code");
  CHECK(result["encode_seconds"] > 0);
  CHECK_THAT(ran.err, Contains("compressing was timed on ") && Contains("the model on V100"));

  // Every distinct tensor, the model as one, its buckets, and its 161 tensors in one call.
  std::set<std::pair<int, std::int64_t>> sizes;
  double merged = 0;
  for (const CostRow& row : load_cost_table(read_text_file(costs)).rows) {
    sizes.insert({row.tensors, row.elements});
    if (row.tensors == 1 && row.elements == 25'557'032 && row.mode == "code")
      merged = row.encode.count();
    CHECK(row.samples >= 3);
    CHECK(row.encode_p95 >= row.encode);
    CHECK((row.selected > 0 || row.elements < 10'000));  // of few elements it may select none
  }
  CHECK(sizes.contains({161, 25'557'032}));
  CHECK(sizes.contains({1, 64}));
  CHECK(sizes.contains({1, 2'048'000}));
  CHECK(result["encode_seconds"].get<double>() == Approx(merged));
  for (const char* said :
       {"# device: ", "# driver: ", "# toolkit: ", "# clocks: ", "# gradcast: ", "# seed: 1\n",
        "# date: 2", "# command: gradcast calibrate --device cpu "})
    CHECK_THAT(content(costs), Contains(said));
}

TEST_CASE("after ctrl-C the same command goes on, and ends with what it would have had", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string whole = (folder.path / "whole.csv").string();
  const std::string parts = (folder.path / "parts.csv").string();
  const std::vector<std::string> more{"--compressors", "topk,gaussian", "--workers", "1,4"};
  REQUIRE(gradcast_with(calibrate(model, whole, more)).exit_code == 0);
  const auto expected = keys(whole);
  CHECK(expected.size() == 6 * 3 * 2);  // 4 tensors, merged, all in one call; 3 compressors; 2 rows

  for (const int signal : {SIGINT, SIGTERM}) {
    const std::size_t before = lines(parts);
    const Running run(calibrate(model, parts, more));
    wait_for_lines(parts, std::max<std::size_t>(before + 4, 16));
    kill(run.child, signal);
    CHECK(run.wait() == 130);
    CHECK(keys(parts).size() < expected.size());
  }
  const std::string kept = content(parts);
  const Ran last = gradcast_with(calibrate(model, parts, more));
  CHECK(last.exit_code == 0);
  CHECK(content(parts).starts_with(kept));
  CHECK(keys(parts) == expected);
  CHECK_THAT(last.err, Contains(" of 18 points are in ") && !Contains("\r"));

  const std::string done = content(parts);
  const Ran again = gradcast_with(calibrate(model, parts, more));
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.err, Contains("nothing to do: 18 of 18 points are in "));
  CHECK(content(parts) == done);
}

TEST_CASE("killed at any moment, the table is whole and nothing in it is lost", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string costs = (folder.path / "costs.csv").string();
  const std::vector<std::string> more{"--compressors", "topk,gaussian", "--workers", "1,4"};
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::string kept;
  for (int i = 0; i < 5; ++i) {
    const Running run(calibrate(model, costs, more));
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution<int>(1, 800)(random)));
    kill(run.child, SIGKILL);
    run.wait();
    if (!std::filesystem::exists(costs)) continue;
    CHECK_NOTHROW(load_cost_table(read_text_file(costs)));
    CHECK(content(costs).starts_with(kept));
    kept = content(costs);
  }
  CHECK(gradcast_with(calibrate(model, costs, more)).exit_code == 0);
  CHECK(content(costs).starts_with(kept));
  const auto all = keys(costs);
  CHECK(all.size() == 36);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == 36);
}

TEST_CASE("interrupted before the first point, calibrate leaves no file", "[cli]") {
  TemporaryFolder folder;
  const std::string costs = (folder.path / "costs.csv").string();
  // 1000 samples of this take a minute.
  const std::string model =
      folder.write("one.csv", "layer,tensor,elements,forward_flops\na,a.w,5000000,1\n");
  const Running run({"calibrate", "--device", "cpu", "--models", model, "-o", costs,
                     "--compressors", "topk", "--workers", "1", "--seconds", "600"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(run.child, SIGINT);
  CHECK(run.wait() == 130);
  CHECK_FALSE(std::filesystem::exists(costs));
}

TEST_CASE("a file that is not this machine's table is never overwritten", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const auto refused = [&](const std::string& text, const std::string& says) {
    const std::string path = folder.write("other.csv", text);
    refuses(calibrate(model, path), 3, says);
    CHECK(content(path) == text);
  };
  refused("dear diary\n", "other.csv:1: ");
  refused(content(std::string(GRADCAST_SOURCE_DIR) + "/traces/cost-v100-pytorch-1.1.csv"),
          "other.csv: lacks the comment line '# device: ...'");

  const std::vector<std::string> less{"--compressors", "topk", "--workers", "1"};
  const std::string costs = (folder.path / "costs.csv").string();
  REQUIRE(gradcast_with(calibrate(model, costs, less)).exit_code == 0);
  std::vector<std::string> seeded = less;
  seeded.insert(seeded.end(), {"--seed", "2"});
  refuses(calibrate(model, costs, seeded), 3, "its seed is '1', here it is '2'; name another file");
  refuses(calibrate(model, costs, {"--compressors", "topk", "--workers", "1,2"}), 3,
          "has rows of 1 workers, asked for are 1,2");
  // More of the same machine goes into the same file.
  CHECK(gradcast_with(calibrate(model, costs, {"--compressors", "randk", "--workers", "1"}))
            .exit_code == 0);
  CHECK_THAT(content(costs), Contains("\n# then: gradcast calibrate "));
  CHECK(keys(costs).size() == 12);
}

TEST_CASE("what cannot hold the table is refused before anything is measured", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string pipe = (folder.path / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink(pipe, folder.path / "link");
  for (const std::string& path :
       {pipe, (folder.path / "link").string(), folder.path.string(), std::string("/dev/zero")})
    refuses(calibrate(model, path), 2,
            "--output: '" + path + "' is not a regular file; the table grows in one");
  refuses(calibrate(model, (folder.path / "no" / "costs.csv").string()), 2,
          "--output: there is no folder '" + (folder.path / "no").string() + "'");
  if (geteuid() == 0) return;  // root may write anywhere
  const auto closed = folder.path / "closed";
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(
      closed, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  refuses(calibrate(model, (closed / "costs.csv").string()), 1,
          "cannot write into the folder " + closed.string() + ": Permission denied");
}

TEST_CASE("ctrl-C in a view prints what was measured, and answers with 130", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string trace =
      folder.write("trace.csv",
                   "# device: X\n# batch: 1\ntensor,forward_seconds,backward_seconds\n"
                   "a.w,1,0\na.b,0,1\nb.w,1,1\nc.w,1,0\n");
  // A torch that answers three times and then never: the fourth point does not end by itself.
  const std::string hangs = (folder.path / "hangs").string();
  const FakePython torch(folder, std::string(kTorchGreets) + "for i in 1 2 3; do\nread -r line\n" +
                                     kTorchAnswersNoDecode + "done\nread -r line\n: > " + hangs +
                                     "\nsleep 60\n");
  const auto interrupted = [&](std::vector<std::string> view) {
    std::filesystem::remove(hangs);
    const std::string out = (folder.path / "out.json").string();
    std::filesystem::remove(out);
    view.insert(view.begin(),
                {"calibrate", "--device", "cpu", "--seconds", "0.002", "--compressors",
                 "topk,randk,trimmed", "--baselines", "torch", "--format", "json"});
    const Running run(view, out);
    for (int i = 0; i < 15000 && !std::filesystem::exists(hangs); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    REQUIRE(std::filesystem::exists(hangs));
    kill(run.child, SIGINT);
    CHECK(run.wait() == 130);
    return Json::parse(content(out))["results"];
  };
  int torch_rows = 0;
  for (const Json& row : interrupted({"--roofline", "--models", model}))
    torch_rows += row["implementation"] == "torch" ? 1 : 0;
  CHECK(torch_rows == 3);
  torch_rows = 0;
  for (const Json& row : interrupted({"--per-layer", model, "--trace", trace}))
    torch_rows += row["implementation"] == "torch" && !row["encode_seconds"].is_null() ? 1 : 0;
  CHECK(torch_rows == 3);
}

TEST_CASE("a wrong calibrate command is answered with 2 and what would be right", "[cli]") {
  TemporaryFolder folder;
  const std::string out = (folder.path / "x.csv").string();
  const auto refused = [&](const std::vector<std::string>& more, const std::string& says) {
    std::vector<std::string> arguments{"calibrate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    refuses(arguments, 2, says);
  };
  refused({"--device", "cpux"}, "--device: unknown device 'cpux'; did you mean 'cpu'?");
  refused({"--device", "gpu:x"}, "--device: 'x' is not a whole number");
  refused({"--models", "resnet50"},
          "--models: unknown model 'resnet50'; did you mean 'resnet-50'?");
  refused({"--compressors", "topk,gausian"},
          "unknown compressor 'gausian'; did you mean 'gaussian'?");
  refused({"--compressors", "dense"}, "'dense' encodes nothing");
  refused({"--distributions", "norml"}, "unknown distribution 'norml'; did you mean 'normal'?");
  refused({"--densities", "0.1..0.01"}, "--densities: the range '0.1..0.01' does not rise");
  refused({"--densities", "2"}, "--densities: '2' is not a density");
  refused({"--workers", "0"}, "--workers: '0' is not a count from 1 to 16384");
  refused({"--baselines", "tourch"}, "unknown baseline 'tourch'; did you mean 'torch'?");
  refused({"--seconds", "0"}, "--seconds: '0' is not a number of seconds above 0");
  refused({"--seed", "-1"}, "--seed: '-1' is not a number from 0");
  refused({"--sweep=false"}, "--sweep takes no value");
  refused({"--sweep=yes"}, "--sweep takes no value");
  refused({"--device", "gpu:"}, "--device: 'gpu:' lacks the number; write gpu:1");
  refused({"--densities", "0.01.."}, "--densities: the range '0.01..' has no end");
  refused({"--seconds", "1s"},
          "--seconds: '1s' has a unit, and this is a number of seconds; write '1'");
  refused({"--seconds", "500ms"}, "write '0.5'");
  refused({"--per-layer", "none"}, "--per-layer: unknown model 'none'");
  refused({"--per-layer", "resnet-50,vgg-16"}, "--per-layer: 'resnet-50,vgg-16' is a list");
  refused({"--per-layer", "resnet-50", "--workers", "4"}, "--workers does not go with --per-layer");
  refused({"--roofline", "--workers", "4"}, "--workers does not go with --roofline");
  refused({"--models", "none"}, "leaves nothing to measure");
  refused({"--per-layer", "resnet-50", "--sweep"}, "--sweep does not go with --per-layer");
  refused({"--per-layer", "resnet-50", "-o", out}, "--output does not go with --per-layer");
  refused({"--roofline", "-o", out}, "--output does not go with --roofline");
  refused({"--trace", "x"}, "--trace is of --per-layer");
  refused({"--output", "-"}, "'-' is none");
  CHECK(folder.files() == 0);
}

TEST_CASE("where there is no GPU, calibrate says how to do without", "[cli]") {
  if (!gpu_devices().empty()) return;
  for (const std::vector<std::string>& device :
       std::vector<std::vector<std::string>>{{}, {"--device", "gpu"}, {"--device", "gpu:3"}}) {
    std::vector<std::string> arguments{"calibrate"};
    arguments.insert(arguments.end(), device.begin(), device.end());
    refuses(arguments, 5, "--device cpu");
  }
}

TEST_CASE("the table goes to its file and the summary to standard output, in any format", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string costs = (folder.path / "costs.csv").string();
  const std::vector<std::string> less{"--compressors", "topk", "--workers", "1"};
  const Ran table = gradcast_with(calibrate(model, costs, less));
  CHECK_THAT(table.out, Catch::StartsWith("compressor ") && Contains("gradcast-cpu"));
  CHECK_THAT(table.err, Contains("measuring 6 on ") && Contains(", at least 1 s\n"));
  CHECK_THAT(table.err, Catch::EndsWith("; use it with `--costs " + costs + "`\n"));
  auto json = less;
  json.insert(json.end(), {"--format", "json", "-q"});
  const Ran ran = gradcast_with(calibrate(model, costs, json));
  CHECK(ran.err.empty());
  const Json document = Json::parse(ran.out);
  CHECK(document["results"][0]["points"] == 6);
  CHECK(document["results"][0]["most_elements"] == 30'100);
  CHECK(document["summary"]["file"] == costs);
  CHECK(document["seed"] == 1);
}

TEST_CASE("a baseline that this device lacks is said to be lacking", "[cli]") {
  TemporaryFolder folder;
  const Ran ran =
      gradcast_with(calibrate(small_model(folder), (folder.path / "costs.csv").string(),
                              {"--compressors", "topk", "--workers", "1", "--baselines", "cub"}));
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.err, Contains("gradcast: no 'cub' on this device"));
}

TEST_CASE("the roofline has its ceiling, and the per-layer table its sum", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const Ran roofline =
      gradcast_runs("calibrate", "--device", "cpu", "--models", model.c_str(), "--roofline",
                    "--seconds", "0.002", "--compressors", "topk", "--format", "json");
  REQUIRE(roofline.exit_code == 0);
  const Json rows = Json::parse(roofline.out)["results"];
  REQUIRE(rows.size() == 3);  // the ceiling; the model as one tensor, and in one call
  CHECK(rows[0]["compressor"] == "ceiling");
  CHECK(rows[1]["recall"] == 1.0);
  CHECK(rows[1]["selected_share"] == 1.0);
  CHECK(rows[2]["tensors"] == 4);

  const std::string trace =
      folder.write("trace.csv",
                   "# device: X\n# batch: 1\ntensor,forward_seconds,backward_seconds\n"
                   "a.w,1,0\na.b,0,1\nb.w,1,1\nc.w,1,0\n");
  const Ran layers = gradcast_runs("calibrate", "--device", "cpu", "--per-layer", model.c_str(),
                                   "--trace", trace.c_str(), "--seconds", "0.002");
  CHECK(layers.exit_code == 0);
  CHECK_THAT(layers.out, Contains("topk, gradcast-cpu") && Contains("gaussian (code)") &&
                             Contains("4 tensors"));
  CHECK_THAT(layers.err, Contains("is of X"));
  refuses({"calibrate", "--device", "cpu", "--per-layer", "resnet-50", "--trace", trace}, 3,
          "is not a trace of model 'resnet-50'");
  CHECK(folder.files() == 2);
}

TEST_CASE("torch's rows stand beside our own, and are left out where it fails", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string costs = (folder.path / "costs.csv").string();
  const std::vector<std::string> more{"--compressors", "topk", "--workers", "1",
                                      "--baselines",   "torch"};
  const auto torch_rows = [&] {
    int rows = 0;
    for (const CostRow& row : load_cost_table(read_text_file(costs)).rows)
      rows += row.implementation == "torch" && row.encode == Seconds{0.5} ? 1 : 0;
    return rows;
  };
  {
    const FakePython none(folder, "echo '{\"error\": \"no torch: No module named torch\"}'\n");
    refuses(calibrate(model, costs, more), 5,
            "--baselines torch: no torch: No module named torch");  // it was asked for by name
    CHECK_FALSE(std::filesystem::exists(costs));
  }
  {
    const FakePython dies(folder, std::string(kTorchGreets) + "read line\n" + kTorchAnswers);
    const Ran ran = gradcast_with(calibrate(model, costs, more));
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.err, Contains("the torch baseline is lost"));
    CHECK(torch_rows() == 1);
  }
  const FakePython works(
      folder, std::string(kTorchGreets) + "while read -r line; do\n" + kTorchAnswers + "done\n");
  CHECK(gradcast_with(calibrate(model, costs, more)).exit_code == 0);
  CHECK(torch_rows() == 6);
  CHECK_THAT(content(costs), Contains("\n# torch: 9.9, fake\n"));
}
