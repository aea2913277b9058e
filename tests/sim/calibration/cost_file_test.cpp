// The cost table that grows while `calibrate` measures.
#include "sim/calibration/cost_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

CostRow row_of(std::int64_t elements, int workers) {
  CostRow row;
  row.compressor = "topk";
  row.implementation = "gradcast-cpu";
  row.elements = elements;
  row.density = 0.001;
  row.workers = workers;
  row.distribution = "normal";
  row.selected = 1;
  row.encode = Seconds{1e-6};
  row.evidence = "measured";
  return row;
}

/// Rows as `calibrate` writes them.
std::string csv_of_rows(const std::vector<CostRow>& rows) {
  return cost_table_csv({"", rows}, {}, {.parameter = true});
}

const std::vector<Provenance> kHere{{"", "A sentence."}, {"device", "toy", true}, {"date", "now"}};

}  // namespace

TEST_CASE("a cost file gets a column of types with the first rows of 16-bit gradients") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  CostFile(path, kHere, {1}).add({row_of(10, 1)});
  CHECK(read_text_file(path).content.find("input_type") == std::string::npos);
  CostRow narrow = row_of(10, 1);
  narrow.input_type = NumberType::Bf16;
  {
    CostFile file(path, kHere, {1}, true);
    CHECK_FALSE(file.has(narrow));
    file.add({narrow});
  }
  CostFile file(path, kHere, {1});  // goes on with the column that is there
  CHECK(file.has(narrow));
  CHECK(file.has(row_of(10, 1)));
  file.add({row_of(20, 1)});
  const CostTable table = load_cost_table(read_text_file(path));
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0].input_type == NumberType::Fp32);
  CHECK(table.rows[1].input_type == NumberType::Bf16);
  CHECK(table.rows[2].input_type == NumberType::Fp32);
}

TEST_CASE("a cost file grows by rows, and what stands there stays") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  std::string first;
  {
    CostFile file(path, kHere, {1, 16});
    CHECK(folder.files() == 0);  // a file without rows would be no table
    file.tell_command("gradcast calibrate");
    file.add({row_of(10, 1), row_of(10, 16)});
    first = read_text_file(path).content;
    CHECK_THAT(first, Catch::StartsWith("# A sentence.\n# device: toy\n# date: now\n"));
  }
  CostFile file(path, {{"", "A sentence."}, {"device", "toy", true}, {"date", "later"}}, {1, 16});
  CHECK(file.has(row_of(10, 16)));
  CHECK_FALSE(file.has(row_of(20, 16)));
  file.tell_command("gradcast calibrate");
  file.add({row_of(10, 1), row_of(20, 1), row_of(20, 16)});
  const std::string second = read_text_file(path).content;
  CHECK(second.starts_with(first));
  CHECK(load_cost_table(read_text_file(path)).rows.size() == 4);
  file.tell_command("gradcast calibrate --sweep");
  file.add({row_of(30, 1)});
  CHECK_THAT(read_text_file(path).content,
             Contains("# command: gradcast calibrate\n"
                      "# then: gradcast calibrate --sweep (later)\n"));
  file.tell_command("gradcast calibrate --sweep");  // told already
  file.add({row_of(40, 1)});
  CHECK_THAT(read_text_file(path).content, !Contains("(later)\n# then"));
}

TEST_CASE("two runs on one cost file lose no row: the second stops") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  CostFile first(path, kHere, {1});
  CostFile second(path, kHere, {1});  // both of them saw no file
  first.add({row_of(10, 1)});
  first.add({row_of(20, 1)});  // its own writing is no change
  const std::string there = read_text_file(path).content;
  const auto stops = [&](CostFile& run) {
    try {
      run.add({row_of(30, 1)});
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::Failure);
      CHECK_THAT(error.what(), Contains("costs.csv: another run has changed it") &&
                                   Contains("start again") && Contains("-o"));
    }
  };
  stops(second);
  CHECK(read_text_file(path).content == there);
  CostFile third(path, kHere, {1});  // this one saw both rows, and then a third
  first.add({row_of(25, 1)});
  stops(third);
  CHECK(load_cost_table(read_text_file(path)).rows.size() == 3);
}

