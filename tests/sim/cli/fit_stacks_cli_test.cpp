// `gradcast fit --stacks` as its users run it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/base/text_file.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using nlohmann::json;

TEST_CASE("fit --stacks estimates the stacks that the project comes with, to the byte",
          "[cli][fit][stacks][slow]") {
  const TemporaryFolder folder;
  const Ran ran =
      gradcast_with({"fit", "--stacks", "--save", folder.path.string(), "--format", "json", "-q"});
  REQUIRE(ran.exit_code == 0);
  const json document = json::parse(ran.out);
  CHECK(document.at("schema").at("name") == "gradcast/fit-stacks");
  std::size_t terms = 0;
  for (const json& row : document.at("results"))
    if (row.at("stack") == "stack-ddp-nccl" && row.at("property") == "per_iteration_overhead")
      ++terms;
  CHECK(terms == 1);
  // Those with and those without each group. The widths of collectives are made by
  // scripts/validate.
  std::size_t made = 0;
  const std::filesystem::path platforms = std::string(GRADCAST_SOURCE_DIR) + "/platforms";
  for (const auto& entry : std::filesystem::directory_iterator(platforms)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("stack-") || name.starts_with("stack-nccl")) continue;
    CAPTURE(name);
    ++made;
    CHECK(gradcast::read_text_file(folder.path / "platforms" / name).content ==
          gradcast::read_text_file(entry.path()).content);
  }
  const auto saved = std::filesystem::directory_iterator(folder.path / "platforms");
  CHECK(made == static_cast<std::size_t>(std::distance(begin(saved), end(saved))));
}

TEST_CASE("fit --stacks takes no measured file, and says so", "[cli][fit][stacks]") {
  const Ran ran = gradcast_with({"fit", "--stacks", "--measured", "measured-gtopk-1gbe"});
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Contains("--measured is not for --stacks"));
}
