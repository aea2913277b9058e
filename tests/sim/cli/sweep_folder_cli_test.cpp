// The folder of a sweep's shards: its scripts for Slurm, and a plan that a hand has changed.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/base/text_file.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

const Words kPlan = {"sweep",        "--model=resnet-50,alexnet", "--compressor=dense,topk",
                     "--nodes=1..8", "--engine=analytic",         "-q"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string content(const fs::path& file) { return gradcast::read_text_file(file).content; }

}  // namespace

TEST_CASE("scripts of a job array name any folder", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const fs::path folder = scratch.path / "a \"b\" #1";
  REQUIRE(gradcast_with(with(kPlan, {"--emit-slurm", folder.string()})).exit_code == 0);
  const std::string script = content(folder / "run.sbatch");
  // sbatch reads quotes and backslashes as a shell does, and '#' outside quotes as a comment.
  CHECK_THAT(script, Contains("/a \\\"b\\\" #1/logs/%A_%a.log\"\n"));
  CHECK_THAT(script, Contains("\nexec \"${GRADCAST:-$program}\" sweep "));
}

TEST_CASE("no folder's name gets lines of shell into a script", "[cli][sweep]") {
  const TemporaryFolder scratch;
  refuses(with(kPlan, {"--emit-slurm", (scratch.path / "a\nb").string()}), 2,
          "a b' has a control character, such as a line break, in its name");
  refuses(with(kPlan, {"--emit-slurm", (scratch.path / "a\\b").string()}), 2,
          "has a backslash in its name");
  // The folder where it runs.
  fs::create_directory(scratch.path / "x\n: y");
  const Ran here = run_process({"sh", "-c",
                                "cd \"$1\" && exec '" GRADCAST_PROGRAM
                                "' sweep --model alexnet --engine analytic --emit-slurm ../s",
                                "sh", (scratch.path / "x\n: y").string()});
  CHECK(here.exit_code == 2);
  CHECK_THAT(here.err, Contains("the folder where the tasks run, '") && Contains("x : y' has a"));
  CHECK(scratch.files() == 1);  // nothing was written
}

TEST_CASE("Slurm replaces nothing in the name of a folder", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const fs::path folder = scratch.path / "100%j";
  REQUIRE(gradcast_with(with(kPlan, {"--emit-slurm", folder.string()})).exit_code == 0);
  // %% is the sign itself, in outputs only.
  CHECK_THAT(content(folder / "run.sbatch"),
             Contains("/100%%j/logs/%A_%a.log\n") && Contains(" -o '" + folder.string() + "'\n"));
  CHECK_THAT(content(folder / "merge.sbatch"), Contains("/100%%j/logs/merge-%j.log\n"));
  CHECK_THAT(content(folder / "submit.sh"), Contains("/100%j/run.sbatch'"));
}

TEST_CASE("an edited plan of a folder is one clear line, which names its file", "[cli][sweep]") {
  const TemporaryFolder scratch;
  const fs::path folder = scratch.path / "shards";
  REQUIRE(gradcast_with(with(kPlan, {"--shard", "1/1", "-o", folder.string()})).exit_code == 0);
  const std::string plan = content(folder / "plan.json");
  const auto edited = [&](const std::string& pointer, const json& value) {
    nlohmann::ordered_json changed = nlohmann::ordered_json::parse(plan);
    changed[nlohmann::ordered_json::json_pointer(pointer)] = value;
    std::ofstream(folder / "plan.json") << changed.dump();
  };
  const auto refused = [&](int exit_code, const std::string& says) {
    refuses({"sweep", "merge", folder.string()}, exit_code, says);
  };
  edited("/axes/nodes", json(std::vector<std::string>(600'000, "4")));
  refused(3, "plan.json: these axes make too many points; a sweep has 1000000 at most");
  edited("/axes/colour", json({"red"}));
  refused(3, "plan.json: unknown flag 'colour' in 'axes'");
  edited("/axes/nodes", json({"-4"}));
  refused(3, "plan.json: --nodes: '-4' is not a count");
  edited("/shards", 1e80);
  refused(3, "plan.json: 'shards' is 1e+80, but should be a whole number from 1 to 100000");
  edited("/shards", 100'000);
  refused(1, "; and ");
}
