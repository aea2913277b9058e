// Tables of figures in the documents are what the program prints.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/base/table.hpp"
#include "sim/base/text_file.hpp"
#include "sim/engine/engine.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Json = nlohmann::ordered_json;

TEST_CASE("the table of docs/accuracy.md is what compare prints", "[cli]") {
  const std::string document_text =
      gradcast::read_text_file(std::string(GRADCAST_SOURCE_DIR) + "/docs/accuracy.md").content;
  const Json document = Json::parse(gradcast_runs("compare", "--format", "json").out);
  int rows = 0;
  for (const Json& row : document["results"]) {
    const auto number = [&](const char* column) { return row[column].get<double>(); };
    using gradcast::fixed;
    using gradcast::with_sign;
    const std::string line =
        "| " + row["model"].get<std::string>() + " | " + row["compressor"].get<std::string>() +
        " | " + fixed(number("compute_seconds"), 4) + " | " + fixed(number("measured_seconds"), 3) +
        " | " + fixed(number("predicted_seconds"), 3) + " | " +
        with_sign(number("error_percent"), 1) + " % | " +
        with_sign(number("unexplained_seconds"), 3) + " | " + fixed(number("measured_speedup"), 2) +
        " | " + fixed(number("predicted_speedup"), 2) + " |";
    CHECK_THAT(document_text, Catch::Contains(line));
    ++rows;
  }
  CHECK(rows == 16);
}

namespace {

/// The indented lines from the one that begins with `first` to the next blank one, as they are
/// typed.
std::string block(const std::string& text, const std::string& first) {
  std::string lines;
  for (std::size_t at = text.find("    " + first); text.compare(at, 4, "    ") == 0;) {
    const std::size_t end = text.find('\n', at);
    lines += text.substr(at + 4, end + 1 - (at + 4));
    at = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("the tutorial's plan gives the tutorial's table", "[cli]") {
  if (!gradcast::all_engines()[0].built()) return;  // the tutorial has the default engine's
  const std::string tutorial =
      gradcast::read_text_file(std::string(GRADCAST_SOURCE_DIR) + "/docs/tutorial.md").content;
  const UsersPreset usual;
  const TemporaryFolder folder;
  const std::string plan = folder.write("plan.toml", block(tutorial, "# plan.toml"));
  const Ran ran = gradcast_runs("sweep", plan.c_str(), "--nodes", "8", "-q");
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  const std::string table = ran.out.substr(0, ran.out.find("\n\n") + 1);  // without the legend
  CHECK(std::count(table.begin(), table.end(), '\n') == 2 + 12);
  CHECK(table == block(tutorial, "model   fusion"));
}
