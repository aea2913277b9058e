// Commands that are stopped: by ctrl-C, by SIGTERM, and killed. (calibrate has a file of its own.)
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sim/base/text_file.hpp"
#include "sim/engine/engine.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/wait_for_start.hpp"

using Catch::Contains;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

/// Within a second, on a machine that has nothing else to do.
constexpr double kSoon = 3;

struct Stopped {
  int exit_code = -1;
  std::string err;
  double seconds = 0;  // from the signal to the end
};

/// gradcast, sent a signal `wait` after it began.
Stopped stopped(const Words& arguments, int signal, std::chrono::milliseconds wait) {
  const TemporaryFolder folder;
  const std::string err = (folder.path / "err").string();
  const pid_t child = fork();
  if (child == 0) {
    Words words{GRADCAST_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  wait_for_start(child);
  std::this_thread::sleep_for(wait);
  const auto sent = Clock::now();
  kill(child, signal);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
          gradcast::read_text_file(err).content,
          std::chrono::duration<double>(Clock::now() - sent).count()};
}

bool has_simgrid() { return gradcast::find_engine("simgrid")->built(); }

/// Each takes far longer than the test waits, also on a fast machine.
std::vector<Words> long_runs() {
  std::vector<Words> runs = {
      {"fit", "--starts", "1000", "--engine", "analytic", "-q"},
      {"fit", "--starts", "1000", "--leave-one-out", "row", "--engine", "analytic", "-q"},
      {"simulate", "--model", "resnet-152", "--nodes", "1024", "--fusion", "layer", "--engine",
       "flow-exact", "-q"},
      {"simulate", "--model", "resnet-50", "--compute-jitter", "5%", "--replicas", "1000",
       "--fusion", "layer", "--nodes", "32", "--engine", "flow-exact"},
      {"breakeven", "--model", "resnet-50", "--map", "--fusion", "layer", "--engine", "flow-exact",
       "-q"}};
  if (has_simgrid())
    runs.insert(runs.end(), {{"simulate", "--model", "resnet-152", "--nodes", "512", "--fusion",
                              "layer", "--engine", "simgrid-exact", "-q"},
                             {"selftest"}});
  return runs;
}

bool same_folder(const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<std::string> there;
  for (const auto& entry : fs::directory_iterator(folder))
    there.push_back(entry.path().filename().string());
  std::sort(there.begin(), there.end());
  return there == names;
}

}  // namespace

TEST_CASE("ctrl-C and SIGTERM end a command within a second, with a line and 130",
          "[cli][interrupted]") {
  for (const Words& run : long_runs())
    for (const int signal : {SIGINT, SIGTERM}) {
      const Stopped end = stopped(run, signal, std::chrono::milliseconds(60));
      CAPTURE(run, signal, end.err);
      CHECK(end.exit_code == 130);
      CHECK(end.err == "gradcast: interrupted: nothing was written\n");
      CHECK(end.seconds < kSoon);
    }
}

TEST_CASE("an interrupted leave-one-out answers with the folds that are done",
          "[cli][interrupted]") {
  // The fit takes longer than the test waits: first all folds of 60 rows, then the choice among
  // structures. The number of folds done by then depends on the machine.
  const TemporaryFolder folder;
  const std::string answer = (folder.path / "fit.json").string();
  const Stopped end =
      stopped({"fit", "--measured", "measured-gtopk-1gbe", "--leave-one-out", "row", "--starts",
               "30", "--engine", "analytic", "-q", "-j", "2", "--format", "json", "-o", answer},
              SIGINT, std::chrono::milliseconds(1000));
  CAPTURE(end.err);
  CHECK(end.exit_code == 130);
  CHECK_THAT(end.err, Contains("interrupted: "));
  CHECK(end.seconds < kSoon);
  if (end.err.find("nothing was written") != std::string::npos) return;
  const auto document = nlohmann::json::parse(gradcast::read_text_file(answer).content);
  const std::size_t missing = document["summary"]["folds_missing"];
  const std::size_t done = document["results"].size();
  CHECK(done + missing == 60);
  CHECK(document["summary"]["folds"].size() == done);
  if (missing > 0)
    CHECK_THAT(end.err,
               Contains(std::to_string(done) + " of 60 folds done; the others are missing"));
}

