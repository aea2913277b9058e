// The data files that are committed: all can be read, fit each other, and are what the generator
// makes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "sim/fit/structure.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/inputs/cluster.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/devices.hpp"
#include "sim/inputs/iteration_trace.hpp"
#include "sim/inputs/measured.hpp"

using namespace gradcast;

namespace {

const std::filesystem::path kRoot = GRADCAST_SOURCE_DIR;

/// Networks whose iteration on a V100 somebody published, with the images of an iteration.
const std::map<std::string, int> kPublishedOnV100 = {
    {"alexnet", 128},      {"vgg-16", 128},          {"resnet-50", 128},
    {"inception-v4", 128}, {"resnet-152", 128},      {"densenet-161", 64},
    {"densenet-201", 64},  {"resnext-50-32x4d", 32}, {"resnext-101-32x8d", 32}};

/// Throws where it is not of the model.
IterationTrace trace_of(DataFiles& files, const std::string& model, const std::string& device) {
  const IterationTrace trace =
      load_iteration_trace(files.read(kIterationTraces, "iteration-" + model + "-" + device));
  require_same_tensors(load_model(files.read(kModels, model)), trace);
  return trace;
}

/// Checks that the compute time of the source's rows is the trace's, to its nanoseconds.
void check_compute(const MeasuredRuns& measured, const std::string& source, std::size_t rows) {
  DataFiles files(kRoot);
  std::size_t found = 0;
  for (const MeasuredRun& run : measured.runs) {
    if (run.source != source) continue;
    ++found;
    CAPTURE(run.model);
    const IterationTrace trace =
        load_iteration_trace(files.read(kIterationTraces, "iteration-" + run.model + "-v100"));
    CHECK(run.batch == trace.batch);
    CHECK(run.compute.count() == Approx(trace.iteration().count()).epsilon(1e-5));
  }
  CHECK(found == rows);
}

}  // namespace

TEST_CASE("committed data is what `generate_data` makes, to the byte", "[data]") {
  for (const GeneratedFile& file : all_generated_files(kRoot)) {
    CAPTURE(file.path);
    const bool same = read_text_file(kRoot / file.path).content == file.content;
    CHECK(same);  // not the texts themselves: they are long
  }
}

TEST_CASE("every committed file can be read, and names its source in a comment", "[data]") {
  DataFiles files(kRoot);
  const auto check = [&](const DataKind& kind, auto load) {
    for (const std::string& name : files.names(kind)) {
      CAPTURE(name);
      const TextFile file = files.read(kind, name);
      CHECK_NOTHROW(load(file));
      CHECK_THAT(file.content, Catch::StartsWith("#"));
    }
    CHECK_FALSE(files.names(kind).empty());
  };
  check(kModels, load_model);
  check(kIterationTraces, load_iteration_trace);
  check(kCostTables, load_cost_table);
  check(kMeasuredRuns, load_measured_runs);
  check(kClusters, load_cluster);
  check(kFitStructures, load_fit_structures);
  check(kDevices, load_devices);
  const TextFile example = files.read_path((kRoot / "traces/examples/deltak.csv").string());
  CHECK(load_compressor(example)->mathematics != nullptr);
}

TEST_CASE("every model with a published V100 total has a trace of the same tensors", "[data]") {
  DataFiles files(kRoot);
  for (const auto& [name, batch] : kPublishedOnV100) {
    CAPTURE(name);
    CHECK(trace_of(files, name, "v100").batch == batch);
  }
}

TEST_CASE("every trace is of a model, and has its tensors", "[data]") {
  DataFiles files(kRoot);
  for (const std::string& name : files.names(kIterationTraces)) {
    CAPTURE(name);
    std::string of;  // the longest name that fits: vgg-16-cifar, not vgg-16
    for (const std::string& model : files.names(kModels))
      if (name.starts_with("iteration-" + model + "-") && model.size() > of.size()) of = model;
    REQUIRE_FALSE(of.empty());
    CHECK_NOTHROW(trace_of(files, of, name.substr(("iteration-" + of + "-").size())));
  }
}

