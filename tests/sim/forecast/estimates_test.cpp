#include "sim/forecast/estimates.hpp"

#include <catch2/catch.hpp>

#include "tests/temporary_folder.hpp"

using namespace gradcast;

namespace {

struct Names {
  std::string physics;
  std::string fitted;
  std::string software;  // a fitted cluster's
  std::string stack;
};

Names clusters_of(const std::string& cluster, const std::string& software = kUsualSoftware,
                  const std::string& stack = "") {
  Request request;
  request.cluster = cluster;
  request.stack = stack;
  const Estimates both = estimates_of(request, software, DataFiles(GRADCAST_SOURCE_DIR));
  CHECK(both.physics.request.stack.empty());
  return {both.physics.request.cluster, both.fitted->request.cluster, both.fitted->software,
          both.fitted->request.stack};
}

}  // namespace

TEST_CASE("a cluster gets the software of a stack", "[estimates]") {
  for (const char* name : {"10gbe-4x4", "100gbe"}) {
    const Names names = clusters_of(name);
    CHECK(names.physics == name);
    CHECK(names.fitted == name);
    CHECK(names.software.empty());
    CHECK(names.stack == kUsualSoftware);
    CHECK(clusters_of(name, "paper").stack == "paper");
    CHECK(clusters_of(name, "paper", "ddp-nccl").stack == "ddp-nccl");
  }
}

TEST_CASE("files of before there were stacks are still fits", "[estimates]") {
  const Names own = clusters_of("10gbe-4x4", "10gbe-4x4-fitted");
  CHECK(own.physics == "10gbe-4x4");
  CHECK(own.fitted == "10gbe-4x4-fitted");
  CHECK(own.software.empty());
  CHECK(own.stack.empty());
  const Names named = clusters_of("10gbe-4x4-fitted");
  CHECK(named.physics == "10gbe-4x4");
  CHECK(named.fitted == "10gbe-4x4-fitted");
  CHECK(named.stack.empty());
  CHECK(clusters_of("100gbe", "10gbe-4x4-fitted").software == "10gbe-4x4-fitted");
}

TEST_CASE("a fit that a user saved keeps its software", "[estimates]") {
  const TemporaryFolder scratch;
  const std::string as_is = (scratch.path / "mine.csv").string();
  const std::string fit = (scratch.path / "mine-fitted.csv").string();
  write_text_file(fit, "");
  // `fit --save` writes it where the cluster is not.
  CHECK(clusters_of(fit).physics == fit);
  CHECK(clusters_of(fit).fitted == fit);
  CHECK(clusters_of(fit).software.empty());
  CHECK(clusters_of((scratch.path / "other.csv").string()).stack == kUsualSoftware);

  write_text_file(as_is, "");
  for (const std::string& name : {as_is, fit}) {
    CHECK(clusters_of(name).physics == as_is);
    CHECK(clusters_of(name).fitted == fit);
    CHECK(clusters_of(name).software.empty());
  }
}

// Else a sweep's physics alone would be another run than that of `simulate`.
TEST_CASE("physics alone sends shards as the stack does", "[estimates]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto physics = [&](const std::string& stack) {
    Request request;
    request.model = "resnet-50";
    request.cluster = "dgx-a100";
    request.stack = stack;
    request.sharding = parse_sharding("zero1");
    const Scenario scenario = make_scenario(estimates_of(request, "paper", files).physics, files);
    CHECK(scenario.stack == nullptr);
    return scenario;
  };
  CHECK(physics("ddp-nccl").owners_broadcast);
  CHECK(physics("deepspeed-zero").shards_all_reduced);
  CHECK_FALSE(physics("fsdp2-nccl").owners_broadcast);
}