TEST_CASE("a cost table that was removed while it grew is written again, whole") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  CostFile file(path, kHere, {1});
  file.add({row_of(10, 1)});
  std::filesystem::remove(path);
  file.add({row_of(20, 1)});
  CHECK(load_cost_table(read_text_file(path)).rows.size() == 2);
}

TEST_CASE("rows of compressors with a parameter stand beside those that take none") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  CostRow levels = row_of(10, 1);
  levels.parameter = 127;
  {
    CostFile file(path, kHere, {1});
    file.add({row_of(10, 1)});
    file.add({levels});
  }
  CostFile file(path, kHere, {1});
  CHECK(file.has(levels));
  levels.parameter = 7;
  CHECK_FALSE(file.has(levels));
  file.add({levels});
  const std::vector<CostRow> rows = load_cost_table(read_text_file(path)).rows;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].parameter == 0);
  CHECK(rows[1].parameter == 127);
  CHECK(rows[2].parameter == 7);
}

TEST_CASE("an empty file is a new cost table") {
  TemporaryFolder folder;
  const std::string path = folder.write("costs.csv", "");
  CostFile file(path, kHere, {1});
  file.add({row_of(10, 1)});
  CHECK(load_cost_table(read_text_file(path)).rows.size() == 1);
}

TEST_CASE("a cost file of something else is refused, by what differs, and left alone") {
  TemporaryFolder folder;
  const auto refused = [&](const std::string& content, const std::string& says) {
    const std::string path = folder.write("costs.csv", content);
    CHECK_THROWS_WITH(CostFile(path, kHere, {1, 16}), Contains(says));
    CHECK(read_text_file(path).content == content);
  };
  const std::string rows = csv_of_rows({row_of(10, 1), row_of(10, 16)});
  refused("# device: other\n" + rows, "its device is 'other', here it is 'toy'; name another file");
  refused(rows, "lacks the comment line '# device: ...'");
  refused("# device: toy\n" + cost_table_csv({"", {row_of(10, 1), row_of(10, 16)}}, {}),
          "its columns are not those that `calibrate` writes");
  std::string crlf = "# device: toy\n" + rows;
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2)
    crlf.insert(at, 1, '\r');
  refused(crlf, "has CRLF line ends, which calibrate does not continue; name another file");
  refused("# device: toy\n" + csv_of_rows({row_of(10, 1)}),
          "has rows of 1 workers, asked for are 1,16");
  refused("my diary\n", "costs.csv:1: unknown column 'my diary'");
  // One line of provenance that is known later only.
  CostFile file(folder.write("costs.csv", "# device: toy\n# torch: 1\n" + rows), kHere, {1, 16});
  CHECK_NOTHROW(file.require({"torch", "1", true}));
  CHECK_THROWS_WITH(file.require({"torch", "2", true}),
                    Contains("its torch is '1', here it is '2'"));
}

TEST_CASE("a cost file says what was not reached as it is now") {
  TemporaryFolder folder;
  const auto path = folder.path / "costs.csv";
  CostFile file(path, kHere, {1});
  file.tell_command("gradcast calibrate");
  file.tell_not_reached("topk 2 of 3 points");
  CHECK(folder.files() == 0);  // said with the next rows
  file.add({row_of(10, 1)});
  CHECK_THAT(read_text_file(path).content, Contains("# not reached: topk 2 of 3 points\n"));
  file.tell_not_reached("topk 1 of 3 points");
  file.add({row_of(20, 1)});
  const std::string then = read_text_file(path).content;
  CHECK_THAT(then, Contains("# not reached: topk 1 of 3 points\n") && !Contains("2 of 3"));
  file.tell_not_reached("");
  file.add({row_of(30, 1)});
  const std::string last = read_text_file(path).content;
  CHECK_THAT(last, !Contains("not reached") && Contains("# command: gradcast calibrate\n"));
}