// 5 models x 3 algorithms x 4 numbers of workers. ResNet-50's 256 images are 16 micro-steps of 16.
TEST_CASE("gTop-k's sixty rows are the script's, and ten dense ones are not claimed", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-gtopk-1gbe"));
  REQUIRE(measured.runs.size() == 60);
  std::set<std::string> why;
  for (const MeasuredRun& run : measured.runs) {
    CAPTURE(run.model, run.compressor, run.nodes);
    CHECK(run.outside.empty() == !(run.compressor == "dense" && run.nodes >= 16));
    if (!run.outside.empty()) why.insert(run.outside);
    CHECK(run.accumulation == (run.model == "resnet-50" ? 16 : 1));
    CHECK(run.wire_bytes_per_element.value_or(8) == (run.collective == "gtopk" ? 16 : 8));
    CHECK_NOTHROW(load_iteration_trace(files.read(kIterationTraces, run.trace)));
  }
  CHECK(why.size() == 1);
}

// Its sentence: of VGG-16, AlexNet and ResNet-50, (iteration - compute) over 4 bytes a parameter.
// AlexNet on 8: (64 / 12.118 - 64 / 173.469) / 244,403,360 = 20.1 ns. A ring's 2 (P - 1) / P bytes
// take 9 ns each: 15.75 ns on 8 and 17.4 on 32.
TEST_CASE("why ten dense rows are not claimed can be worked out from the rows", "[data]") {
  DataFiles files(kRoot);
  std::map<int, std::pair<double, double>> range;  // nanoseconds a byte, by workers
  for (const MeasuredRun& run :
       load_measured_runs(files.read(kMeasuredRuns, "measured-gtopk-1gbe")).runs) {
    if (run.compressor != "dense" || run.model == "resnet-20" || run.model == "lstm-ptb") continue;
    const auto bytes =
        4.0 * static_cast<double>(load_model(files.read(kModels, run.model)).elements());
    const double each = (run.iteration - run.compute).count() / bytes * 1e9;
    auto [low, high] = range.try_emplace(run.nodes, each, each).first->second;
    range[run.nodes] = {std::min(low, each), std::max(high, each)};
  }
  const auto rounded = [&](int workers) {
    return std::pair(std::round(range[workers].first), std::round(range[workers].second));
  };
  CHECK(rounded(8) == std::pair(20.0, 22.0));
  CHECK(rounded(16) == std::pair(52.0, 61.0));
  CHECK(rounded(32) == std::pair(171.0, 211.0));
}

// 8 workers x 128 images; one worker alone has 409.4513 images/s. 4 densities: of Top-k and Rand-k
// with and without memory, of DGC with it; each measured, and as an upper bound: 2 x (8 + 4 + 8)
// are 40, and a dense one.
TEST_CASE("GRACE's rows are its throughputs, and half of the sparse ones compress nothing",
          "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-grace-resnet50-10g"));
  REQUIRE(measured.runs.size() == 41);
  int bounds = 0;
  for (const MeasuredRun& run : measured.runs) {
    CAPTURE(run.line);
    CHECK(run.compute.count() == Approx(128 / 409.4513).epsilon(1e-5));
    CHECK(run.stack == "horovod-mpi");
    CHECK_FALSE(run.assumed.empty());
    CHECK((run.selection == SelectionScope::PerTensor) == (run.compressor != "dense"));
    const bool reduced = run.compressor == "randk" || run.compressor == "dense";
    CHECK(run.collective == (reduced ? "ring-all-reduce" : "ring-all-gather"));
    bounds += run.compressing ? 0 : 1;
  }
  CHECK(bounds == 20);
  CHECK(measured.runs[0].compressor == "dense");
  CHECK(measured.runs[0].iteration.count() == Approx(8 * 128 / 2200.5328).epsilon(1e-5));
}

