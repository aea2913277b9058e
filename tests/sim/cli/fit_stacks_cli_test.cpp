// `gradcast fit --stacks` as its users run it.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/base/text_file.hpp"
#include "sim/plan/scenario_quantity.hpp"
#include "sim/plan/stack.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using nlohmann::json;

namespace {

const std::filesystem::path kPlatforms = std::string(GRADCAST_SOURCE_DIR) + "/platforms";

/// Names of the stacks' files that fit --stacks makes. The widths of collectives are made by
/// scripts/validate.
std::vector<std::string> stack_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kPlatforms)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("stack-") && !name.starts_with("stack-nccl")) names.push_back(name);
  }
  return names;
}

json rows_of(const std::vector<std::string>& more) {
  std::vector<std::string> words{"fit", "--stacks", "--format", "json", "-q"};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = gradcast_with(words);
  REQUIRE(ran.exit_code == 0);
  const json document = json::parse(ran.out);
  CHECK(document.at("schema").at("name") == "gradcast/fit-stacks");
  return document.at("results");
}

}  // namespace

TEST_CASE("fit --stacks estimates the terms of the stacks that the project comes with",
          "[cli][fit][stacks][slow]") {
  std::map<std::pair<std::string, std::string>, json> rows;
  for (const json& row : rows_of({})) rows[{row.at("stack"), row.at("property")}] = row;
  std::size_t terms = 0;
  for (const std::string& name : stack_files()) {
    if (name.find("-without-") != std::string::npos) continue;
    const gradcast::Stack stack = gradcast::load_stack(gradcast::read_text_file(kPlatforms / name));
    for (const gradcast::StackTerm& term : stack.terms) {
      CAPTURE(name, term.name());
      const json& row = rows.at({stack.name, term.name()});
      CHECK(row.at("value") == term.quantity->text(term.value, 3));
      CHECK(row.at("deviation") == term.deviation);
      ++terms;
    }
    ++terms;  // its discrepancy has a row
  }
  CHECK(terms == rows.size());
}

TEST_CASE("another seed of fit --stacks moves no term by half of its deviation",
          "[cli][fit][stacks][long]") {
  const std::vector<json> first = rows_of({}), second = rows_of({"--seed", "2"});
  REQUIRE(first.size() == second.size());
  bool moved = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string name = first[i].at("property");
    CAPTURE(first[i].at("stack"), name);
    REQUIRE(second[i].at("property") == name);
    moved = moved || first[i].at("value") != second[i].at("value");
    if (first[i].at("deviation").is_null()) continue;
    const auto& quantity = gradcast::find_scenario_quantity(name.substr(0, name.find(' ')));
    const auto value = [&](const json& row) {
      return quantity.parse(row.at("value").get<std::string>());
    };
    const double apart = std::abs(std::log(value(second[i]) / value(first[i])));
    CHECK(apart < 0.5 * first[i].at("deviation").get<double>());
  }
  CHECK(moved);
}

TEST_CASE("fit --stacks makes those files, and those without each group, to the byte",
          "[cli][fit][stacks][long]") {
  const TemporaryFolder folder;
  rows_of({"--save", folder.path.string()});
  const std::vector<std::string> names = stack_files();
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(gradcast::read_text_file(folder.path / "platforms" / name).content ==
          gradcast::read_text_file(kPlatforms / name).content);
  }
  const auto saved = std::filesystem::directory_iterator(folder.path / "platforms");
  CHECK(names.size() == static_cast<std::size_t>(std::distance(begin(saved), end(saved))));
}

TEST_CASE("fit --stacks takes no measured file, and says so", "[cli][fit][stacks]") {
  const Ran ran = gradcast_with({"fit", "--stacks", "--measured", "measured-gtopk-1gbe"});
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Contains("--measured is not for --stacks"));
}
