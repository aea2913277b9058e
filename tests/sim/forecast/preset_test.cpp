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

TEST_CASE("a collective alone has the interval of its network", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto stack = [&](const std::string& cluster, int nodes) {
    Request request;
    request.cluster = cluster;
    request.changed.push_back({"nodes", std::to_string(nodes)});
    request.payload = Bytes{1 << 20};
    request.today = true;
    return with_defaults(request, files).stack;
  };
  CHECK(stack("dgx-h100", 8) == "stack-nccl");
  CHECK(stack("polaris", 8) == "stack-nccl-slingshot");
  CHECK(stack("polaris-tcp", 8) == "stack-nccl-tcp");
  CHECK(stack("gcp-a3-megagpu-8g", 8) == "stack-nccl-tcp");
  CHECK(stack("polaris", 1) == "stack-nccl");  // its NVLinks are like any
}
