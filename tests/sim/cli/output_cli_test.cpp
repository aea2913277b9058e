// The place of an answer is checked before the work: an hour's training must not end with "cannot
// write".
#include <catch2/catch.hpp>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

/// The flags of a command that name what is written, beside -o, as its help has them: a file
/// (false) or a folder (true).
std::vector<std::pair<std::string, bool>> written_flags(const std::string& command) {
  std::vector<std::pair<std::string, bool>> flags;
  const std::string help = gradcast_with({command, "--help"}).out;
  const std::regex written("--([a-z-]+) (FILE|FOLDER)");
  for (std::sregex_iterator at(help.begin(), help.end(), written), end; at != end; ++at)
    if ((*at)[1] != "output" && (*at)[1] != "config")
      flags.emplace_back("--" + (*at)[1].str(), (*at)[2] == "FOLDER");
  return flags;
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
    const std::string inside = file + "/x.json";
    const bool makes_folder = name == "import" || name == "learn";
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
  const std::string inside = folder.write("file", "") + "/x";
  const std::string no_folder = "cannot make the folder '" + inside + "': Not a directory";
  std::set<std::string> asked;
  for (const std::string& name : command_names())
    for (const auto& [flag, folder_is_made] : written_flags(name)) {
      CAPTURE(name, flag);
      asked.insert(name + " " + flag);
      refuses({name, flag, inside}, 1,
              folder_is_made ? no_folder : "cannot write " + inside + ": Not a directory");
    }
  for (const char* known : {"collectives --plot", "fit --save", "simulate --timeline",
                            "simulate --paje", "sweep --emit-slurm", "train --checkpoint",
                            "train --counts", "train --observations", "train --record"})
    CHECK(asked.contains(known));
  refuses({"sweep", "--shard", "1/2", "-o", inside}, 1, no_folder);
}

TEST_CASE("a folder is no file for an answer", "[cli]") {
  const TemporaryFolder folder;
  refuses({"simulate", "--model", "fnn-3", "-o", folder.path.string()}, 1, "Is a directory");
}
