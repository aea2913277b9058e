#include "sim/base/text_file.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

TEST_CASE("a file is replaced whole, and no temporary stays", "[text_file]") {
  TemporaryFolder folder;
  const std::string path = folder.write("out.csv", "old");
  write_text_file(path, "new");
  CHECK(read_text_file(path).content == "new");
  CHECK(folder.files() == 1);
}

// first -> links/second -> ../real/out.csv, which is not there: each is read from its own folder.
TEST_CASE("a link stays a link, also one to a file that is not there yet", "[text_file]") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "links");
  std::filesystem::create_directories(folder.path / "real");
  const auto first = folder.path / "first";
  std::filesystem::create_symlink("links/second", first);
  std::filesystem::create_symlink("../real/out.csv", folder.path / "links" / "second");
  for (const char* content : {"new", "newer"}) {
    write_text_file(first, content);
    CHECK(std::filesystem::is_symlink(first));
    CHECK(std::filesystem::is_symlink(folder.path / "links" / "second"));
    CHECK(read_text_file(folder.path / "real" / "out.csv").content == content);
  }
}

TEST_CASE("links in a circle are said", "[text_file]") {
  TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder.path / "a");
  std::filesystem::create_symlink("a", folder.path / "b");
  CHECK_THROWS_WITH(write_text_file(folder.path / "a", "x"), Contains("Too many levels"));
  CHECK(folder.files() == 2);
}

TEST_CASE("a file without an end is refused before it fills the memory", "[text_file]") {
  TemporaryFolder folder;
  const std::string path = folder.write("four.csv", "1234");
  CHECK(read_text_file(path, 4).content == "1234");
  CHECK_THROWS_WITH(read_text_file(path, 3), Contains("four.csv: has more than 3 bytes"));
  CHECK_THROWS_WITH(read_text_file("/dev/zero"), Contains("/dev/zero:1: has a NUL byte"));
}

TEST_CASE("a full disk is said, with exit code 1", "[text_file]") {
  try {
    write_text_file("/dev/full", "x");
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::Failure);
    CHECK_THAT(error.what(), Contains("/dev/full") && Contains("No space left"));
  }
}

TEST_CASE("a folder that is not there is said, and nothing is left behind", "[text_file]") {
  TemporaryFolder folder;
  CHECK_THROWS_WITH(write_text_file(folder.path / "no" / "out.csv", "x"), Contains("No such file"));
  CHECK(folder.files() == 0);
}

TEST_CASE("a file that cannot be read is bad input", "[text_file]") {
  TemporaryFolder folder;
  for (const std::string& path : {(folder.path / "missing.csv").string(), folder.path.string()}) {
    CAPTURE(path);
    try {
      read_text_file(path);
      FAIL("nothing was thrown");
    } catch (const DataError& error) {
      CHECK(error.code() == ExitCode::BadInput);
      CHECK_THAT(error.what(), Contains(path + ": cannot read this file"));
    }
  }
}