TEST_CASE(
    "GRACE's serial rows are the same runs under another schedule, and those of other compressors",
    "[data]") {
  DataFiles files(kRoot);
  const auto runs = [&](const char* name) {
    return load_measured_runs(files.read(kMeasuredRuns, name)).runs;
  };
  const std::vector<MeasuredRun> one = runs("measured-grace-resnet50-10g");
  const std::vector<MeasuredRun> other = runs("measured-grace-resnet50-10g-serial");
  REQUIRE(one.size() <= other.size());
  // 12 of QSGD, 4 each of natural, int8, TernGrad and signSGD, 2 each of onebit, EF-signSGD and
  // PowerSGD: with and without the work of compressing, most with and without error feedback.
  CHECK(other.size() - one.size() == 12 + 4 * 4 + 3 * 2);
  for (std::size_t i = one.size(); i < other.size(); ++i) {
    CAPTURE(other[i].line);
    CHECK(known_compressor(other[i].compressor).family != Family::Sparsifier);
    CHECK(other[i].density == 1);
    CHECK((other[i].compressor == "qsgd" || other[i].compressor == "powersgd") ==
          other[i].parameter.has_value());
  }
  for (std::size_t i = 0; i < one.size(); ++i) {
    CAPTURE(one[i].line);
    CHECK(other[i].iteration == one[i].iteration);
    CHECK(other[i].compute == one[i].compute);
    CHECK(other[i].compressor == one[i].compressor);
    CHECK(other[i].density == one[i].density);
    CHECK(other[i].compressing == one[i].compressing);
    CHECK_FALSE(other[i].overlap);
  }
}

// 3 lengths, each in 7 ways: buckets of 1 to 1000 MiB, a tensor at a time with and without overlap,
// all in one. The trace of a length adds up to what one GPU takes.
TEST_CASE("the transformer's rows are of three lengths, each with a trace of its own", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured = load_measured_runs(files.read(kMeasuredRuns, "measured-cs336-xl"));
  CHECK(measured.runs.size() == 3 * 7);
  for (const MeasuredRun& run : measured.runs) {
    CAPTURE(run.line);
    const IterationTrace trace = load_iteration_trace(files.read(kIterationTraces, run.trace));
    CHECK(trace.batch == run.batch);
    CHECK(trace.iteration().count() == Approx(run.compute.count()).epsilon(1e-5));
    CHECK(run.stack == "ddp-nccl");
  }
}

