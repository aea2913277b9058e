#include "sim/population/priors.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "sim/base/error.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/population/groups.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;
using Catch::EndsWith;

namespace {

constexpr const char* kHeader = "property,compressor,stacks,median,spread,between,source\n";
constexpr const char* kRest = "discrepancy,,,10%,,,x\nscatter,,,10%,,,x\n";

StackPriors priors(const std::string& rows) {
  return load_stack_priors({"stack-priors.csv", kHeader + rows + kRest});
}

}  // namespace

TEST_CASE("a mechanism holds for the stacks that have it", "[population]") {
  const StackPriors read = priors(
      "staging_bandwidth,,mpi,4GBps,100%,70%,x\nper_tensor_negotiation,,horovod+paper,1ms,1%,1%,x\n"
      "per_iteration_overhead,,,10ms,100%,100%,x\n");
  CHECK(read.terms[0].holds_for("horovod-mpi"));
  CHECK(read.terms[0].holds_for("mpi4py"));
  CHECK(!read.terms[0].holds_for("ddp-nccl"));
  CHECK(read.terms[1].holds_for("paper"));
  CHECK(!read.terms[1].holds_for("ddp-nccl"));
  CHECK(read.terms[2].holds_for("ddp-nccl"));
}

TEST_CASE("what is wrong with priors is named", "[population]") {
  CHECK_THROWS_WITH(priors("nic_share,,,85%,0%,70%,x\n"), Contains("column 'spread'"));
  CHECK_THROWS_WITH(priors("staging_bandwidth,,,none,10%,70%,x\n"), Contains("is above 0"));
  CHECK_THROWS_WITH(load_stack_priors({"p.csv", std::string(kHeader) + kRest}),
                    Contains("terms, 'discrepancy' and 'scatter' are needed"));
}

TEST_CASE("the groups of the data folder are whole, and each has one stack", "[population][data]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const std::vector<SourceGroup> groups = load_source_groups(files);
  CHECK(groups.size() == 15);
  for (const SourceGroup& group : groups) {
    CAPTURE(group.name);
    CHECK(!group.rows.empty());
    for (const FitRow& row : group.rows) {
      CHECK(row.run.stack == group.stack);
      CHECK(row.request.stack.empty());
      CHECK(row.run.outside.empty());
    }
  }
}

// No forecast uses the row that it is judged by, nor another row of its lab, cluster and software.
TEST_CASE("each group's runs are forecast by a stack that has not seen the group",
          "[population][data]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  for (const SourceGroup& group : load_source_groups(files)) {
    CAPTURE(group.name);
    std::set<std::string> sources;
    for (const FitRow& row : group.rows) sources.insert(row.run.source);
    for (const FitRow& row : group.rows) {
      const Request request = unseen_request(request_of(row.run, files), row.run.source, files);
      CHECK_THAT(request.stack, EndsWith(group.stack + "-without-" + group.name));
      const Stack stack = load_stack(files.read(kStacks, request.stack));
      CHECK(std::set<std::string>(stack.without.begin(), stack.without.end()) == sources);
      for (const std::string& seen : stack.sources) CHECK(!sources.contains(seen));
    }
  }
}

TEST_CASE("a group that names a file nobody knows is refused with its line", "[population]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path / "traces");
  folder.write("traces/stack-groups.csv", "measured,source,group\nmeasured-nobody,a,b\n");
  DataFiles files(folder.path);
  CHECK_THROWS_WITH(load_source_groups(files),
                    Contains("stack-groups.csv:2: column 'measured': unknown measured file "
                             "'measured-nobody'"));
  CHECK_THROWS_AS(load_source_groups(files), DataError);
}
