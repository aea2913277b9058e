// The table of docs/accuracy.md is what the program prints; docs_test.py runs the commands.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/base/table.hpp"
#include "sim/base/text_file.hpp"
#include "tests/run_program.hpp"

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
