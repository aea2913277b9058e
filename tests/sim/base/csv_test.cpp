#include "sim/base/csv.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tests/sim/base/reference_csv.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

constexpr std::array kColumns = {"name", "count", "note"};  // the note may be missing

using Rows = std::vector<std::array<std::string, 3>>;

Rows read(const std::string& content) {
  const TextFile file{"some.csv", content};
  CsvReader reader(file, kColumns, 2);
  Rows rows;
  while (reader.next()) {
    reader.integer("count", 0, 100);
    rows.push_back({reader.text("name"), reader.text("count"), reader.text("note")});
  }
  return rows;
}

}  // namespace

TEST_CASE("columns are found by name, in any order, and optional ones may be missing", "[csv]") {
  CHECK(read("name,count,note\na,1,x\n") == Rows{{"a", "1", "x"}});
  CHECK(read("note,count,name\nx,1,a\n") == Rows{{"a", "1", "x"}});
  CHECK(read("count,name\n1,a\n") == Rows{{"a", "1", ""}});
}

TEST_CASE("comments, empty lines, quotes, blanks and line ends are read as RFC 4180 has them",
          "[csv]") {
  CHECK(read("# by hand\nname,count,note\n\n# more\na,1,\"x, \"\"y\"\"\"\nb,2,z\n") ==
        Rows{{"a", "1", "x, \"y\""}, {"b", "2", "z"}});
  CHECK(read("name,count\r\na,1\r\n") == Rows{{"a", "1", ""}});
  CHECK(read("\xEF\xBB\xBFname,count\n a , 1\n") == Rows{{"a", "1", ""}});
}

TEST_CASE("rows whose cells are all empty are skipped, as spreadsheets leave them", "[csv]") {
  CHECK(read("name,count,note\n,,\na,1,x\n , ,\t\n,,,,\n") == Rows{{"a", "1", "x"}});
  CHECK_THROWS_WITH(read("name,count,note\na,1,x\n,,x\n"), Contains("some.csv:3: column 'count'"));
}

TEST_CASE("every complaint names file and line, what was found and what would be right", "[csv]") {
  CHECK_THROWS_WITH(read("name,note\na,x\n"),
                    Contains("some.csv:1: the header lacks the column 'count'"));
  CHECK_THROWS_WITH(read("name,count,notes\n"),
                    Contains("unknown column 'notes'; did you mean 'note'?"));
  CHECK_THROWS_WITH(read("name;count;note\n"), Contains("some.csv:1: the header has ';'"));
  CHECK_THROWS_WITH(read("name\tcount\tnote\n"), Contains("some.csv:1: the header has tabs"));
  CHECK_THROWS_WITH(read("name,count,\n"), Contains("some.csv:1: a column has no name"));
  CHECK_THROWS_WITH(read("name,count,name\n"), Contains("'name' stands twice"));
  CHECK_THROWS_WITH(read("name,count\na,1\nb\n"), Contains("some.csv:3: fewer fields"));
  CHECK_THROWS_WITH(read("name,count\na,1,2\n"), Contains("some.csv:2: more fields"));
  CHECK_THROWS_WITH(read("name,count\n\"a,1\n"), Contains("quote"));
  CHECK_THROWS_WITH(read("name,count\na,one\n"),
                    Contains("some.csv:2: column 'count': 'one' is not a whole number"));
  CHECK_THROWS_WITH(read("name,count\na,101\n"), Contains("101 is not between 0 and 100"));
  CHECK_THROWS_WITH(read(""), Contains("empty") && Contains("name,count,note"));
  CHECK_THROWS_WITH(read("# only this\n"), Contains("empty"));
}

TEST_CASE("a file cut off in its last line is refused, not read as a smaller number", "[csv]") {
  CHECK_THROWS_WITH(read("name,count\na,10\nb,2"),
                    Contains("some.csv:3: the last line has no line break"));
}

TEST_CASE("what is written is read back", "[csv]") {
  CHECK(csv_line({"#not", "1"}) == "\"#not\",1\n");  // or it would be read as a comment
  const std::vector<std::string> fields{"plain", "1", "with, comma and \"quotes\""};
  CHECK(csv_line(fields) == "plain,1,\"with, comma and \"\"quotes\"\"\"\n");
  CHECK(read("name,count,note\n" + csv_line(fields)) == Rows{{fields[0], fields[1], fields[2]}});
  CHECK(csv_line({" a", "b\t"}) == "\" a\",\"b\t\"\n");
  CHECK(read("name,count\n\" a\",1\n") == Rows{{" a", "1", ""}});
}

TEST_CASE("comment lines carry keys and values", "[csv]") {
  const TextFile file{"some.csv", "# device: V100\n#batch:128\n# a note\nx\n"};
  CHECK(comment_value(file, "device") == "V100");
  CHECK(comment_value(file, "batch") == "128");
  CHECK(comment_value(file, "a note").empty());
  CHECK(comment_value(file, "bat").empty());
  CHECK(comment_lines(file).size() == 3);
  const TextFile twice{"some.csv", "# batch: 1\n# batch: 2\n"};
  CHECK_THROWS_WITH(comment_value(twice, "batch"), Contains("'# batch:' stands twice"));
}

TEST_CASE("a line break in a comment makes no second line, which would be none", "[csv]") {
  CHECK(csv_comments({"command: -o a\nb.csv"}) == "# command: -o a b.csv\n");
}

TEST_CASE("a file in UTF-16 is refused with that word", "[csv]") {
  using namespace std::string_literals;
  for (const std::string& bytes : {"\xff\xfen\0a\0m\0e\0"s, "\xfe\xff\0n\0a\0m\0e"s})
    CHECK_THROWS_WITH(read(bytes), Contains("some.csv: is text in UTF-16; make it UTF-8 (iconv"));
}

TEST_CASE("a NUL byte is refused, not read as the end of its line", "[csv]") {
  using namespace std::string_literals;
  CHECK_THROWS_WITH(read("name,count\na,1\0002\n"s), Contains("some.csv:2: has a NUL byte"));
}

TEST_CASE("a reader that uses no library reads the same rows and says the same", "[csv]") {
  // Files of the words in which mistakes are made; most begin with a header that is right.
  const std::vector<std::string> words{
      "name", "count", "note", "a",    "1",  ",", ",",    "\n",     "\n", "\"",
      "\"",   " ",     "\t",   "\r\n", "\r", "#", "\"\"", "\"a,\"", ",,", "\xEF\xBB\xBF"};
  std::mt19937_64 random(1);
  const auto below = [&](std::size_t most) { return random() % most; };
  std::size_t rows = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string content;
    if (below(4) > 0) content = below(2) == 0 ? "name,count\n" : "note,name,count\r\n";
    for (std::size_t left = below(24); left > 0; --left) content += words[below(words.size())];
    if (below(4) > 0) content += '\n';
    const TextFile file{"some.csv", content};
    const std::string told = told_by_reader(file, kColumns, 2);
    CAPTURE(content);
    REQUIRE(told == told_by_reference(file, kColumns, 2));
    if (told.ends_with(']')) ++rows;
  }
  CHECK(rows > 500);  // files without a mistake
}
