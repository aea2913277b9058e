#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/answers/version.hpp"
#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/help_topics.hpp"
#include "sim/engine/engine.hpp"
#include "tests/run_program.hpp"

using Catch::Contains;

TEST_CASE("every command tells its flags, examples first", "[cli]") {
  for (const gradcast::Command& command : gradcast::all_commands()) {
    const std::string name(command.name);
    const Ran ran = gradcast_runs(name.c_str(), "--help");
    CAPTURE(name);
    CHECK(ran.exit_code == 0);
    CHECK(ran.err.empty());
    CHECK(ran.out.find("Examples:") < ran.out.find("--format"));
    CHECK_THAT(gradcast_runs("help", name.c_str()).out, Catch::StartsWith(ran.out));
    CHECK_THAT(gradcast_runs("--help").out,
               Contains(name) && Contains(std::string(command.summary)));
  }
}

TEST_CASE("help tells every topic, and suggests one for a slip of the pen", "[cli]") {
  const std::string overview = gradcast_runs("help").out;
  CHECK(overview == gradcast_runs("--help").out);
  for (const gradcast::HelpTopic& topic : gradcast::all_help_topics()) {
    const std::string name(topic.name);
    CAPTURE(name);
    CHECK_THAT(overview, Contains("  " + name + " "));
    const Ran ran = gradcast_runs("help", name.c_str());
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.out, Contains(std::string(topic.text)));
    for (const std::string& line : gradcast::split_words(topic.text, '\n'))
      CHECK(line.size() <= 100);
  }
  refuses({"help", "exit-code"}, 2, "did you mean 'exit-codes'?");
  refuses({"help", "simulat"}, 2, "did you mean 'simulate'?");
  refuses({"help", "compare", "simulate"}, 2, "'simulate' is one word too many");
  refuses({"--verbose"}, 2, "'--verbose' stands where a command should");
  refuses({"--versoin"}, 2, "did you mean '--version'?");
}

TEST_CASE("exit codes are told as the program has them", "[cli]") {
  const std::string text = gradcast_runs("help", "exit-codes").out;
  using gradcast::ExitCode;
  for (const auto code : {ExitCode::Ok, ExitCode::Failure, ExitCode::Usage, ExitCode::BadInput,
                          ExitCode::BeyondMaxError, ExitCode::Missing, ExitCode::Interrupted})
    CHECK_THAT(text, Contains("\n  " + std::to_string(static_cast<int>(code)) + " "));
}

// The columns of each kind of file stand in the header of a committed one.
TEST_CASE("columns are told as files have them", "[cli]") {
  const std::string text(gradcast::find_help_topic("files")->text);
  const std::pair<std::string, std::string> kinds[] = {
      {"models/NAME.csv", "models/resnet-50.csv"},
      {"traces/iteration-NAME-DEVICE.csv", "traces/iteration-resnet-50-v100.csv"},
      {"traces/cost-DEVICE.csv", "traces/cost-v100-pytorch-1.1.csv"},
      {"traces/measured-SOURCE.csv", "traces/measured-shi2019-table2.csv"},
      {"traces/fit-SOURCE.csv", "traces/fit-shi2019-table2.csv"},
      {"traces/events-NAME.csv", "traces/events-bad-day.csv"},
      {"traces/devices.csv", "traces/devices.csv"},
      {"platforms/NAME.csv", "platforms/10gbe-4x4.csv"},
      {"compressors/NAME.csv", "traces/examples/deltak.csv"}};
  for (const auto& [named, file] : kinds) {
    CAPTURE(named);
    const std::size_t at = text.find("\n  " + named + " ");
    REQUIRE(at != std::string::npos);
    // Up to the next line that begins a kind, or the blank one: lines that go on are far indented.
    std::string columns = text.substr(at + 3 + named.size());
    std::size_t end = columns.find('\n');
    while (columns.compare(end + 1, 20, std::string(20, ' ')) == 0)
      end = columns.find('\n', end + 1);
    columns = columns.substr(0, end);
    std::erase_if(columns, [](char letter) { return letter == ' ' || letter == '\n'; });
    std::ifstream stream(GRADCAST_SOURCE_DIR "/" + file);
    std::string header;
    while (std::getline(stream, header) && header.starts_with("#")) continue;
    const std::vector<std::string> there = gradcast::split_words(header, ',');
    for (const std::string& column : gradcast::split_words(columns, ',')) {
      CAPTURE(column);
      CHECK(std::find(there.begin(), there.end(), column) != there.end());
    }
  }
}

