// Where a name that was typed is looked for, and what is remembered of it.
#include "sim/inputs/data_files.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::filesystem::path kRoot = GRADCAST_SOURCE_DIR;

}  // namespace

TEST_CASE("a name is found in its folder, a path is taken as it is", "[data]") {
  TemporaryFolder folder;
  const std::string path = folder.write("mine.csv", "# x\n");
  DataFiles files(kRoot);
  CHECK(files.read(kModels, path).content == "# x\n");
  CHECK(files.read(kModels, "alexnet").path == kRoot / "models" / "alexnet.csv");
  CHECK_THROWS_WITH(files.read(kModels, "alexnett"),
                    Contains("unknown model 'alexnett'; did you mean 'alexnet'?"));
  CHECK_THROWS_AS(files.read(kModels, "./none.csv"), DataError);
}

TEST_CASE("inputs are remembered as they were typed, each once", "[data]") {
  DataFiles files(kRoot);
  files.read(kModels, "alexnet");
  files.read(kClusters, "10gbe-4x4");
  files.read(kModels, "alexnet");
  REQUIRE(files.inputs().size() == 2);
  CHECK(files.inputs()[0].typed == "alexnet");
  CHECK(files.inputs()[1].typed == "10gbe-4x4");
}
