// Files and flags that ask for more than anybody has: one line, the right exit code, and soon. Each
// of them once took minutes, all the memory or the stack, or printed what is no number.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "sim/engine/engine.hpp"
#include "sim/import/readers.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;

namespace {

/// CPU seconds of all children that have ended; waiting for the processor does not count.
double seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

constexpr double kSoon = 2;

struct Used {
  int exit_code;
  double seconds;
  long kilobytes;
};

/// Runs the program without its words.
Used used_by(const std::vector<std::string>& words) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> argv{const_cast<char*>(GRADCAST_PROGRAM)};
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
              1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
          used.ru_maxrss};
}

void soon_refuses(const std::vector<std::string>& arguments, int exit_code,
                  const std::string& says) {
  const double before = seconds_of_children();
  refuses(arguments, exit_code, says);
  CHECK(seconds_of_children() - before < kSoon);
}

std::string repeated(const std::string& word, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += word;
  return text;
}

std::vector<const char*> engines_here() {
  if (!gradcast::find_engine("simgrid")->built()) return {"analytic", "flow"};
  return {"analytic", "flow", "simgrid"};
}

}  // namespace

TEST_CASE("a TOML key of 60,000 parts is answered with 3, in a plan and in a config file",
          "[cli]") {
  TemporaryFolder folder;
  const std::string file = folder.write("dots.toml", repeated("a.", 60'000) + "b=1\n");
  const std::string says =
      "dots.toml:1: this is not TOML that gradcast reads: a name has more than";
  soon_refuses({"sweep", file}, 3, says);
  soon_refuses({"simulate", "--model", "resnet-50", "--config", file}, 3, says);
  const std::string mark = folder.write("mark.toml", "a=\xEF\xBB\xBF");
  soon_refuses({"sweep", mark}, 3, "mark.toml:1: ");
}

TEST_CASE("a measured time that no clock reads is answered with 3", "[cli]") {
  TemporaryFolder folder;
  const std::string measured = folder.write(
      "measured.csv",
      "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
      "overlap,iteration_seconds\n"
      "me,resnet-50,128,0.46,10gbe-4x4,4,4,dense,1,merged,no,0.81\n"
      "me,resnet-50,128,0.46,10gbe-4x4,2,4,dense,1,merged,no,1e-300\n");
  const std::string says = "measured.csv:3: column 'iteration_seconds': 1e-300 is not between";
  soon_refuses({"fit", "--measured", measured, "--structures", "fit-default"}, 3, says);
  soon_refuses({"compare", "--measured", measured}, 3, says);
}

TEST_CASE("a million NICs are answered with 2 where they were typed, with 3 in a file", "[cli]") {
  TemporaryFolder folder;
  for (const char* engine : engines_here())
    soon_refuses(
        {"simulate", "--model", "resnet-50", "--engine", engine, "--nics-per-node", "1000000"}, 2,
        "nodes of 1000000 NICs have 4000000 NICs; the most is 65536");
  const std::string cluster =
      folder.write("cluster.csv",
                   "property,value,source\nnodes,2,x\ngpus_per_node,1,x\nnic_bandwidth,1Gbps,x\n"
                   "intra_bandwidth,1GBps,x\nnics_per_node,1000000,x\n");
  soon_refuses({"simulate", "--model", "resnet-50", "--cluster", cluster}, 3,
               "cluster.csv:6: 2 nodes of 1000000 NICs");
}

// 17 numbers of nodes with 11 sizes each were worked out before the one that cannot be.
TEST_CASE("a list of nodes of which one cannot be is refused before the work", "[cli]") {
  soon_refuses({"collectives", "--nodes", "1..65536"}, 2, "32768 nodes of 4 GPUs are 131072 ranks");
}

TEST_CASE("40,000 pauses take no longer than a moment, with every engine", "[cli]") {
  TemporaryFolder folder;
  std::string rows = "event,target,at,lasting,value\n";
  for (int i = 0; i < 40'000; ++i) rows += "pause,rank 1," + std::to_string(2 * i) + "us,1us,\n";
  const std::string events = folder.write("pauses.csv", rows);
  for (const char* engine : engines_here()) {
    const double before = seconds_of_children();
    const Ran ran = gradcast_runs("simulate", "--model", "resnet-50", "--engine", engine,
                                  "--events", events.c_str());
    CAPTURE(engine, ran.err);
    CHECK(ran.exit_code == 0);
    CHECK(seconds_of_children() - before < kSoon);
  }
}

TEST_CASE("a platform of millions of hosts is answered with 3 before SimGrid makes them", "[cli]") {
  TemporaryFolder folder;
  for (const char* last : {"1000000", "2000000000", "2147483647"}) {
    const std::string platform = folder.write(
        "many.xml",
        std::string("<?xml version=\"1.0\"?><!DOCTYPE platform SYSTEM "
                    "\"https://simgrid.org/simgrid.dtd\">"
                    "<platform version=\"4.1\"><cluster id=\"a\" prefix=\"n\" suffix=\"\" "
                    "radical=\"0-") +
            last + "\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/></platform>");
    const std::vector<std::string> words = {"simulate", "--model", "resnet-50", "--cluster",
                                            platform};
    if (gradcast_with(words).exit_code == 5) return;  // a build without SimGrid
    soon_refuses(words, 3, "many.xml:1: the ");
  }
}

namespace {

/// A command that reads a file. "@.csv" stands for a path that ends so.
using Words = std::vector<std::string>;

const std::string kTrace =
    GRADCAST_SOURCE_DIR "/tests/sim/import/traces/resnet50-ddp-a100x2.json.gz";

/// Every kind of file that a flag or a word names, in a command that comes to read it. `out` can be
/// written.
std::vector<Words> readers_of_files(const std::string& out) {
  std::vector<Words> commands = {
      {"simulate", "--model", "@.csv"},
      {"simulate", "--model", "fnn-3", "--trace", "@.csv"},
      {"simulate", "--model", "fnn-3", "--cluster", "@.csv"},
      {"simulate", "--model", "fnn-3", "--cluster", "@.xml"},
      {"simulate", "--model", "fnn-3", "--compressor", "topk", "--costs", "@.csv"},
      {"simulate", "--model", "fnn-3", "--compressor", "@.csv"},
      {"simulate", "--model", "fnn-3", "--events", "@.csv"},
      {"simulate", "--model", "fnn-3", "--stack", "@.csv"},
      {"simulate", "--model", "fnn-3", "--counts", "@.csv"},
      {"simulate", "--model", "fnn-3", "--config", "@.toml"},
      {"config", "--config", "@.toml"},
      {"breakeven", "--model", "@.csv"},
      {"decide", "--model", "@.csv"},
      {"collectives", "--cluster", "@.csv"},
      {"compare", "--measured", "@.csv"},
      {"compare", "--measured", "gtopk", "--fitted", "@.csv"},
      {"fit", "--measured", "@.csv"},
      {"fit", "--structures", "@.csv"},
      {"learn", "@.csv", "-o", out},
      {"sweep", "@.toml"},
      {"sweep", "merge", "@"},
      {"tta", "--model", "fnn-3", "--training", "@.json"},
      {"tta", "--model", "fnn-3", "--training", "@.csv"},
      {"report", "@.json", "-o", out},
      {"theory", "--distribution", "@.npy"},
      {"train", "--data", "@"},
      {"train", "--dataset", "common-licenses", "--data", "@.txt"},
      {"train", "--epochs", "1", "--checkpoint", "@"},
      {"calibrate", "--device", "cpu", "--models", "@.csv", "-o", out},
      {"calibrate", "--device", "cpu", "--distributions", "@.npy", "-o", out},
      {"calibrate", "--device", "cpu", "--per-layer", "fnn-3", "--trace", "@.csv"},
      {"import", "@.json", "-o", out},
      {"import", kTrace, "--params", "@.csv", "-o", out},
  };
  for (const auto& reader : gradcast::import_readers_in_order())
    commands.push_back({"import", "@", "--kind", std::string(reader.name), "-o", out});
  return commands;
}

/// The same command with a path in place of "@.csv". `make` makes what lies there.
template <class Make>
Words with_path(Words words, const std::filesystem::path& folder, Make make) {
  for (std::string& word : words)
    if (word.starts_with("@")) {
      const std::filesystem::path path = folder / ("x" + word.substr(1));
      if (!std::filesystem::exists(std::filesystem::symlink_status(path))) make(path);
      word = path.string();
    }
  return words;
}

/// 100 MB beside what the program takes that reads nothing: with sanitizers it is tens of MB.
long most_kilobytes() { return 100'000 + used_by({"version"}).kilobytes; }

/// Whether an exit code says that an input is wrong.
bool blames_input(int exit_code) { return exit_code == 2 || exit_code == 3; }

}  // namespace

// Each of these once read a GiB before it said that this is no text.
TEST_CASE("/dev/zero as any input is refused at once, in little memory", "[cli]") {
  const TemporaryFolder folder;
  const std::string out = (folder.path / "out").string();
  const long most = most_kilobytes();
  for (const Words& words : readers_of_files(out)) {
    const Words run = with_path(words, folder.path, [](const std::filesystem::path& path) {
      std::filesystem::create_symlink("/dev/zero", path);
    });
    CAPTURE(run);
    const Used used = used_by(run);
    CHECK(blames_input(used.exit_code));
    CHECK(used.seconds < 1);
    CHECK(used.kilobytes < most);
  }
}

TEST_CASE("IDX files that are /dev/zero are refused at once too", "[cli]") {
  const TemporaryFolder folder;
  for (const char* part : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    std::filesystem::create_symlink("/dev/zero", folder.path / part);
  const Used used = used_by({"train", "--data", folder.path.string()});
  CHECK(used.exit_code == 3);
  CHECK(used.seconds < 1);
  CHECK(used.kilobytes < most_kilobytes());
}

TEST_CASE("a folder as any input is refused in one line", "[cli]") {
  const TemporaryFolder folder;
  const std::string out = (folder.path / "out").string();
  for (const Words& words : readers_of_files(out)) {
    const Words run = with_path(words, folder.path, [](const std::filesystem::path& path) {
      std::filesystem::create_directory(path);
    });
    const Ran ran = gradcast_with(run);
    CAPTURE(run, ran.err);
    CHECK((blames_input(ran.exit_code) || ran.exit_code == 1));  // 1: --checkpoint is written too
    CHECK_THAT(ran.err, Catch::StartsWith("gradcast: "));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }
}

// The readers run at the same time: each waits two seconds for a program that writes.
TEST_CASE("a pipe that nobody writes to is not waited for", "[cli]") {
  const TemporaryFolder folder;
  const std::string out = (folder.path / "out").string();
  std::vector<std::pair<pid_t, Words>> started;
  for (const Words& words : readers_of_files(out)) {
    const Words run = with_path(words, folder.path, [](const std::filesystem::path& path) {
      REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    });
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends what hangs
      _exit(blames_input(gradcast_with(run).exit_code) ? 0 : 1);
    }
    started.emplace_back(child, run);
  }
  for (const auto& [child, run] : started) {
    int status = 0;
    waitpid(child, &status, 0);
    CAPTURE(run, status);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
}

TEST_CASE("a pipe that a program writes to is read", "[cli]") {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path / "x.csv").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);        // ends what hangs
    usleep(300'000);  // later than the reader
    std::ifstream trace(GRADCAST_SOURCE_DIR "/traces/iteration-fnn-3-v100.csv");
    std::ofstream(pipe) << trace.rdbuf();
    _exit(0);
  }
  const Ran ran = gradcast_runs("simulate", "--model", "fnn-3", "--trace", pipe.c_str());
  int status = 0;
  waitpid(child, &status, 0);
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(status == 0);
}
