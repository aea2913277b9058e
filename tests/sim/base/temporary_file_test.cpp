#include "sim/base/temporary_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "sim/base/text_file.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;

namespace {

/// The number of a process that has ended.
pid_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

/// "HOST-", as it stands in names.
std::string host() {
  const std::string name = process_name();
  return name.substr(0, name.rfind('-') + 1);
}

}  // namespace

TEST_CASE("what a killed process left is swept up when the file is written again",
          "[temporary_file]") {
  const TemporaryFolder folder;
  const std::string left = folder.write("a.csv.tmp." + host() + std::to_string(dead_process()), "");
  write_text_file(folder.path / "a.csv", "x");
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(folder.files() == 1);
}

TEST_CASE("files of living processes, other machines and other names stay", "[temporary_file]") {
  const TemporaryFolder folder;
  const std::string dead = std::to_string(dead_process());
  for (const std::string& name :
       {"a.csv.tmp." + host() + std::to_string(getppid()), "a.csv.tmp.elsewhere-" + dead,
        "a.csv.tmp." + dead, "a.csv.tmp." + host() + dead + "x", "a.csv.tmp." + host(),
        "a.csv.tmp." + host() + "-1", "b.csv.tmp." + host() + dead, "a.csv." + host() + dead})
    folder.write(name, "");
  const std::size_t before = folder.files();
  write_text_file(folder.path / "a.csv", "x");
  CHECK(folder.files() == before + 1);
}

TEST_CASE("an interruption removes every temporary file, and none that has its name",
          "[temporary_file]") {
  const TemporaryFolder folder;
  TemporaryFile kept(folder.path / "kept");
  TemporaryFile first(folder.path / "first");
  TemporaryFile second(folder.path / "second");
  for (const TemporaryFile* file : {&kept, &first, &second}) write_text_file(file->name(), "x");
  kept.rename_to_target();
  TemporaryFile::remove_all();
  CHECK(folder.files() == 1);
  CHECK(read_text_file(folder.path / "kept").content == "x");
}

TEST_CASE("files that belong together are all written, or all as they were", "[temporary_file]") {
  const TemporaryFolder folder;
  const auto a = folder.path / "a";
  const auto b = folder.path / "b";
  write_text_files({{a, "1"}, {b, "1"}});
  CHECK(read_text_file(b).content == "1");
  CHECK_THROWS(write_text_files({{a, "2"}, {folder.path / "none" / "c", "2"}}));
  CHECK(read_text_file(a).content == "1");
  CHECK(folder.files() == 2);
}

// The content is long, so that the process dies while it writes. SIGKILL leaves it no last word.
TEST_CASE("a process that is killed while it writes leaves nothing", "[temporary_file]") {
  const TemporaryFolder folder;
  const int unnamed = open(folder.path.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) return;  // a file system that has only files with names
  close(unnamed);
  const std::string content(std::size_t{1} << 26, 'x');
  for (int time = 0; time < 5; ++time) {
    const pid_t child = fork();
    if (child == 0) {
      write_text_file(folder.path / "a.csv", content);
      for (;;) pause();
    }
    usleep(static_cast<useconds_t>(5000 * (time + 1)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (const auto& entry : std::filesystem::directory_iterator(folder.path))
      CHECK(entry.path().filename() == "a.csv");
  }
}
