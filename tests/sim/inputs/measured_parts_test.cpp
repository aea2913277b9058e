// Columns of a measured file that say more of a row than how long it took.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/inputs/measured.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

MeasuredRun row(const std::string& fields) {
  return load_measured_runs(
             TextFile{"traces/measured-x.csv",
                      "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,"
                      "density,fusion,overlap,iteration_seconds,outside,measured_encode_seconds,"
                      "measured_communication_seconds,measured_decode_seconds\n"
                      "me,resnet-50,128,0.46,10gbe-4x4,4,4,topk,0.001,merged,no,0.81," +
                          fields + "\n"})
      .runs.at(0);
}

}  // namespace

TEST_CASE("a row may say that the model does not claim it, and parts of its time", "[measured]") {
  const MeasuredRun run = row("stale gradients,0.25,0,0.5");
  CHECK(run.outside == "stale gradients");
  CHECK(run.measured_encode == Seconds{0.25});
  CHECK(run.measured_communication == Seconds{0});
  CHECK(run.measured_decode == Seconds{0.5});
  CHECK(row(",,,").outside.empty());
  CHECK_FALSE(row(",,,").measured_encode);
  CHECK_FALSE(row(",,,").measured_communication);
  CHECK_FALSE(row(",,,").measured_decode);
  CHECK_THROWS_WITH(row(",-1,,"), Contains("measured-x.csv:2: column 'measured_encode_seconds'"));
  CHECK_THROWS_WITH(row(",,much,"), Contains("column 'measured_communication_seconds'"));
  CHECK_THROWS_WITH(row(",,,-2"), Contains("column 'measured_decode_seconds'"));
}
