// `gradcast calibrate` stopped while it measures: by ctrl-C, by SIGTERM, and killed.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "tests/run_program.hpp"
#include "tests/sim/cli/calibrating.hpp"
#include "tests/wait_for_start.hpp"

using Catch::Contains;
using namespace gradcast;
using namespace gradcast::calibrating;
using Json = nlohmann::ordered_json;

namespace {

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

constexpr const char* kTorchAnswersNoDecode =
    "echo '{\"encode\": [0.5, 0.6, 20], \"decode\": [], \"selected\": 1, \"recall\": 1}'\n";

}  // namespace

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
  wait_for_start(run.child);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(run.child, SIGINT);
  CHECK(run.wait() == 130);
  CHECK_FALSE(std::filesystem::exists(costs));
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