// The parsers take the examples of `help units`.
TEST_CASE("units are told as they are read", "[cli]") {
  const std::string text = gradcast_runs("help", "units").out;
  using namespace gradcast;
  CHECK(parse_rate("1.25GBps") == parse_rate("10Gbps"));
  for (const char* rate : {"10Gbps", "9.43 Gbps", "1.25GBps", "10Gb/s", "10Gbit/s", "1.25GB/s"}) {
    CHECK_THAT(text, Contains(rate));
    CHECK_NOTHROW(parse_rate(rate));
  }
  for (const char* size : {"100B", "64MiB", "25MB"}) {
    CHECK_THAT(text, Contains(size));
    CHECK_NOTHROW(parse_bytes(size));
  }
  for (const char* time : {"26.6us", "2ms", "1s", "500ns"}) {
    CHECK_THAT(text, Contains(time));
    CHECK_NOTHROW(parse_time(time));
  }
  CHECK_THAT(text, Contains("4..64               doubling: 4, 8, 16, 32, 64\n"));
  CHECK(parse_counts_to(100, "4..64") == std::vector<int>{4, 8, 16, 32, 64});
  CHECK_THAT(text, Contains("0.0001, 0.0002, 0.0005, 0.001, ..., 0.01\n"));
  CHECK(parse_densities("0.0001..0.01") ==
        std::vector<double>{0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01});
}

TEST_CASE("--version tells more when it is asked", "[cli]") {
  const Ran ran = gradcast_runs("--version", "--verbose");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::StartsWith(gradcast_runs("--version").out));
  for (const gradcast::Engine& engine : gradcast::all_engines())
    if (engine.built()) CHECK_THAT(ran.out, Contains(std::string(engine.name)));
  const auto row =
      nlohmann::json::parse(gradcast_runs("--version", "--format", "json").out)["results"][0];
  CHECK(gradcast_runs("--version").out == "gradcast " + row["version"].get<std::string>() + "\n");
  CHECK(row["simgrid_running"].is_null() == !gradcast::find_engine("simgrid")->built());
  const std::string commit = gradcast::build_commit();
  CHECK((commit.empty() ? row["commit"].is_null()
                        : commit.starts_with(row["commit"].get<std::string>())));
  refuses({"--version", "--verbos"}, 2, "did you mean '--verbose'?");
}

TEST_CASE("the version is one line", "[cli]") {
  const Ran ran = gradcast_runs("--version");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::Matches("gradcast [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_CASE("list shows what there is, and nothing is broken", "[cli]") {
  const Ran ran = gradcast_runs("list");
  CHECK(ran.exit_code == 0);
  for (const char* name :
       {"resnet-50", "iteration-vgg-16-v100", "cost-v100-pytorch-1.1", "measured-shi2019-table2",
        "10gbe-4x4", "gaussian", "ring-all-reduce", "flow", "simgrid", "analytic"})
    CHECK_THAT(ran.out, Contains(name));
  CHECK_THAT(ran.out, !Contains("BROKEN"));
  CHECK_THAT(ran.out, Contains("held-out error of interpolation: median "));
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 170);
  const auto document = nlohmann::json::parse(gradcast_runs("list", "--format", "json").out);
  CHECK(document["results"].size() > 20);
}

TEST_CASE("an engine that is not in this build is answered with 5, and its need", "[cli]") {
  if (gradcast::find_engine("simgrid")->built()) return;
  const Ran ran = gradcast_runs("simulate", "--model", "alexnet", "--engine", "simgrid");
  CHECK(ran.exit_code == 5);
  CHECK_THAT(ran.err, Contains("libsimgrid-dev"));
  const Ran usual = gradcast_runs("simulate", "--model", "alexnet");
  CHECK(usual.exit_code == 0);
  CHECK_THAT(usual.err, !Contains("not in this build"));
}
