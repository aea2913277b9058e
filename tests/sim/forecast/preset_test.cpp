#include "sim/forecast/preset.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

TEST_CASE("a stack whose software is not NCCL sends by its own ring", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto collective = [&](const std::string& stack) {
    Request request;
    request.model = "resnet-50";
    request.cluster = "10gbe";
    request.stack = stack;
    request.stack_given = !stack.empty();
    request.today = true;
    return with_defaults(request, files).collective;
  };
  CHECK(collective("ddp-nccl") == "nccl");
  CHECK(collective("") == "nccl");  // where nobody says a stack
  CHECK(collective("ddp-gloo").empty());
  CHECK(collective("horovod-mpi").empty());
}
