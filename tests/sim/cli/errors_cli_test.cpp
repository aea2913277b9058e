// Wrong input: one clear line on standard error, the right exit code, nothing on standard output,
// no partial file.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;

namespace {

/// `simulate --model resnet-50` and more.
void simulate_refuses(std::vector<std::string> more, int exit_code, const std::string& says) {
  more.insert(more.begin(), {"simulate", "--model", "resnet-50"});
  refuses(more, exit_code, says);
}

}  // namespace

TEST_CASE("a wrong command line is answered with 2", "[cli]") {
  refuses({}, 2, "a command is missing");
  refuses({"simulat"}, 2, "unknown command 'simulat'; did you mean 'simulate'?");
  refuses({"simulate"}, 2, "--model is missing");
  refuses({"simulate", "--model", "resnet50"}, 2,
          "unknown model 'resnet50'; did you mean 'resnet-50'?");
  simulate_refuses({"--compressor", "top-k"}, 2,
                   "unknown compressor 'top-k'; did you mean 'topk'?");
  simulate_refuses({"--compresor", "topk"}, 2,
                   "unknown flag '--compresor'; did you mean '--compressor'?");
  simulate_refuses({"--compressor", "powersgd", "--rank", "4"}, 2,
                   "unknown flag '--rank'; powersgd's rank is --parameter");
  simulate_refuses({"--levels=127"}, 2, "unknown flag '--levels'; qsgd's levels is --parameter");
  refuses({"train", "--clip", "3"}, 2, "unknown flag '--clip'; terngrad's clip is --parameter");
  refuses({"list", "--rank", "4"}, 2, "unknown flag '--rank'; see `gradcast list --help`");
  simulate_refuses({"topk"}, 2, "'topk' does not belong here");
  simulate_refuses({"--", "--density"}, 2, "'--density' stands where words stand: flags go before");
  simulate_refuses({"--density"}, 2, "density");
  simulate_refuses({"--density="}, 2, "--density: the value is empty");
  simulate_refuses({"--nodes", "2", "--nodes", "4"}, 2, "--nodes is given twice");
  simulate_refuses({"--engine", "ns-3"}, 2, "unknown engine 'ns-3'");
  simulate_refuses({"--format", "xml"}, 2, "'xml' is not table, csv or json");
  simulate_refuses({"--trace", "iteration-resnet-50-v10"}, 2,
                   "did you mean 'iteration-resnet-50-v100'?");
  simulate_refuses({"--cluster", "10gbe-44"}, 2, "did you mean '10gbe-4x4'?");
  simulate_refuses({"--cluster", "10gbe-4x3"}, 2, "did you mean '10gbe'?");
  simulate_refuses({"--compressor", "PowerSGD"}, 2, "did you mean 'powersgd'?");
  simulate_refuses({"--density", "1%", "--compressor", "signsgd-ef"}, 2,
                   "did you mean 'efsignsgd'?");
  simulate_refuses(
      {"--compressor", "topk", "--density", "200%"}, 2,
      "--density: '200%' is not a density above 0 and up to 1, like '0.001' or '0.1%'");
  simulate_refuses({"--collective", "ring-all-gather"}, 2, "does not serve compressor 'dense'");
  simulate_refuses({"--collective", "ring-all-reduce", "--compressor", "topk"}, 2,
                   "does not serve compressor 'topk'");
  simulate_refuses({"--collective", "parameter-server", "--compressor", "efsignsgd"}, 2,
                   "does not serve compressor 'efsignsgd': use one of ring-all-gather, "
                   "rail-ring-all-gather, bruck-all-gather, ");
  simulate_refuses(
      {"--collective", "ring-all-reduce", "--compressor", "randk", "--wire-messages", "2"}, 2,
      "adds up the values of 'randk', and no indices travel");
  simulate_refuses({"--mode", "paper", "--compressor", "topk"}, 3, "in mode 'paper'");
}

