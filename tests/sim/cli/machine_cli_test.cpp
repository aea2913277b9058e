// A refusal of the machine (memory, descriptors, names) gives one line about it. It is never a
// defect of ours.
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "sim/engine/engine.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;

namespace {

/// Runs a line in a shell, where $G is the program. It has no file open but the usual three.
Ran in_shell(const std::string& line) {
  return run_process(
      {"sh", "-c", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; G='" GRADCAST_PROGRAM "'; " + line});
}

bool one_line(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n') == 1 && text.ends_with('\n');
}

}  // namespace

TEST_CASE("names that are too long are no defect", "[cli][machine]") {
  const std::string longest(300, 'x');
  const std::vector<std::string> sweep{"sweep", "--model=alexnet", "--engine=analytic"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return more;
  };
  refuses({"sweep", "merge", longest}, 3, "cannot read this file: File name too long");
  refuses(with({"--shard", "1/1", "-o", longest}), 1, "cannot make the folder 'xxx");
  refuses(with({"--emit-slurm", longest}), 1, "cannot make the folder '");
  const Ran ran = in_shell("GRADCAST_DATA=/" + longest + " $G list");
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Contains("gradcast: GRADCAST_DATA: /xxx") && Contains("File name too long"));
  CHECK(one_line(ran.err));
}

TEST_CASE("a folder that is gone is no defect", "[cli][machine]") {
  const TemporaryFolder folder;
  const Ran ran = in_shell("mkdir '" + folder.path.string() + "/gone' && cd '" +
                           folder.path.string() + "/gone' && rmdir ../gone && " +
                           "$G sweep --model alexnet --engine analytic --emit-slurm s");
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.err, Contains("cannot tell in which folder this runs: No such file"));
}

TEST_CASE("memory and descriptors that run out are one line, and 1", "[cli][machine]") {
  std::vector<std::pair<std::string, std::string>> runs;
// Sanitizers reserve terabytes of addresses at once, and look into memory through descriptors.
#if !defined(__SANITIZE_ADDRESS__) && !defined(GRADCAST_IS_SANITIZED)
  runs = {{"ulimit -n 5; $G fit --leave-one-out model --engine analytic -q",
           "cannot start process 1 to share the work (-j asks for fewer): Too many open files"},
          {"ulimit -v 500000; yes | $G simulate --model /dev/stdin", "gradcast: out of memory: "}};
#endif
  if (gradcast::find_engine("simgrid")->built())  // the other engines start no process
    runs.emplace_back("ulimit -n 5; $G simulate --model alexnet --engine simgrid",
                      "cannot start a process for the SimGrid");
  for (const auto& [line, says] : runs) {
    const Ran ran = in_shell(line);
    CAPTURE(line, ran.err);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.err, Contains(says));
    CHECK(one_line(ran.err));
  }
}

TEST_CASE("an answer that finds standard output closed is not lost silently", "[cli][machine]") {
  for (const char* line : {"$G simulate --model alexnet --engine analytic >&-", "$G list >&-",
                           "$G --help >&-", "$G version >&-", "$G completion bash >&-",
                           "$G simulate --model alexnet --engine analytic --format json >&- <&-"}) {
    const Ran ran = in_shell(line);
    CAPTURE(line);
    CHECK(ran.exit_code == 1);
    CHECK(ran.err == "gradcast: cannot write standard output: it is closed\n");
  }
  const Ran named = in_shell("$G list -o /dev/stdout >&-");
  CHECK(named.exit_code == 1);
  CHECK_THAT(named.err, Contains("cannot write /dev/stdout"));
}

TEST_CASE("a pipe is read where a user names one, also standard input", "[cli][machine]") {
  const Ran ran = in_shell("cd '" GRADCAST_SOURCE_DIR
                           "' && printf 'model = \"alexnet\"\\n' | $G sweep /dev/stdin "
                           "--engine analytic --dry-run");
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  const Ran config =
      run_process({"bash", "-c",
                   "'" GRADCAST_PROGRAM
                   "' simulate --model alexnet --config <(printf 'engine = \"analytic\"\\n') -q"});
  CAPTURE(config.err);
  CHECK(config.exit_code == 0);
}

TEST_CASE("a line of an error is one line, whatever a name holds", "[cli][machine]") {
  refuses({"simulate", "--model", "a\nb\x1b[31m.csv"}, 3, "a b [31m.csv: cannot read this file");
}
