// A compressor of one's own, from a file: every command takes it by its path.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

const std::string kExample =
    (fs::path(GRADCAST_SOURCE_DIR) / "traces" / "examples" / "deltak.csv").string();

Json answer_to(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json", "--quiet"});
  const Ran ran = gradcast_with(arguments);
  CAPTURE(arguments, ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

/// `words` on the file of a description.
void refuses_file(const std::string& rows, int exit_code, const std::string& says,
                  std::vector<std::string> words = {"simulate", "--model", "resnet-50"}) {
  const TemporaryFolder folder;
  words.insert(words.end(),
               {"--compressor", folder.write("mine.csv", "property,value,source\n" + rows)});
  refuses(words, exit_code, says);
}

const std::string kGood = "family,quantiser,me\nbytes,elements / 2,me\ncollective,all-gather,me\n";

}  // namespace

TEST_CASE("forecasts take a compressor by the path of its file", "[cli]") {
  const Json simulated = answer_to({"simulate", "--model", "resnet-50", "--compressor", kExample});
  CHECK_THAT(simulated.dump(), Contains("\"compressor\":\"deltak\""));
  CHECK_THAT(simulated.dump(), Contains("cost-deltak.csv"));
  CHECK_THAT(simulated["inputs"].dump(), Contains("deltak.csv"));
  const Json swept = answer_to({"sweep", "--model", "resnet-50", "--compressor",
                                "topk,dgc," + kExample, "--engine", "analytic"});
  CHECK_THAT(swept["results"].dump(), Contains("\"compressor\":\"deltak\""));
  const Json ended =
      answer_to({"breakeven", "--model", "resnet-50", "--compressor", "topk," + kExample, "--over",
                 "nic-bandwidth", "--engine", "analytic"});
  CHECK_THAT(ended["results"].dump(), Contains("\"compressor\":\"deltak\""));
  const Json decided =
      answer_to({"decide", "--model", "resnet-50", "--compressor", "topk," + kExample});
  CHECK_THAT(decided.dump(), Contains("deltak (density 0.001)"));
  CHECK_THAT(decided.dump(), Contains("--compressor " + kExample));
}

TEST_CASE("the table of a compressor of one's own in docs/compressors.md is what sweep prints",
          "[cli]") {
  const std::string page =
      gradcast::read_text_file(fs::path(GRADCAST_SOURCE_DIR) / "docs" / "compressors.md").content;
  const UsersPreset usual;
  const Ran ran =
      gradcast_runs("sweep", "--model", "resnet-50", "--compressor",
                    ("topk,dgc," + kExample).c_str(), "--cluster", "1gbe", "--nodes", "8", "-q");
  REQUIRE(ran.exit_code == 0);
  std::string table = ran.out.substr(0, ran.out.find("\n\n") + 1);
  for (std::size_t line = 0; line < table.size(); line = table.find('\n', line) + 1)
    table.insert(line, "    ");
  CHECK_THAT(page, Contains(table));
}

TEST_CASE("measured runs name the file of a compressor, and compare ranks it", "[cli]") {
  const TemporaryFolder folder;
  fs::copy(fs::path(kExample).parent_path(), folder.path, fs::copy_options::recursive);
  const std::string measured = folder.write(
      "mine.csv",
      "source,model,trace,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,"
      "fusion,overlap,iteration_seconds\n"
      "lab,my-transformer-512.csv,my-transformer-512-my-gpu.csv,32,0.009567,my-cluster.csv,8,1,"
      "dense,1,merged,no,0.1260\n"
      "lab,my-transformer-512.csv,my-transformer-512-my-gpu.csv,32,0.009567,my-cluster.csv,8,1,"
      "deltak.csv,0.001,merged,no,0.02\n");
  const Json compared = answer_to({"compare", "--measured", measured});
  CHECK(compared["results"][1]["compressor"] == "deltak");
  CHECK(compared["results"][1]["predicted_seconds"].get<double>() > 0);
}

TEST_CASE("a training by a compressor's mathematics goes on to the time to an accuracy", "[cli]") {
  const TemporaryFolder folder;
  std::vector<std::string> train{"train",    "--dataset", "made",     "--workers", "2",
                                 "--epochs", "1",         "--format", "json",      "-q"};
  const std::string dense = (folder.path / "dense.json").string();
  const std::string mine = (folder.path / "mine.json").string();
  std::vector<std::string> by_dense = train;
  by_dense.insert(by_dense.end(), {"-o", dense});
  REQUIRE(gradcast_with(by_dense).exit_code == 0);
  train.insert(train.end(), {"--compressor", kExample, "--density", "0.01", "-o", mine});
  REQUIRE(gradcast_with(train).exit_code == 0);
  const Json told = answer_to({"tta", "--model", "fnn-3", "--cluster", "1gbe", "--nodes", "2",
                               "--training", dense + "," + mine, "--compressor", kExample});
  CHECK_THAT(told.dump(), Contains("\"compressor\":\"deltak\""));
  refuses({"tta", "--model", "fnn-3", "--training", dense, "--compressor", "topk"}, 2,
          "--compressor is what the trainings say");
  refuses_file(kGood, 2, "says what it sends, not what it computes",
               {"train", "--dataset", "made"});
}

TEST_CASE("a compressor in the data folder has a name like others", "[cli]") {
  const TemporaryFolder data;
  for (const char* kind : {"models", "traces", "platforms"})
    fs::create_directory_symlink(fs::path(GRADCAST_SOURCE_DIR) / kind, data.path / kind);
  fs::create_directory(data.path / "compressors");
  fs::copy(kExample, data.path / "compressors");
  fs::copy(fs::path(kExample).parent_path() / "cost-deltak.csv", data.path / "compressors");
  const char* const before = std::getenv("GRADCAST_DATA");
  const std::string kept = before != nullptr ? before : "";
  setenv("GRADCAST_DATA", data.path.c_str(), 1);
  const Ran listed = gradcast_runs("list", "--format", "json");
  const Ran completed = gradcast_runs("completion", "--names", "compressors");
  const Ran simulated =
      gradcast_runs("simulate", "--model", "resnet-50", "--compressor", "deltak", "-q");
  const Ran mistyped = gradcast_runs("simulate", "--model", "resnet-50", "--compressor", "deltk");
  kept.empty() ? unsetenv("GRADCAST_DATA") : setenv("GRADCAST_DATA", kept.c_str(), 1);
  CHECK_THAT(listed.out, Contains("3 * k + 4 * ceil(elements / 65536) bytes, gathered"));
  CHECK_THAT(completed.out, Contains("deltak"));
  CHECK(simulated.exit_code == 0);
  CHECK(mistyped.exit_code == 2);
  CHECK_THAT(mistyped.err, Contains("did you mean 'deltak'?"));
}

TEST_CASE("a compressor that nobody timed is said to cost what its family does", "[cli]") {
  const TemporaryFolder folder;
  const std::string mine = folder.write("mine.csv", "property,value,source\n" + kGood);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"simulate"},
        {"sweep", "--engine", "analytic"},
        {"decide"},
        {"breakeven", "--over", "nic-bandwidth", "--engine", "analytic"}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--model", "resnet-50", "--compressor", mine});
    CAPTURE(arguments);
    CHECK_THAT(gradcast_with(arguments).err, Contains("nobody timed 'mine': it costs what its"));
  }
}

TEST_CASE("a wrong description is refused in one line", "[cli]") {
  refuses_file("family,quantizer,me\n", 3,
               "mine.csv:2: column 'value': unknown family 'quantizer'");
  refuses_file("bytes,8 * kk,me\n", 3, "mine.csv:2: column 'value': formula '8 * kk', character 5");
  refuses_file("bytes," + std::string(500, '(') + ",me\n", 3, "too many parentheses");
  refuses_file(kGood + "costs,none.csv,me\n", 3, "none.csv");
  refuses_file(kGood, 2, "leave value-type out",
               {"simulate", "--model", "resnet-50", "--value-type", "fp16"});
}