TEST_CASE("a wrong value is answered with 2 and its flag", "[cli]") {
  simulate_refuses({"--nic-bandwidth", "10"}, 2,
                   "--nic-bandwidth: '10' has no unit; write a bandwidth like '9.43Gbps'");
  simulate_refuses({"--nic-bandwidth", "-1Gbps"}, 2, "--nic-bandwidth: '-1Gbps' is negative");
  simulate_refuses({"--nic-latency", "25"}, 2, "--nic-latency: '25' has no unit");
  simulate_refuses({"--density", "0"}, 2, "--density: '0' is not a density above 0 and up to 1");
  simulate_refuses({"--density", "2"}, 2, "--density: '2' is not a density above 0 and up to 1");
  simulate_refuses({"--density", "nan"}, 2, "--density: 'nan' is not a finite number");
  simulate_refuses({"--nodes", "0"}, 2, "--nodes: '0' is not a count");
  simulate_refuses({"--nodes", "4.5"}, 2, "--nodes: '4.5' is not a whole number");
  simulate_refuses({"--batch", "many"}, 2, "--batch: 'many' is not a whole number");
  simulate_refuses(
      {"--fusion", "mergd"}, 2,
      "--fusion: 'mergd' is not 'layer', 'merged', 'ddp', 'ddp-find-unused', 'mg-wfbp', ");
  simulate_refuses(
      {"--fusion", "cycle:5ms"}, 2,
      "--fusion: 'cycle:5ms' does not give a cycle its time (1us or more) and the most "
      "bytes of a bucket; write it like 'cycle:5ms,64MiB'");
  simulate_refuses({"--fusion", "ddp:0B"}, 2,
                   "--fusion: 'ddp:0B' does not give DDP's buckets a size");
  simulate_refuses({"--pipeline", "maybe"}, 2, "--pipeline: 'maybe' is not 'yes' or 'no'");
  simulate_refuses({"--selection", "layer"}, 2,
                   "--selection: 'layer' is not 'merged' or 'per-tensor'");
  simulate_refuses({"--overlap", "true"}, 2, "--overlap: 'true' is not 'yes' or 'no'");
  simulate_refuses({"--wire-messages", "3"}, 2, "--wire-messages: '3' is not a count from 1 to 2");
  refuses({"compare", "--max-error", "0"}, 2, "--max-error: '0'");
}

TEST_CASE("a wrong file is answered with 3, its name and its line", "[cli]") {
  TemporaryFolder folder;
  const std::string header = "# device: X\n# batch: 1\n";
  const std::string columns = "tensor,forward_seconds,backward_seconds\n";
  const std::string model = folder.write(
      "model.csv", "layer,tensor,elements,forward_flops\na,a.w,1000,1\nb,b.w,1000,1\n");
  const auto trace_refused = [&](const std::string& content, const std::string& says) {
    const std::string trace = folder.write("trace.csv", content);
    refuses({"simulate", "--model", model, "--trace", trace}, 3, says);
  };
  trace_refused(header + "tensor,forward_seconds\na.w,1\n",
                "trace.csv:3: the header lacks the column 'backward_seconds'");
  trace_refused(header + columns + "a.w,-1,1\nb.w,1,1\n",
                "trace.csv:4: column 'forward_seconds': -1 is not between 0 and");
  trace_refused(header + columns + "a.w,1,1\nb.w,nan,1\n",
                "trace.csv:5: column 'forward_seconds': 'nan' is not a finite number");
  trace_refused(header + columns + "a.w,1,1\nb.w,1,0.00",
                "trace.csv:5: the last line has no line break");
  trace_refused(header + columns + "a.w,1,1\nb.w,1\n", "trace.csv:5: fewer fields");
  trace_refused(header + columns + "a.w,1,1\n", "is not a trace of model 'model': 1 tensors");
  trace_refused("", "trace.csv: ");

  refuses({"simulate", "--model", (folder.path / "none.csv").string()}, 3,
          "none.csv: cannot read this file: No such file");
  refuses({"simulate", "--model", "resnet-50", "--trace", folder.path.string() + "/"}, 3,
          "cannot read this file: Is a directory");
  refuses({"simulate", "--model", "resnet-50", "--compressor", "topk", "--costs",
           folder.write("costs.csv", "compressor\n")},
          3, "costs.csv:1: the header lacks the column 'mode', 'implementation'");
}

