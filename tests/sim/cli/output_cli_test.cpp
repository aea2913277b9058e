// Where an answer goes is looked at before the work: an hour's training must not end with "cannot
// write".
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;

namespace {

/// Every command of the program.
std::vector<std::string> command_names() {
  constexpr std::string_view kBegin = "COMMAND(";
  std::ifstream file(GRADCAST_SOURCE_DIR "/sim/cli/commands.def");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kBegin))
      names.push_back(line.substr(kBegin.size(), line.find(',') - kBegin.size()));
  return names;
}

}  // namespace

// No command has what it needs, so that what comes first is what is said: -o comes first.
TEST_CASE("every command looks at -o before anything else", "[cli]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  const std::vector<std::string> names = command_names();
  REQUIRE(names.size() > 15);
  for (const std::string& name : names) {
    CAPTURE(name);
    if (name == "calibrate") continue;  // in words of its own: calibrate_refused_cli_test.cpp
    const std::string inside = file + "/x.json";
    const bool makes_folder = name == "import";
    refuses({name, "-o", inside}, 1,
            makes_folder ? "cannot make the folder '" + inside + "': Not a directory"
                         : "cannot write " + inside + ": Not a directory");
    if (makes_folder) continue;
    const std::string nowhere = (folder.path / "no" / "x.json").string();
    refuses({name, "-o", nowhere}, 1, "cannot write " + nowhere + ": No such file or directory");
  }
}

TEST_CASE("whatever else is written is looked at as early", "[cli]") {
  const TemporaryFolder folder;
  const std::string nowhere = (folder.path / "no" / "x").string();
  const std::string says = "cannot write " + nowhere + ": No such file or directory";
  for (const char* flag : {"--checkpoint", "--counts", "--observations"})
    refuses({"train", flag, nowhere}, 1, says);
  for (const char* flag : {"--timeline", "--paje"}) refuses({"simulate", flag, nowhere}, 1, says);
  refuses({"collectives", "--plot", nowhere}, 1, says);
  const std::string inside = folder.write("file", "") + "/x";
  for (const auto& words : std::vector<std::vector<std::string>>{{"train", "--record", inside},
                                                                 {"fit", "--save", inside},
                                                                 {"sweep", "--emit-slurm", inside}})
    refuses(words, 1, "cannot make the folder '" + inside + "': Not a directory");
  refuses({"sweep", "--shard", "1/2", "-o", inside}, 1, "cannot make the folder '" + inside);
}

TEST_CASE("a folder is no file for an answer", "[cli]") {
  const TemporaryFolder folder;
  refuses({"simulate", "--model", "fnn-3", "-o", folder.path.string()}, 1, "Is a directory");
}
