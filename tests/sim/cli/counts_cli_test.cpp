// Forecasts with what a training really sent, as a user asks for them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kCountsHeader = "iteration,worker,elements,density,wanted,sent\n";

/// Two workers and two iterations of FNN-3 at density 0.001.
std::string counts_file(const TemporaryFolder& folder, const std::vector<int>& sent) {
  std::string text = kCountsHeader;
  for (std::size_t i = 0; i < sent.size(); ++i)
    text += std::to_string(i / 2 + 1) + "," + std::to_string(i % 2 + 1) + ",199210,0.001,199," +
            std::to_string(sent[i]) + "\n";
  return folder.write("counts.csv", text);
}

std::vector<std::string> simulate(const std::vector<std::string>& more,
                                  const std::string& compressor = "gaussian") {
  std::vector<std::string> words{"simulate", "--model",  "fnn-3",   "--cluster",
                                 "1gbe",     "--nodes",  "16",      "--compressor",
                                 compressor, "--engine", "analytic"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json counted(std::vector<std::string> more) {
  more.insert(more.end(), {"--format", "json"});
  const Ran ran = gradcast_with(simulate(more));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

}  // namespace

// 100 and 98 of 199, and 300 and 298: half, one and a half. A pair has 8 bytes.
TEST_CASE("measured counts take the place of k", "[cli]") {
  const TemporaryFolder folder;
  const Json plain = counted({})["results"][0];
  CHECK_FALSE(plain.contains("counts"));
  CHECK_FALSE(plain.contains("sent_share"));
  const std::string file = counts_file(folder, {100, 98, 100, 98});
  const Json document = counted({"--counts", file});
  const Json& half = document["results"][0];
  CHECK(half["sent_share"].get<double>() == Approx(99 / 199.0));
  CHECK(half["sent_share_p10"] == half["sent_share"]);
  CHECK(half["counts"] == file);
  CHECK(half["counts_workers"] == 2);
  CHECK(half["selected_elements"] == 99);
  CHECK(half["payload_bytes_per_rank"] == 99 * 8);
  CHECK(half["sent_bytes_per_rank"] == 15 * 99 * 8);  // a ring passes on what 15 others sent
  CHECK(half["encode_seconds"] == plain["encode_seconds"]);
  CHECK(half["unmeasured_counts_seconds"] == plain["iteration_seconds"]);
  CHECK(half["iteration_seconds"] < plain["iteration_seconds"]);
  CHECK(half["p10_counts_seconds"] == half["iteration_seconds"]);
  CHECK_THAT(document["inputs"].dump(), Contains("counts.csv"));  // with its SHA-256
}

TEST_CASE("iterations that sent little and much are forecast too", "[cli]") {
  const TemporaryFolder folder;
  const Json result = counted({"--counts", counts_file(folder, {100, 98, 300, 298})})["results"][0];
  CHECK(result["sent_share"].get<double>() == Approx(1));
  CHECK(result["p10_counts_seconds"] < result["iteration_seconds"]);
  CHECK(result["p90_counts_seconds"] > result["iteration_seconds"]);
  const Ran table = gradcast_with(simulate({"--counts", counts_file(folder, {100, 98, 300, 298})}));
  CHECK_THAT(table.out, Contains("100.0 % in the mean of 2 iterations") &&
                            Contains("if it were 49.7 % to 150.3 % (8 of 10 iterations)"));
  CHECK_THAT(table.err, Contains("counts.csv is of 2 workers; that the share is the same with 16 "
                                 "is assumed") &&
                            Contains("--count-spread draws that"));
  const Ran other =
      gradcast_runs("simulate", "--model", "resnet-50", "--compressor", "gaussian", "--engine",
                    "analytic", "--counts", counts_file(folder, {100, 98}).c_str());
  CHECK_THAT(other.err, Contains("is of a network of 199210 elements; that resnet-50 (25557032) "
                                 "sends the same share of its k is assumed"));
}

TEST_CASE("the density is the file's, unless one is asked for that it has not", "[cli]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("counts.csv", std::string(kCountsHeader) +
                                                          "1,1,199210,0.25,49802,49802\n"
                                                          "2,1,199210,0.01,1992,996\n");
  const Json result = counted({"--counts", file})["results"][0];
  CHECK(result["density"] == 0.01);
  CHECK(result["sent_share"] == 0.5);
  CHECK(counted({"--counts", file, "--density", "0.25", "--extrapolate",
                 "yes"})["results"][0]["sent_share"] == 1);
  refuses(simulate({"--counts", file, "--density", "0.001"}), 2,
          "--counts: the counts are of density 0.01, 0.25, not of 0.001");
}

TEST_CASE("counts that cannot be the compressor's are refused in one line", "[cli]") {
  const TemporaryFolder folder;
  const std::string half = counts_file(folder, {100, 98});
  refuses(simulate({"--counts", half}, "dense"), 2, "'dense' selects nothing");
  refuses(simulate({"--counts", half}, "topk"), 2,
          "'topk' sends exactly k, and " + half + " has 0.497 of it");
  refuses(simulate({"--counts", "absent.csv"}), 3, "absent.csv");
  refuses(simulate({"--counts", folder.write("odd.csv", "iteration,worker\n1,1\n")}), 3,
          "odd.csv:1");
}
