// The place of an answer is checked before the work: an hour's training must not end with "cannot
// write".
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
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

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A copy of a file of the project, in the folder.
std::string copied(const TemporaryFolder& folder, const std::string& file) {
  const std::filesystem::path to = folder.path / std::filesystem::path(file).filename();
  std::filesystem::copy_file(std::filesystem::path(GRADCAST_SOURCE_DIR) / file, to);
  return to.string();
}

/// The command ends with 2 and one line that names this flag and file, and the file stays.
void keeps(const std::string& file, const std::vector<std::string>& words,
           const std::string& flag = "-o") {
  const std::string before = content_of(file);
  refuses(words, 2, flag + ": '" + words.back() + "' is what this command reads; write to another");
  CHECK(content_of(file) == before);
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

TEST_CASE("no command writes over what it reads", "[cli]") {
  const TemporaryFolder folder;
  const std::string runs = copied(folder, "traces/measured-shi2019-table2.csv");
  keeps(runs, {"compare", "--measured", runs, "-o", runs});
  keeps(runs, {"fit", "--measured", runs, "-o", runs});
  const std::string cluster = copied(folder, "platforms/dgx-a100.csv");
  keeps(cluster, {"simulate", "--model", "fnn-3", "--cluster", cluster, "-o", cluster});
  keeps(cluster, {"sweep", "--model", "fnn-3", "--cluster", "25gbe," + cluster, "-o", cluster});
  const std::string config = folder.write("gradcast.toml", "model = \"fnn-3\"\n");
  keeps(config, {"decide", folder.path.string(), "-o", config});
  const std::string result = folder.write("a.json", "{}");
  keeps(result, {"report", result, "-o", result});
  const std::string counts = folder.write("counts.json", "");
  keeps(counts, {"simulate", "--model", "fnn-3", "--counts", counts, "--timeline", counts},
        "--timeline");
}

TEST_CASE("a link, or another path, is the same file", "[cli]") {
  const TemporaryFolder folder;
  const std::string cluster = copied(folder, "platforms/dgx-a100.csv");
  for (const bool hard : {false, true}) {
    const std::string link = (folder.path / (hard ? "hard.csv" : "soft.csv")).string();
    if (hard)
      std::filesystem::create_hard_link(cluster, link);
    else
      std::filesystem::create_symlink(cluster, link);
    keeps(cluster, {"simulate", "--model", "fnn-3", "--cluster", cluster, "-o", link});
  }
  const std::string around = (folder.path / "." / "dgx-a100.csv").string();
  keeps(cluster, {"simulate", "--model", "fnn-3", "--cluster", cluster, "-o", around});
}

TEST_CASE("a file that another file names is kept too", "[cli]") {
  const TemporaryFolder folder;
  const std::string cluster = copied(folder, "platforms/dgx-a100.csv");
  const std::string plan =
      folder.write("p.toml", "model = \"fnn-3\"\ncluster = \"./dgx-a100.csv\"\n");
  keeps(plan, {"sweep", plan, "-o", plan});
  keeps(cluster, {"sweep", plan, "-o", cluster});
  CHECK(!std::filesystem::exists(cluster + ".points"));  // nothing was forecast before
}

TEST_CASE("what commands find by name is not written over", "[cli]") {
  const std::string vgg = GRADCAST_SOURCE_DIR "/models/vgg-16.csv";
  const std::string before = content_of(vgg);
  refuses({"simulate", "--model", "fnn-3", "-o", vgg}, 2,
          "-o: '" + vgg + "' lies where commands find data files by name; write to another");
  CHECK(content_of(vgg) == before);
}

TEST_CASE("an answer may take the place of an earlier one", "[cli]") {
  const TemporaryFolder folder;
  for (const char* name : {"a.json", "fnn-3", "notes.txt", "notes.md"}) {
    const std::string out = (folder.path / name).string();
    for (int time = 0; time < 2; ++time)
      CHECK(gradcast_with({"sweep", "--model", "fnn-3", "--engine", "analytic", "-o", out})
                .exit_code == 0);
  }
}

TEST_CASE("an ending that names another format is refused, unless the format is said", "[cli]") {
  const TemporaryFolder folder;
  const auto words = [&](const std::string& name) {
    return std::vector<std::string>{"simulate", "--model", "fnn-3",
                                    "-q",       "-o",      (folder.path / name).string()};
  };
  for (const char* name : {"q.jsonl", "b.parquet", "q.csv.gz"}) {
    const std::string ending = std::filesystem::path(name).extension().string();
    refuses(words(name), 2,
            " ends in " + ending + ", which is no format here (known: .csv, .json, .txt, .md)");
    CHECK(!std::filesystem::exists(folder.path / name));
    std::vector<std::string> said = words(name);
    said.insert(said.end(), {"--format", "csv"});
    CHECK(gradcast_with(said).exit_code == 0);
  }
  CHECK(gradcast_with(words("q.JSON")).exit_code == 0);
  CHECK_THAT(content_of((folder.path / "q.JSON").string()), Catch::StartsWith("{"));
  refuses({"report", "a.json", "-o", (folder.path / "a.pdf").string()}, 2,
          "(known: .html, .htm, .svg, .json, .txt, .md)");
}
