#include "sim/forecast/estimates.hpp"

#include <catch2/catch.hpp>

#include "tests/temporary_folder.hpp"

using namespace gradcast;

namespace {

struct Names {
  std::string physics;
  std::string fitted;
  std::string software;
};

Names clusters_of(const std::string& cluster) {
  Request request;
  request.cluster = cluster;
  const Estimates both = estimates_of(request, kUsualSoftware, DataFiles(GRADCAST_SOURCE_DIR));
  return {both.physics.request.cluster, both.fitted->request.cluster, both.fitted->software};
}

}  // namespace

TEST_CASE("a cluster has its own fit, or somebody else's software", "[estimates]") {
  for (const char* name : {"10gbe-4x4", "10gbe-4x4-fitted"}) {
    const Names names = clusters_of(name);
    CHECK(names.physics == "10gbe-4x4");
    CHECK(names.fitted == "10gbe-4x4-fitted");
    CHECK(names.software.empty());
  }
  const Names none = clusters_of("100gbe");
  CHECK(none.fitted == "100gbe");
  CHECK(none.software == kUsualSoftware);
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
  CHECK(clusters_of((scratch.path / "other.csv").string()).software == kUsualSoftware);

  write_text_file(as_is, "");
  for (const std::string& name : {as_is, fit}) {
    CHECK(clusters_of(name).physics == as_is);
    CHECK(clusters_of(name).fitted == fit);
    CHECK(clusters_of(name).software.empty());
  }
}