TEST_CASE("more than can be simulated is refused, not computed wrongly", "[cli]") {
  // 402905 x 10660 would be 4 in 32 bits.
  simulate_refuses({"--nodes", "402905", "--gpus-per-node", "10660"}, 2,
                   "402905 nodes of 10660 GPUs are 4294967300 ranks; the most is 65536");
  simulate_refuses({"--nic-bandwidth", "1e308Tbps"}, 2, "is not a bandwidth from");
  simulate_refuses({"--nic-bandwidth", "1e-300bps"}, 2, "is not a bandwidth from");
  simulate_refuses({"--nic-latency", "1e300s"}, 2, "is longer than");
  const Ran ran = gradcast_runs("simulate", "--model", "resnet-50", "--nodes", "1000", "--fusion",
                                "layer", "--engine", "analytic", "-q");
  CHECK(ran.exit_code == 0);
}

TEST_CASE("a platform file that cannot be simulated is answered with 3, its misuse with 2",
          "[cli]") {
  TemporaryFolder folder;
  simulate_refuses({"--cluster", "./none.xml"}, 3, "none.xml: cannot read this file: No such file");
  const std::string platform = folder.write("mine.xml", R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="10Gbps" lat="20us"/>
</platform>
)");
  if (gradcast_runs("simulate", "--model", "alexnet", "--cluster", platform.c_str()).exit_code == 5)
    return;  // a build without SimGrid
  simulate_refuses({"--cluster", folder.write("broken.xml", "hello\n")}, 3,
                   "broken.xml:1: SimGrid cannot read this platform");
  simulate_refuses({"--cluster", platform, "--nic-latency", "1us"}, 2,
                   "nic_latency: that is said by the platform file; change it in");
  simulate_refuses({"--cluster", platform, "--nodes", "8"}, 2,
                   "nodes: that is said by the platform file");
  simulate_refuses(
      {"--cluster", platform, "--engine", "analytic"}, 2,
      "the analytic engine cannot read SimGrid's platform files; use --engine simgrid");
  const Ran ran = gradcast_runs("simulate", "--model", "alexnet", "--cluster", platform.c_str(),
                                "--per-iteration-overhead", "2ms", "-f", "csv");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("mine.xml") && Contains("as the platform file"));
}

TEST_CASE("a collective that does not suit the run is answered with 2, and what would", "[cli]") {
  simulate_refuses({"--collective", "ring-reduce-scatter"}, 2,
                   "training needs all of it: use one of ring");
  simulate_refuses({"--collective", "gtopk", "--compressor", "gaussian"}, 2,
                   "needs the same count on every rank");
  simulate_refuses({"--collective", "gtopk", "--compressor", "topk", "--wire-messages", "2"}, 2,
                   "carries index-value pairs");
  simulate_refuses({"--payload", "1MiB"}, 2, "--payload asks for a collective without a model");
  refuses({"simulate", "--payload", "0B"}, 2, "a collective carries at least one byte");
  refuses({"simulate", "--payload", "1MiB", "--collective", "gtopk"}, 2, "use --model");
  refuses({"simulate", "--payload", "1MiB", "--compressor", "topk"}, 2, "compresses nothing");
}

TEST_CASE("a cluster that cannot be is answered with 2 where flags made it", "[cli]") {
  TemporaryFolder folder;
  const std::string unequal =
      folder.write("unequal.csv",
                   "property,value,source\nnodes,4,x\ngpus_per_node,2,x\nnic_bandwidth,1Gbps,x\n"
                   "intra_bandwidth,1GBps,x\nnic_bandwidth@3,2Gbps,x\n");
  simulate_refuses({"--cluster", unequal, "--nodes", "3"}, 2,
                   "'nic_bandwidth@3' is of a node that is not there: the last of 3 is 2");
  simulate_refuses({"--nodes-per-leaf", "2"}, 2,
                   "'nodes_per_leaf' says nothing without 'leaf_uplink_bandwidth'");
  simulate_refuses({"--communication-slowdown", "5"}, 2,
                   "--communication-slowdown: '5' has no unit; write a share like '5%'");
}

