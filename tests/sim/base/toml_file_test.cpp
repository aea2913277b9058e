#include "sim/base/toml_file.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

TomlFile loaded(const std::string& content) { return load_toml({"plan.toml", content}); }

void refused(const std::string& content, const std::string& says) {
  CAPTURE(content);
  CHECK_THROWS_WITH(loaded(content), Contains(says));
  CHECK_THROWS_AS(loaded(content), DataError);
}

}  // namespace

TEST_CASE("a TOML file is its entries, in its own order, with their lines", "[toml]") {
  const TomlFile file = loaded(
      "# what I run\n"
      "model = 'vgg-16'\n"
      "batch = 32\n"
      "\n"
      "[simulate]\n"
      "overlap = true\n"
      "density = [0.001, 1e-7]\n"
      "[empty]\n"
      "[a.b]\n"
      "c = \"x,y\"\n");
  REQUIRE(file.entries.size() == 5);
  CHECK(file.entries[0].table.empty());
  CHECK(file.entries[0].key == "model");
  CHECK(file.entries[0].values == std::vector<std::string>{"vgg-16"});
  CHECK(file.entries[0].line == 2);
  CHECK_FALSE(file.entries[0].is_list);
  CHECK(file.entries[1].key == "batch");
  CHECK(file.entries[1].kind == TomlKind::Number);
  CHECK(file.entries[1].values == std::vector<std::string>{"32"});
  CHECK(file.entries[2].table == "simulate");
  CHECK(file.entries[2].kind == TomlKind::Boolean);
  CHECK(file.entries[2].values == std::vector<std::string>{"true"});
  CHECK(file.entries[3].is_list);
  CHECK(file.entries[3].line == 7);
  CHECK(file.entries[3].values == std::vector<std::string>{"0.001", "0.0000001"});
  CHECK(file.entries[4].table == "a.b");
  CHECK(file.entries[4].values == std::vector<std::string>{"x,y"});

  REQUIRE(file.tables.size() >= 3);
  CHECK(file.tables[0].name == "simulate");
  CHECK(file.tables[0].line == 5);
  CHECK(file.tables[1].name == "empty");
  CHECK(file.tables[1].line == 8);
}

TEST_CASE("an empty TOML file has no entries", "[toml]") {
  CHECK(loaded("").entries.empty());
  CHECK(loaded("# nothing\n").tables.empty());
}

TEST_CASE("what is no TOML is refused with its file and line", "[toml]") {
  refused("a = 1\nb = \n", "plan.toml:2: this is not TOML that gradcast reads: a value is missing");
  refused("a = 1\na = 2\n", "plan.toml:2: this is not TOML: ");
  refused("a = 10Gbps\n", "'10Gbps' is no number, not true and not false; a text needs quotes");
  refused("a = 'x\n", "plan.toml:1: this is not TOML that gradcast reads: a quote is opened");
}

TEST_CASE("TOML that means nothing here is refused with its file and line", "[toml]") {
  for (const char* date : {"2026-01-01", "07:32:00", "1979-05-27T:"})  // toml++ dies of the last
    refused("a = 1\nb = " + std::string(date) + "\n",
            "plan.toml:2: this is not TOML that gradcast reads: a date or a time of day");
  refused("a = nan\n", "plan.toml:1: 'a' is not a finite number");
  refused("a = -inf\n", "plan.toml:1: 'a' is not a finite number");
  refused("a = [[1], [2]]\n", "plan.toml:1: 'a' is a list of lists");
  refused("[[a]]\nb = 1\n", "plan.toml:1: 'a' is a list of tables");
  refused("a = [1,\n 'x']\n", "plan.toml:2: 'a' is a list of different kinds");
}
