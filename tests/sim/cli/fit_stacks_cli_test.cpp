// `gradcast fit --stacks` as its users run it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/base/text_file.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using nlohmann::json;

TEST_CASE("fit --stacks estimates the stacks that the project comes with, to the byte",
          "[cli][fit][stacks][slow]") {
  const TemporaryFolder folder;
  const Ran ran =
      gradcast_with({"fit", "--stacks", "--save", folder.path.string(), "--format", "json", "-q"});
  REQUIRE(ran.exit_code == 0);
  const json document = json::parse(ran.out);
  CHECK(document.at("schema").at("name") == "gradcast/fit-stacks");
  std::size_t terms = 0;
  for (const json& row : document.at("results"))
    if (row.at("stack") == "stack-ddp-nccl" && row.at("property") == "per_iteration_overhead")
      ++terms;
  CHECK(terms == 1);
  for (const char* name :
       {"paper", "horovod-nccl", "horovod-mpi", "ddp-nccl", "mpi4py", "horovod-nccl-0.21",
        "deepspeed-zero", "deepspeed-zero3", "fsdp2-nccl", "ddp-gloo", "population"}) {
    const std::string file = "platforms/stack-" + std::string(name) + ".csv";
    CHECK(gradcast::read_text_file(folder.path / file).content ==
          gradcast::read_text_file(std::string(GRADCAST_SOURCE_DIR) + "/" + file).content);
  }
}

TEST_CASE("fit --stacks takes no measured file, and says so", "[cli][fit][stacks]") {
  const Ran ran = gradcast_with({"fit", "--stacks", "--measured", "measured-gtopk-1gbe"});
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Contains("--measured is not for --stacks"));
}