TEST_CASE("bytes that are no text are refused, names in another encoding are shown", "[cli]") {
  TemporaryFolder folder;
  const std::string model =
      folder.write("m.csv", "layer,tensor,elements,forward_flops\na,a.w,1000,1\n");
  const std::string nul = folder.write(
      "nul.csv",
      std::string("# batch: 1\ntensor,forward_seconds,backward_seconds\na.w,1,1") + '\0' + "9\n");
  refuses({"simulate", "--model", model, "--trace", nul}, 3, "nul.csv:3: has a NUL byte");
  const std::string latin = folder.write(
      "latin.csv",
      "# device: Caf\xe9\n# batch: 1\ntensor,forward_seconds,backward_seconds\na.w,1,1\n");
  CHECK(gradcast_runs("simulate", "--model", model.c_str(), "--trace", latin.c_str(), "-f", "json")
            .exit_code == 0);
  const std::string marked = folder.write(
      "bom.csv", "\xEF\xBB\xBF# batch: 1\ntensor,forward_seconds,backward_seconds\na.w,1,1\n");
  CHECK(gradcast_runs("simulate", "--model", model.c_str(), "--trace", marked.c_str()).exit_code ==
        0);
}

TEST_CASE("a file that may not be read is answered with 3", "[cli]") {
  if (geteuid() == 0) return;  // root may read all
  TemporaryFolder folder;
  const std::string secret = folder.write("secret.csv", "x\n");
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  refuses({"simulate", "--model", secret}, 3, "secret.csv: cannot read this file: Permission");
}

TEST_CASE("a disk that fills up leaves the old file, and no part of the new one", "[cli]") {
  TemporaryFolder folder;
  const std::string out = folder.write("out.csv", "old");
  // No file may grow beyond 16 bytes: the write into the temporary file fails half way.
  const Ran ran =
      gradcast_limited({"simulate", "--model", "alexnet", "-o", out, "--engine", "analytic"}, 16);
  CHECK(ran.exit_code == 1);
  CHECK(folder.files() == 1);
  CHECK(std::filesystem::file_size(out) == 3);
}

TEST_CASE("closed standard streams are no reason to fail", "[cli]") {
  TemporaryFolder folder;
  const std::string out = (folder.path / "x.csv").string();
  const std::string command =
      std::string(GRADCAST_PROGRAM) + " simulate --model alexnet -o " + out + " >&- 2>&- <&-";
  CHECK(std::system(command.c_str()) == 0);
  CHECK(std::filesystem::file_size(out) > 100);
}

TEST_CASE("a full disk is answered with 1, on a file and on standard output", "[cli]") {
  refuses({"simulate", "--model", "alexnet", "-o", "/dev/full"}, 1,
          "cannot write /dev/full: No space left");
  const Ran ran = gradcast_with({"simulate", "--model", "alexnet"}, "/dev/full");
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.err, Contains("cannot write standard output: No space left"));
}

TEST_CASE("a result that could not be computed leaves the old file as it was", "[cli]") {
  TemporaryFolder folder;
  const std::string out = folder.write("out.csv", "old");
  CHECK(gradcast_runs("simulate", "--model", "resnet-50", "--costs", "/none.csv", "--compressor",
                      "topk", "-o", out.c_str())
            .exit_code == 3);
  CHECK(folder.files() == 1);
  const Ran ran = gradcast_runs("simulate", "--model", "alexnet", "-o", out.c_str());
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.empty());
  CHECK(folder.files() == 1);
  CHECK(std::filesystem::file_size(out) > 100);  // CSV, as the ending says
}
