// Search for a name that was typed, and the memory of files.
#include "sim/inputs/data_files.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "sim/base/error.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/model.hpp"
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

TEST_CASE("a message lists no stack that was estimated without a group") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  CHECK_THROWS_WITH(files.read(kStacks, "stack-foo"),
                    Contains("stack-ddp-nccl, stack-deepspeed-zero") && !Contains(kWithout.data()));
  CHECK(files.has(kStacks, "stack-ddp-nccl-without-csc-a100-ddp"));
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

TEST_CASE("a file is read and parsed once, and a folder listed once", "[data]") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "models");
  const std::string path =
      folder.write("models/a.csv", "layer,tensor,elements,forward_flops\nl,t,5,1\n");
  DataFiles files(folder.path);
  const auto model = files.parsed(files.read(kModels, "a"), load_model);
  folder.write("models/a.csv", "layer,tensor,elements,forward_flops\nl,t,6,1\n");
  folder.write("models/b.csv", "");
  CHECK(files.parsed(files.read(kModels, "a"), load_model) == model);
  CHECK(files.parsed(files.read(kModels, path), load_model) == model);
  CHECK(model->elements() == 5);
  CHECK(files.names(kModels) == std::vector<std::string>{"a"});
  DataFiles later(folder.path);
  CHECK(later.parsed(later.read(kModels, "a"), load_model)->elements() == 6);
}

TEST_CASE("a wrong file is complained about each time that it is asked for", "[data]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("wrong.csv", "layer\n");
  DataFiles files(kRoot);
  for (int time = 0; time < 2; ++time)
    CHECK_THROWS_WITH(files.parsed(files.read(kModels, path), load_model),
                      Contains("the header lacks the column"));
}

TEST_CASE("one file may be parsed as two things", "[data]") {
  DataFiles files(kRoot);
  const TextFile& file = files.read(kModels, "alexnet");
  CHECK(files.parsed(file, load_model)->tensors.size() > 1);
  CHECK_THROWS_AS(files.parsed(file, load_cost_table), DataError);
}

TEST_CASE("what is looked at beside the inputs is no input", "[data]") {
  DataFiles files(kRoot);
  files.read(kModels, "alexnet");
  DataFiles others = files.beside();
  CHECK(others.inputs().empty());
  const TextFile& file = others.read(kModels, "vgg-16");
  CHECK(files.inputs().size() == 1);
  CHECK(files.parsed(file, load_model) == others.parsed(file, load_model));
}

TEST_CASE("several threads read and parse a file once", "[data]") {
  DataFiles files(kRoot);
  std::vector<std::shared_ptr<const Model>> models(8);
  std::vector<std::thread> threads;
  for (auto& model : models)
    threads.emplace_back(
        [&] { model = files.parsed(files.read(kModels, "resnet-50"), load_model); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& model : models) CHECK(model == models[0]);
  CHECK(files.inputs().size() == 1);
}

TEST_CASE("files know that one which they read, or a folder of names, has changed", "[data]") {
  TemporaryFolder folder;
  const std::string path = folder.write("mine.csv", "# x\n");
  std::filesystem::create_directory(folder.path / "models");
  const auto read = [&] {
    DataFiles files(folder.path);
    files.read(kModels, path);
    return files;
  };
  CHECK_FALSE(read().changed());
  const DataFiles same_length = read();
  folder.write("mine.csv", "# y\n");  // within one step of the clock that stamps files
  CHECK(same_length.changed());
  CHECK(same_length.beside().changed());
  const DataFiles written_alike = read();
  CHECK_FALSE(written_alike.changed());
  const DataFiles gone = read();
  std::filesystem::remove(path);
  CHECK(gone.changed());

  DataFiles provided(folder.path);
  provided.provide("text.csv", "# x\n");
  CHECK_FALSE(provided.has(kModels, "new"));
  CHECK_FALSE(provided.changed());
  folder.write("models/new.csv", "# x\n");
  CHECK(provided.changed());
}

TEST_CASE("files know what lies where names are looked up", "[data]") {
  TemporaryFolder folder;
  for (const char* name : {"models", "traces"})
    std::filesystem::create_directory(folder.path / name);
  const DataFiles files(folder.path);
  CHECK(files.holds(folder.write("models/mine.csv", "# x\n")));
  CHECK(files.holds(folder.path / "traces" / ".." / "models" / "mine.csv"));
  CHECK(files.holds(folder.write("traces/cost-mine.csv", "# x\n")));
  CHECK_FALSE(files.holds(folder.write("traces/sweep.csv", "# x\n")));  // no kind's beginning
  CHECK_FALSE(files.holds(folder.write("models/mine.json", "{}")));
  CHECK_FALSE(files.holds(folder.write("mine.csv", "# x\n")));
  CHECK(files.holds(folder.path / "models" / "new.csv"));  // it would be found
  CHECK(files.holds(folder.path / "traces" / "devices.csv"));
}

TEST_CASE("a text that was provided is found from every folder, after a file that lies there",
          "[data]") {
  const TemporaryFolder folder;
  DataFiles files(folder.path);
  files.provide("given/text.csv", "# given\n");
  CHECK(files.read(kModels, "given/text.csv", folder.path).content == "# given\n");
  CHECK(files.from_anywhere("given/text.csv") == "given/text.csv");
  CHECK(files.from_anywhere("other.csv") ==
        std::filesystem::absolute(std::filesystem::path("other.csv")).string());
  folder.write("other.csv", "# lies there\n");
  files.provide("other.csv", "# given\n");
  CHECK(files.read(kModels, "other.csv", folder.path).content == "# lies there\n");
  CHECK(files.read(kModels, "other.csv").content == "# given\n");
}
