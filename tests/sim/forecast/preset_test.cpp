#include "sim/forecast/preset.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

TEST_CASE("a stack sends as its own library chooses", "[preset]") {
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
  CHECK(collective("ddp-gloo") == "gloo");
  CHECK(collective("horovod-mpi") == "open-mpi-4.0");
  CHECK(collective("mpi4py") == "open-mpi-4.0");
  CHECK(collective("paper").empty());  // its collective is not known: the compressor's ring
}