TEST_CASE("an interrupted training goes on where it stopped, and ends as if it never had",
          "[cli][interrupted]") {
  const TemporaryFolder folder;
  const auto training = [&](const std::string& state, const std::string& answer) {
    return Words{"train",
                 "--dataset",
                 "made",
                 "--workers",
                 "2",
                 "--compressor",
                 "topk",
                 "--epochs",
                 "5",
                 "-q",
                 "--checkpoint",
                 (folder.path / state).string(),
                 "-o",
                 (folder.path / answer).string()};
  };
  const Stopped end =
      stopped(training("kept", "answer.csv"), SIGINT, std::chrono::milliseconds(150));
  CAPTURE(end.err);
  REQUIRE(end.exit_code == 130);
  CHECK_THAT(end.err, Contains("the same command goes on from"));
  CHECK(end.seconds < kSoon);
  CHECK(same_folder(folder.path, {"kept"}));
  REQUIRE(gradcast_with(training("kept", "answer.csv")).exit_code == 0);
  REQUIRE(gradcast_with(training("other", "whole.csv")).exit_code == 0);
  CHECK(gradcast::read_text_file(folder.path / "answer.csv").content ==
        gradcast::read_text_file(folder.path / "whole.csv").content);
}

TEST_CASE("an interrupted command leaves no temporary file", "[cli][interrupted]") {
  if (!has_simgrid()) return;
  const TemporaryFolder folder;
  const std::string paje = (folder.path / "run.paje").string();
  const Stopped end =
      stopped({"simulate", "--model", "resnet-152", "--nodes", "512", "--fusion", "layer",
               "--engine", "simgrid-exact", "--paje", paje, "-o", paje + ".json"},
              SIGINT, std::chrono::milliseconds(600));
  CAPTURE(end.err);
  CHECK(end.exit_code == 130);
  CHECK(same_folder(folder.path, {}));
}

TEST_CASE("a sweep does not wait for a forecast that takes long", "[cli][interrupted]") {
  if (!has_simgrid()) return;
  const TemporaryFolder folder;
  const Stopped end =
      stopped({"sweep", "--model", "resnet-152", "--nodes", "512", "--fusion", "layer", "--engine",
               "simgrid-exact", "--fitted", "none", "-o", (folder.path / "a.csv").string(), "-q"},
              SIGTERM, std::chrono::milliseconds(500));
  CAPTURE(end.err);
  CHECK(end.exit_code == 130);
  CHECK_THAT(end.err, Contains("interrupted"));
  CHECK(std::count(end.err.begin(), end.err.end(), '\n') == 1);
  CHECK(end.seconds < kSoon);
}

TEST_CASE("a sweep in threads does not wait for a forecast that takes long either",
          "[cli][interrupted]") {
  for (const char* jobs : {"-j1", "-j2"}) {
    const TemporaryFolder folder;
    const std::string answer = (folder.path / "a.csv").string();
    // Each forecast takes seconds: 32,768 ranks, and the closed form of 467 collectives many times.
    const Stopped end = stopped({"sweep", "--model", "resnet-152", "--nodes", "8192", "--fusion",
                                 "layer", "--compressor", "topk,dgc,gaussian", "--extrapolate",
                                 "yes", "--engine", "analytic", "-o", answer, jobs, "-q"},
                                SIGINT, std::chrono::milliseconds(400));
    CAPTURE(jobs, end.err);
    CHECK(end.exit_code == 130);
    CHECK_THAT(end.err, Contains("interrupted"));
    CHECK(std::count(end.err.begin(), end.err.end(), '\n') == 1);
    CHECK(end.seconds < kSoon);
    CHECK_FALSE(fs::exists(answer));
  }
}

TEST_CASE("a fit that is killed while it saves leaves old files or new, or is found out",
          "[cli][interrupted]") {
  const TemporaryFolder folder;
  const Words fit{"fit",
                  "--measured",
                  "measured-shi2019-table2",
                  "--claimed-only",
                  "--starts",
                  "0",
                  "--engine",
                  "analytic",
                  "--save",
                  folder.path.string(),
                  "-q"};
  REQUIRE(gradcast_with(fit).exit_code == 0);
  const fs::path clusters = folder.path / "platforms";
  const fs::path costs = folder.path / "traces";
  REQUIRE(fs::exists(clusters / "10gbe-4x4-fitted.csv"));
  REQUIRE(fs::exists(costs / "cost-v100-pytorch-1.1-fitted.csv"));
  // A kill between the two renames leaves a new cost table, and the cluster of the fit before.
  const std::string cluster = (clusters / "10gbe-4x4-fitted.csv").string();
  const std::string table = (costs / "cost-v100-pytorch-1.1-fitted.csv").string();
  const Words forecast{"simulate", "--model", "resnet-50", "--compressor", "topk",    "--cluster",
                       cluster,    "--costs", table,       "--engine",     "analytic"};
  CHECK(gradcast_with(forecast).exit_code == 0);
  gradcast::write_text_file(table, gradcast::read_text_file(table).content + "# of another fit\n");
  refuses(forecast, 3, "10gbe-4x4-fitted.csv: was fitted with another content of " + table);
}
