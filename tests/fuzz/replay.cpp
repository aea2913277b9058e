// Runs every harness over the inputs that are kept: corpus/<reader>/ is what fuzzing found to reach
// other code each, reproducers/<reader>/ what once went wrong. No libFuzzer is needed.
// usage: fuzz_replay [FOLDER...]   instead of those of the source tree; each holds <reader>/
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/fuzz/harness.hpp"

namespace {

namespace fs = std::filesystem;
using gradcast::fuzz::Harness;

int failures = 0;

void fail(const std::string& where, const std::string& what) {
  ++failures;
  std::printf("%s: %s\n", where.c_str(), what.c_str());
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void replay(const Harness& harness, const fs::path& path) {
  // Named before it runs: where the program dies, this is its last line.
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  std::ifstream file(path, std::ios::binary);
  try {
    harness.run({std::istreambuf_iterator<char>(file), {}});
  } catch (const std::exception& error) {
    fail(path.string(), error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> folders(argv + 1, argv + argc);
  const bool kept = folders.empty();
  if (kept)
    for (const char* name : {"corpus", "reproducers"})
      folders.push_back(fs::path(GRADCAST_SOURCE_DIR) / "tests" / "fuzz" / name);
  std::set<std::string> known;
  std::size_t inputs = 0;
  for (const Harness* harness : gradcast::fuzz::all_harnesses()) {
    known.insert(harness->reader());
    const std::size_t before = inputs;
    for (const fs::path& folder : folders)
      for (const fs::path& path : entries_of(folder / harness->reader())) {
        replay(*harness, path);
        ++inputs;
      }
    if (kept && inputs == before) fail(harness->reader(), "no input is kept of this reader");
  }
  for (const fs::path& folder : folders)
    for (const fs::path& path : entries_of(folder))
      if (!known.contains(path.filename().string())) fail(path.string(), "no harness reads this");
  std::printf("%zu inputs, %zu readers, %d failures\n", inputs, known.size(), failures);
  return failures == 0 ? 0 : 1;
}
