#include "sim/inputs/measured.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kColumns =
    "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
    "overlap,iteration_seconds";
const std::string kRow = "paper,resnet-50,128,0.46,10gbe-4x4,4,4,topk,0.001,merged,no,0.81";

MeasuredRuns runs(const std::string& columns, const std::string& row) {
  return load_measured_runs(TextFile{"traces/measured-x.csv", columns + "\n" + row + "\n"});
}

std::string with(std::string row, const std::string& from, const std::string& to) {
  return row.replace(row.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a measured run is read, and what is not said is the default", "[measured]") {
  const MeasuredRun run = runs(kColumns, kRow).runs.at(0);
  CHECK(run.iteration == Seconds{0.81});
  CHECK(run.compute == Seconds{0.46});
  CHECK_FALSE(run.overlap);
  CHECK_FALSE(run.wire_bytes_per_element.has_value());
  CHECK(run.wire_messages == 1);
  CHECK(run.mode.empty());
  CHECK(run.line == 2);
}

TEST_CASE("optional columns may be there, and empty", "[measured]") {
  CHECK(runs(kColumns + ",mode,wire_messages", kRow + ",code,2").runs[0].wire_messages == 2);
  CHECK(runs(kColumns + ",mode,wire_messages", kRow + ",code,").runs[0].wire_messages == 1);
}

TEST_CASE("what is wrong in a measured row is named with its line", "[measured]") {
  const auto refused = [](const std::string& from, const std::string& to, const char* why) {
    CHECK_THROWS_WITH(runs(kColumns, with(kRow, from, to)),
                      Contains("measured-x.csv:2: ") && Contains(why));
  };
  refused("0.81", "-0.81", "iteration_seconds");
  refused("0.81", "0", "more than 0 s");
  refused("0.46", "nan", "compute_seconds");
  refused("0.001", "2", "density");
  refused("merged", "mergd", "'mergd' is not 'layer', 'merged', 'ddp', 'ddp-find-unused', ");
  refused(",no,", ",maybe,", "'maybe' is not 'yes' or 'no'");
  refused("128", "12.8", "batch");
  refused("topk,0.001", "dense,0.5", "a dense run sends all: its density is 1");
  CHECK_THROWS_WITH(runs(kColumns + ",nic_latency", kRow + ",25"),
                    Contains("measured-x.csv:2: column 'nic_latency': '25' has no unit"));
  CHECK_THROWS_WITH(runs(kColumns + ",nccl_settings", kRow + ",NCCL_ALGO=Rung"),
                    Contains("measured-x.csv:2: column 'nccl_settings': 'Rung' of NCCL_ALGO"));
  refused(",4,4,", ",4000,4000,", "16000000 ranks; the most is 65536");
  CHECK_THROWS_WITH(runs(with(kColumns, ",compressor", ""), kRow),
                    Contains("lacks the column 'compressor'"));
  CHECK_THROWS_WITH(runs(kColumns + ",wire_messages", kRow + ",3"),
                    Contains("'3' is not a count from 1 to 2"));
}

// The square of 1e-160 s is 0, and what is divided by it no number.
TEST_CASE("a measured time is at least a nanosecond", "[measured]") {
  const auto refused = [](const std::string& columns, const std::string& row, const char* why) {
    CAPTURE(row);
    CHECK_THROWS_WITH(runs(columns, row), Contains("measured-x.csv:2: ") && Contains(why));
  };
  const std::string says = "is not between 0.000000001 and 1000000";
  for (const char* tiny : {"1e-300", "1e-160", "1e-12"}) {
    const std::string why = std::string(": ") + tiny + " " + says;
    refused(kColumns, with(kRow, "0.81", tiny), ("column 'iteration_seconds'" + why).c_str());
    refused(kColumns, with(kRow, "0.46", tiny), ("column 'compute_seconds'" + why).c_str());
    for (const char* part : {"measured_encode_seconds", "measured_communication_seconds"})
      refused(kColumns + "," + part, kRow + "," + tiny, why.c_str());
  }
  CHECK(runs(kColumns, with(kRow, "0.81", "1e-9")).runs[0].iteration == Seconds{1e-9});
  CHECK(runs(kColumns + ",measured_encode_seconds", kRow + ",0").runs[0].measured_encode ==
        Seconds{0});
}

TEST_CASE("a row may say what selected, what ran, what is assumed, and that nothing compressed",
          "[measured]") {
  const std::string columns = kColumns + ",selection,stack,assumed,compressing";
  const MeasuredRun run =
      runs(columns, kRow + ",per-tensor,horovod-mpi,\"batch, inferred\",no").runs[0];
  CHECK(run.selection == SelectionScope::PerTensor);
  CHECK(run.stack == "horovod-mpi");
  CHECK(run.assumed == "batch, inferred");
  CHECK_FALSE(run.compressing);
  const MeasuredRun usual = runs(columns, kRow + ",,,,").runs[0];
  CHECK(usual.selection == SelectionScope::Merged);
  CHECK(usual.stack.empty());
  CHECK(usual.assumed.empty());
  CHECK(usual.compressing);
  // The selection, and whether it compresses, belong to the compressor; the stack to the set-up.
  CHECK(same_setup(usual, runs(columns, kRow + ",per-tensor,,x,").runs[0]));
  CHECK_FALSE(same_setup(usual, runs(columns, kRow + ",,horovod-mpi,,").runs[0]));
  CHECK(same_setup(usual, runs(columns, kRow + ",,,,no").runs[0]));
  CHECK_THROWS_WITH(runs(columns, kRow + ",layer,,,"),
                    Contains("column 'selection': 'layer' is not 'merged' or 'per-tensor'"));
  CHECK_THROWS_WITH(runs(columns, kRow + ",,my stack,,"),
                    Contains("column 'stack': 'my stack' is not the name of a software stack"));
  CHECK_THROWS_WITH(runs(columns, kRow + ",,,,0"),
                    Contains("column 'compressing': '0' is not 'yes' or 'no'"));
}

TEST_CASE("a row may say that its compute time has the framework in it", "[measured]") {
  const std::string columns = kColumns + ",framework_in_compute";
  CHECK(runs(columns, kRow + ",yes").runs[0].framework_in_compute);
  CHECK_FALSE(runs(columns, kRow + ",").runs[0].framework_in_compute);
  CHECK_FALSE(same_setup(runs(columns, kRow + ",yes").runs[0], runs(columns, kRow + ",").runs[0]));
  CHECK_THROWS_WITH(runs(columns, kRow + ",ddp"), Contains("column 'framework_in_compute': 'ddp'"));
}

TEST_CASE("rows of one set-up differ in the compressor and the schedule only", "[measured]") {
  const MeasuredRun topk = runs(kColumns, kRow).runs[0];
  CHECK(same_setup(topk, runs(kColumns, with(kRow, "topk,0.001", "dense,1")).runs[0]));
  CHECK_FALSE(same_setup(topk, runs(kColumns, with(kRow, "resnet-50", "vgg-16")).runs[0]));
  CHECK(same_setup(topk, runs(kColumns, with(kRow, ",no,", ",yes,")).runs[0]));
  CHECK(same_setup(topk, runs(kColumns, with(kRow, "merged", "25MiB")).runs[0]));
  CHECK_FALSE(same_setup(topk, runs(kColumns, with(kRow, "0.46", "0.47")).runs[0]));
}

TEST_CASE("a collective alone has bytes and jobs, and computes nothing", "[measured]") {
  const std::string columns = kColumns + ",payload_bytes,concurrent_jobs";
  const std::string row = "osu,-,1,0,10gbe,8,1,dense,1,merged,no,0.24,104857600,";
  const MeasuredRun run = runs(columns, row + "8").runs.at(0);
  CHECK(run.payload == Bytes{104'857'600});
  CHECK(run.concurrent_jobs == 8);
  CHECK(runs(columns, row).runs[0].concurrent_jobs == 1);
  CHECK_THROWS_WITH(runs(columns, row + "0"), Contains("column 'concurrent_jobs': '0'"));
  CHECK_THROWS_WITH(runs(columns, with(row, "104857600", "0")), Contains("payload_bytes"));
  CHECK_THROWS_WITH(runs(columns, with(row, "-,1,0,", "-,1,0.5,")),
                    Contains("a collective alone (payload_bytes) computes nothing: write 0"));
  CHECK_THROWS_WITH(runs(columns, with(row, "104857600", "")),
                    Contains("an iteration takes more than 0 s"));
}

TEST_CASE("micro-steps divide the batch, and a row may say why nobody claims it", "[measured]") {
  const std::string columns = kColumns + ",accumulation,outside";
  const MeasuredRun run = runs(columns, kRow + ",4,\"slow, and nobody knows why\"").runs.at(0);
  CHECK(run.accumulation == 4);
  CHECK(run.batch == 128);
  CHECK(run.outside == "slow, and nobody knows why");
  const MeasuredRun usual = runs(columns, kRow + ",,").runs.at(0);
  CHECK(usual.accumulation == 1);
  CHECK(usual.outside.empty());
  CHECK_FALSE(same_setup(run, usual));
  CHECK_THROWS_WITH(runs(columns, kRow + ",0,"), Contains("'0' is not a count from 1 to 1024"));
  CHECK_THROWS_WITH(runs(columns, kRow + ",3,"),
                    Contains("measured-x.csv:2: column 'accumulation': a batch of 128 is not "
                             "divided by 3 micro-steps"));
}
