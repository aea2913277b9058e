#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/npy.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

Json theory_of(std::vector<std::string> more) {
  more.insert(more.begin(), {"theory", "--format", "json"});
  const Ran ran = gradcast_with(more);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

}  // namespace

// R = 1 - q - 2 z phi(z) with z = 3.2905 at q = 0.001: 0.9873. With c = 1000, c^4 / (2c - 1)^2 is
// 10^12 / 1999^2 = 250,250.19.
TEST_CASE("theory says what Top-k leaves of a normal at 0.1 %", "[cli]") {
  const Json row = theory_of({"--distribution", "normal", "--density", "0.001"})["results"][0];
  CHECK(row["k"] == 100);
  CHECK(row["exact"].get<double>() == Approx(0.9873).margin(5e-5));
  CHECK(row["sampled_exact"].get<double>() == Approx(0.9873).margin(5e-4));
  for (const char* name : {"holds_classic", "holds_square", "holds_cube", "lorenz_holds",
                           "sampled_lorenz_holds", "below_line_holds", "sufficient_holds"})
    CHECK(row[name] == true);
  CHECK(row["theorem2_classic"].get<double>() == Approx(1e6));
  CHECK(row["theorem2_square"].get<double>() == Approx(250'250.1876));
}

TEST_CASE("theory takes lists, a row each", "[cli]") {
  const Json rows = theory_of({"--distribution", "normal:8,1,clipped-normal:1,signs,linear",
                               "--density", "0.001..0.01", "--elements", "1000"})["results"];
  REQUIRE(rows.size() == 4 * 4);
  for (const Json& row : rows) {
    CAPTURE(row.dump());
    CHECK(row["holds_square"] == (row["distribution"] == "linear"));
    CHECK(row["holds_classic"] == true);
  }
}

TEST_CASE("theory names counter-examples to Theorem 1, each of which fails", "[cli]") {
  const Json document = theory_of({"--counter-examples"});
  REQUIRE(document["results"].size() == 5);
  for (const Json& row : document["results"]) {
    CAPTURE(row.dump());
    CHECK(row["exact"] > row["bound_square"]);
    CHECK(row["holds_square"] == false);
    CHECK(row["lorenz_holds"] == false);
  }
  const Ran ran = gradcast_runs("theory", "--counter-examples");
  CHECK_THAT(ran.out, Contains("Theorem 1 claims") && Contains("As printed it is false") &&
                          Contains("What is true") && Contains("normal:8,1"));
}

// Squares 9, 4, 1, 1 of 15; at 0.5, k = 2: 2 of 15 are left.
TEST_CASE("theory reads a vector, and names the file among its inputs", "[cli]") {
  TemporaryFolder folder;
  const std::string file = folder.write("u.npy", gradcast::npy_of(std::vector<float>{1, -3, 2, 1}));
  const Json document = theory_of({"--distribution", file, "--density", "0.5"});
  const Json row = document["results"][0];
  CHECK(row["exact"].get<double>() == Approx(2.0 / 15));
  CHECK(row["elements"] == 4);
  CHECK(row["sampled_exact"].is_null());
  CHECK(document["inputs"][0]["path"] == file);
  CHECK(document["seed"].is_null());
}

TEST_CASE("theory draws the curves of Fig. 3 and 5 from 0 to 1", "[cli]") {
  const Json document = theory_of({"--curve"});
  CHECK(document["schema"]["name"] == "gradcast/theory-curve");
  const Json rows = document["results"];
  REQUIRE(rows.size() > 150);
  REQUIRE(rows.size() < 250);
  CHECK(rows.front()["pi_square"] == 1);
  CHECK(rows.front()["exact"] == 1);
  CHECK(rows.back()["k"] == 100'000);
  CHECK(rows.back()["sampled_exact"] == 0);
  for (const Json& row : rows) {
    CHECK(row["pi_square"] <= row["line"]);
    CHECK(row["exact"] <= row["bound_cube"].get<double>() + 1e-12);
  }
}

TEST_CASE("theory refuses what it cannot judge, in a line", "[cli]") {
  TemporaryFolder folder;
  refuses({"theory", "--distribution", "norml"}, 2, "--distribution: unknown distribution 'norml'");
  refuses({"theory", "--distribution", "student:2"}, 2, "has no finite variance");
  refuses({"theory", "--distribution", "normal:1,0"}, 2, "0 is not a deviation");
  refuses({"theory", "--density", "2"}, 2, "--density: '2' is not a density");
  refuses({"theory", "--elements", "0"}, 2, "--elements: '0'");
  refuses({"theory", "--curve", "--density", "0.1"}, 2, "--density does not go with --curve");
  refuses({"theory", "--counter-examples", "--distribution", "signs"}, 2, "it has its own");
  refuses({"theory", "--distribution", "none.npy"}, 3, "none.npy: cannot read this file");
  refuses({"theory", "--distribution", folder.write("u.npy", "1 2 3")}, 3, "is no NumPy file");
  const std::vector<float> zeros(3);
  refuses({"theory", "--distribution", folder.write("0.npy", gradcast::npy_of(zeros))}, 3,
          "has only zeros");
}
