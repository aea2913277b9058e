#include "sim/text_file.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "sim/error.hpp"
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
