#include "sim/base/paths.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

TEST_CASE("what lies at a path is told apart, also where nothing can lie", "[paths]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "x");
  CHECK(entry_at(file) == Entry::File);
  CHECK(entry_at(folder.path) == Entry::Folder);
  CHECK(entry_at("/dev/null") == Entry::Other);
  CHECK(entry_at(folder.path / "none") == Entry::None);
  CHECK(entry_at(file + "/below") == Entry::None);
}

TEST_CASE("a name that is too long is one line, not an exception of the library", "[paths]") {
  const TemporaryFolder folder;
  const std::filesystem::path longest = folder.path / std::string(300, 'x');
  CHECK_THROWS_AS(entry_at(longest), DataError);
  CHECK_THROWS_WITH(entry_at(longest), Contains("xxx: cannot read this file: File name too long"));
  CHECK(entries_of(longest).empty());
  try {
    make_folder(longest);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::Failure);
    CHECK_THAT(error.what(), Contains("cannot make the folder") && Contains("too long"));
  }
}

TEST_CASE("where this program keeps a file, a folder and a pipe are refused at once", "[paths]") {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(kept_file_at(folder.write("file", "x")));
  CHECK_FALSE(kept_file_at(folder.path / "none"));
  CHECK_THROWS_WITH(kept_file_at(pipe), Contains("pipe: is no regular file"));
  CHECK_THROWS_WITH(kept_file_at(folder.path), Contains("is a folder, and should be a file"));
}

TEST_CASE("a folder that is there is made", "[paths]") {
  const TemporaryFolder folder;
  make_folder(folder.path / "a" / "b");
  CHECK_NOTHROW(make_folder(folder.path / "a" / "b"));
  CHECK(entry_at(folder.path / "a" / "b") == Entry::Folder);
  CHECK(entries_of(folder.path).size() == 1);
}