// OpenMPI's rule before 4.1 changes from recursive doubling to a ring at 10,000 bytes.
TEST_CASE("OSU's rows change their collective where OpenMPI does", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-osu-allreduce-10gbe"));
  CHECK(measured.runs.size() == 2 * 18);
  for (const MeasuredRun& run : measured.runs)
    CHECK(run.collective ==
          (run.payload < Bytes{10'000} ? "recursive-doubling-all-reduce" : "ring-all-reduce"));
}

// Four models, two sizes of buckets, each on 1, 2, 4, 8 and 16 GPUs. One GPU without DDP takes
// 0.097 s (ResNet-50) to 0.415 s (ResNeXt-101): more GPUs are never faster. The ResNeXts have
// sources of their own, which no group of runs names: the fits of stacks see the ResNets alone.
TEST_CASE("PyTorch's DDP rows are of one to sixteen GPUs, slower than one alone", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-pytorch-ddp"));
  const std::map<std::string, double> alone{{"resnet-50", 0.097},
                                            {"resnet-101", 0.162},
                                            {"resnext-50-32x4d", 0.145},
                                            {"resnext-101-32x8d", 0.415}};
  std::map<std::string, int> rows;
  for (const MeasuredRun& run : measured.runs) {
    CAPTURE(run.line);
    ++rows[run.model + " " + to_text(run.fusion)];
    CHECK(run.compute.count() == alone.at(run.model));
    CHECK(run.iteration > run.compute);
    CHECK(run.fusion.kind == Fusion::Kind::Ddp);
    CHECK(run.stack == "ddp-nccl");
    CHECK((run.source.find("resnext") != std::string::npos) == run.model.starts_with("resnext"));
  }
  CHECK(rows.size() == 4 * 2);
  for (const auto& [kind, count] : rows) {
    CAPTURE(kind);
    CHECK(count == 5);
  }
  const std::string groups = files.read(kStackLists, "stack-groups").content;
  CHECK(groups.find("measured-pytorch-ddp,pytorch-ddp-25mb,") != std::string::npos);
  CHECK(groups.find("resnext") == std::string::npos);
}

// 6 servers of ResNet-50; BERT of 128 and of 512 tokens, each in two precisions on 1 to 32 nodes.
// 32 nodes in mixed precision: 256 ranks x 256 sequences / 138,294 a second, and one of them 256 /
// 580. Ranks x micro-steps are alike in all runs of a kind: 8 x 32, ... 256 x 1.
TEST_CASE("NVIDIA's rows are its throughputs, and BERT's batch is shared out among the ranks",
          "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-nvidia-examples"));
  REQUIRE(measured.runs.size() == 6 + 2 * 2 * 6);
  const MeasuredRun& last = measured.runs[6 + 5];
  CHECK(last.nodes == 32);
  CHECK(last.iteration.count() == Approx(256 * 256 / 138'294.0).epsilon(1e-5));
  CHECK(last.compute.count() == Approx(256 / 580.0).epsilon(1e-5));
  CHECK(last.precision.gradient == NumberType::Fp16);
  for (std::size_t i = 6; i < measured.runs.size(); ++i) {
    const MeasuredRun& run = measured.runs[i];
    const MeasuredRun& first = measured.runs[i - (i - 6) % 6];
    CHECK(run.nodes * run.accumulation == first.accumulation);
    CHECK(run.nodes * run.batch == first.batch);
  }
}

// 448 images on each of two RTX 4090 at 2468 images/s, one alone has 1301.
TEST_CASE("Lambda's rows are images a second", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-lambda-resnet50"));
  REQUIRE(measured.runs.size() == 3 + 3 + 1);
  CHECK(measured.runs.back().iteration.count() == Approx(2 * 448 / 2468.0).epsilon(1e-5));
  CHECK(measured.runs.back().compute.count() == Approx(448 / 1301.0).epsilon(1e-5));
}

namespace {

/// Rows and claimed rows of each source.
std::map<std::string, std::pair<int, int>> counted(const MeasuredRuns& measured) {
  std::map<std::string, std::pair<int, int>> rows;
  for (const MeasuredRun& run : measured.runs) {
    ++rows[run.source].first;
    rows[run.source].second += run.outside.empty() ? 1 : 0;
  }
  return rows;
}

}  // namespace

// Eleven builds (of ngc-tensorflow with and without XLA, paddle, mxnet ... in two precisions) on 8,
// 16 and 32 GPUs, and on 2 and 4 where a row of one GPU has the same batch. OneFlow in fp32 on 32:
// 32 x 128 / 12411.97 s, one alone 128 / 397.64 s. Of OneFlow, PaddlePaddle and TensorFlow 2 no
// stack is known here, and MXNet in AMP reads images too slowly.
TEST_CASE("DLPerf's rows are images a second, and a source is one build", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured = load_measured_runs(files.read(kMeasuredRuns, "measured-dlperf"));
  using Rows = std::pair<int, int>;
  CHECK(counted(measured) == std::map<std::string, Rows>{{"dlperf-oneflow", {6, 0}},
                                                         {"dlperf-ngc-mxnet", {6, 6}},
                                                         {"dlperf-ngc-tensorflow", {6, 6}},
                                                         {"dlperf-ngc-tensorflow-xla", {3, 3}},
                                                         {"dlperf-ngc-pytorch", {8, 8}},
                                                         {"dlperf-mxnet", {10, 5}},
                                                         {"dlperf-tensorflow-2", {9, 0}},
                                                         {"dlperf-pytorch", {3, 3}},
                                                         {"dlperf-paddle", {9, 0}}});
  const auto oneflow = std::ranges::find_if(measured.runs, [](const MeasuredRun& run) {
    return run.source == "dlperf-oneflow" && run.nodes == 4 && run.batch == 128;
  });
  REQUIRE(oneflow != measured.runs.end());
  CHECK(oneflow->iteration.count() == Approx(32 * 128 / 12411.97).epsilon(1e-5));
  CHECK(oneflow->compute.count() == Approx(128 / 397.64).epsilon(1e-5));
}

// Each PyTorch has DDP on 4 and 8 GPUs, with made and with read images, and most of them fp16, 2
// GPUs and Lightning; 2.0.0 ran on several days. GPT-Neo has 128 sequences a step, two a
// micro-step.
TEST_CASE("CSC's rows are of nine PyTorchs on two clusters, and only DDP's are claimed", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured = load_measured_runs(files.read(kMeasuredRuns, "measured-csc"));
  using Rows = std::pair<int, int>;
  CHECK(counted(measured) == std::map<std::string, Rows>{{"csc-mahti-pytorch-1.11.0", {8, 4}},
                                                         {"csc-mahti-pytorch-2.0.0", {37, 22}},
                                                         {"csc-mahti-pytorch-2.2.1", {15, 10}},
                                                         {"csc-mahti-pytorch-2.3.1", {15, 10}},
                                                         {"csc-mahti-pytorch-2.9.1", {15, 10}},
                                                         {"csc-puhti-pytorch-1.11.0", {7, 4}},
                                                         {"csc-puhti-pytorch-2.0.0", {37, 21}},
                                                         {"csc-puhti-pytorch-2.2.1", {15, 10}},
                                                         {"csc-puhti-pytorch-2.3.1", {15, 10}}});
  for (const MeasuredRun& run : measured.runs) {
    CAPTURE(run.line);
    CHECK(run.source.starts_with("csc-" + run.cluster));
    CHECK_FALSE((run.outside.empty() && run.stack != "ddp-nccl"));
    if (run.model != "gpt-neo-125m") continue;
    CHECK_FALSE(run.outside.empty());
    CHECK(run.nodes * run.gpus_per_node * run.batch == 128);
    CHECK(run.batch == 2 * run.accumulation);
  }
}

// MXNet: two precisions on 4 and 8 GPUs of a DGX A100, on 2, 4 and 8 of a DGX-1, on 2 to 16 of a
// DGX-2. TensorFlow: two precisions on all GPUs of three servers.
TEST_CASE("NVIDIA's rows of Horovod are of one node", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-nvidia-horovod"));
  using Rows = std::pair<int, int>;
  CHECK(counted(measured) ==
        std::map<std::string, Rows>{{"nvidia-mxnet", {2 * (2 + 3 + 4), 2 * (2 + 3 + 4)}},
                                    {"nvidia-tensorflow", {6, 6}}});
  for (const MeasuredRun& run : measured.runs) CHECK(run.nodes == 1);
}

// 2 x 8192 tokens at 6514 tokens/s on 128 GPUs, compiled. Alone: so that forward, backward and an
// eighth of the update, which is 3.111 % of the trace, are the 2 x 8192 / 6667 s of 8 GPUs.
TEST_CASE("torchtitan's rows are tokens a second, and compute is from those of 8 GPUs", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-torchtitan-fsdp"));
  REQUIRE(measured.runs.size() == 2 * 2);
  const IterationTrace trace =
      load_iteration_trace(files.read(kIterationTraces, "iteration-llama-3-8b-h100"));
  const double update = trace.update / trace.iteration();
  CHECK(update == Approx(0.03111).epsilon(1e-3));
  for (const MeasuredRun& run : measured.runs) {
    CAPTURE(run.line);
    CHECK(run.sharding.kind == Sharding::Fsdp);
    CHECK(run.outside.empty() == (run.nodes == 16));
  }
  CHECK(measured.runs[3].iteration.count() == Approx(2 * 8192 / 6514.0).epsilon(1e-5));
  CHECK(measured.runs[3].compute.count() * (1 - 7.0 / 8 * update) ==
        Approx(2 * 8192 / 6667.0).epsilon(1e-5));
}

// 8 GiB on 32 nodes: 8,589,934,592 bytes at 161.18 GB/s.
TEST_CASE("NCCL's rows on P5 are its algorithm bandwidths, by NCCL's rule", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured = load_measured_runs(files.read(kMeasuredRuns, "measured-nccl-p5"));
  REQUIRE(measured.runs.size() == 5 * 9);
  CHECK(measured.runs.back().iteration.count() == Approx(8'589'934'592 / 161.18e9).epsilon(1e-4));
  for (const MeasuredRun& run : measured.runs) {
    CHECK(run.collective == "nccl");
    CHECK(run.outside.empty());
  }
}

// 8 logs of sockets on Polaris and one that is not claimed, 15 of libfabric, each 1 KiB to 1 GiB:
// 21 sizes. Snellius has three collectives of 18 sizes on one node and of 24 on two, the H100 nodes
// of
// 10. vTrain's tables of 2, 4 and 8 A100 and of 2 and 8 V100 have the 11 powers of two from 1 MiB
// to 1 GiB.
TEST_CASE("nccl-tests' rows are of nine clusters, a source for each log", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-nccl-tests"));
  std::map<std::string, int> of_source;
  std::map<std::string, std::set<std::string>> of_cluster;
  std::set<std::string> not_claimed;
  for (const MeasuredRun& run : measured.runs) {
    CAPTURE(run.line);
    ++of_source[run.source];
    of_cluster[run.cluster].insert(run.source);
    if (!run.outside.empty()) not_claimed.insert(run.source);
    const Cluster cluster = load_cluster(files.read(kClusters, run.cluster));
    // The files of Ethernet alone are of one GPU, "to change by flags".
    CHECK((cluster.gpus_per_node == 1 || run.gpus_per_node <= cluster.gpus_per_node));
    // The payload of an all-gather is each rank's part of the bytes that nccl-tests counts.
    const int ranks = run.nodes * run.gpus_per_node;
    CHECK(run.payload.count * (run.collective == "nccl-all-gather" ? ranks : 1) >= 1024);
  }
  CHECK(of_cluster["polaris"].size() == 15);
  CHECK(of_cluster["polaris-tcp"].size() == 9);
  CHECK(of_cluster["dgx-1-v100"].size() == 2);
  CHECK(of_cluster["vtrain-a100"].size() == 3);
  CHECK(of_cluster.size() == 9);
  for (const auto& [source, rows] : of_source) {
    CAPTURE(source);
    if (source.starts_with("polaris")) CHECK(rows == 21);
    if (source.starts_with("snellius")) CHECK(rows == 3 * (source == "snellius-n1" ? 18 : 24));
    if (source.starts_with("hgx-h100")) CHECK(rows == 3 * 10);
    if (source.starts_with("vtrain")) CHECK(rows == 11);
  }
  CHECK(not_claimed == std::set<std::string>{"nccl-450", "nccl-tests-83",
                                             "polaris-n8-nccl2.18-setup1-2023", "vtrain-v100-2"});
}

// A log doubles its sizes, or quadruples them (orcd-b200). skypilot-nebius has 512 MiB to 8 GiB: 5
// rows. An all-gather of 1 KiB on 16 ranks is 64 bytes of each.
TEST_CASE("published logs of NCCL are of many owners, each size once", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-nccl-published"));
  std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> sizes;
  std::set<std::string> owners;
  for (const MeasuredRun& run : measured.runs) {
    CAPTURE(run.line);
    owners.insert(run.source.substr(0, run.source.find('-')));
    const Cluster cluster = load_cluster(files.read(kClusters, run.cluster));
    CHECK(run.gpus_per_node == cluster.gpus_per_node);
    const int ranks = run.nodes * run.gpus_per_node;
    sizes[{run.source, run.collective}].push_back(
        run.payload.count * (run.collective == "nccl-all-gather" ? ranks : 1));
    if (!run.outside.empty()) CHECK(run.source == "ocijapan-a100-n2");
    CHECK((!run.nccl.empty() || run.assumed == "the version of NCCL" ||
           (run.assumed.starts_with("the version of RCCL") && is_amd(gpu_generation_of(cluster)))));
  }
  CHECK(owners.size() == 34);
  CHECK(sizes.size() == 54);
  for (const auto& [log, its] : sizes) {
    CAPTURE(log.first);
    CHECK(its.front() >= 1024);
    const std::int64_t factor = log.first == "orcd-b200" ? 4 : 2;
    for (std::size_t i = 1; i < its.size(); ++i) CHECK(its[i] == factor * its[i - 1]);
    if (log.first.starts_with("skypilot-nebius")) CHECK(its.size() == 5);
  }
}

// nccl-tests prints a bus bandwidth of 36.06 GB/s for 1 GiB on 32 GPUs: 2 x 31/32 of it in the
// time.
TEST_CASE("Polaris' file says what its all-reduces reach of two NICs", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-nccl-tests"));
  std::vector<double> reached;
  for (const MeasuredRun& run : measured.runs) {
    if (run.cluster != "polaris" || run.nodes > 8 || run.payload != Bytes{1 << 30}) continue;
    const double ranks = run.nodes * run.gpus_per_node;
    const double bus =
        2 * (ranks - 1) / ranks * static_cast<double>(run.payload.count) / run.iteration.count();
    if (run.source == "polaris-n8-nccl2.18-setup4") CHECK(bus == Approx(36.06e9).epsilon(1e-3));
    reached.push_back(bus);
  }
  REQUIRE(reached.size() == 11);
  std::ranges::sort(reached);
  const Cluster polaris = load_cluster(files.read(kClusters, "polaris"));
  CHECK(polaris.nics_per_node == 2);
  CHECK(polaris.nic_share * 2 * polaris.nic.bandwidth.value == Approx(reached[5]).epsilon(1e-3));
}

TEST_CASE("the paper's 0.2 s are of all of ResNet-50's gradients", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns claims =
      load_measured_runs(files.read(kMeasuredRuns, "measured-shi2019-claims"));
  REQUIRE(claims.runs.size() == 1);
  CHECK(claims.runs[0].payload.count ==
        4 * load_model(files.read(kModels, "resnet-50")).elements());
}

// Table 2 gives iteration time and scaling efficiency of four algorithms; their product is the time
// of one GPU alone, the same four times to 0.002 s. Here: AlexNet's 0.571 x 14.1 % = 0.0805.
TEST_CASE("a measured row's compute time is the trace's total", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-shi2019-table2"));
  check_compute(measured, "shi2019-table2", 16);
  CHECK(measured.runs[0].compute.count() == Approx(0.571 * 0.141).margin(0.002));
}

// 3 models x 2 networks x 3 ways of fusing: 18. The other six rows are of another GPU: 64
// images at 253.1 images/s alone, and 4 x 64 at 925.02 images/s on the first.
TEST_CASE("MG-WFBP's rows have the compute time of their traces", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-mg-wfbp-dense"));
  check_compute(measured, "shi-tpds-16xV100", 18);
  REQUIRE(measured.runs.size() == 18 + 6);
  const MeasuredRun& other = measured.runs[18];
  CHECK(other.compute.count() == Approx(64 / 253.1).margin(1e-6));
  CHECK(other.iteration.count() == Approx(4 * 64 / 925.02).margin(1e-6));
}
