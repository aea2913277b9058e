// Logs of torchtitan and Megatron-LM become measured rows. The files of logs/ are of real runs.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/readers.hpp"
#include "sim/import/text/training_log.hpp"
#include "sim/import/written.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::string logged(const std::string& name) {
  return read_text_file(GRADCAST_SOURCE_DIR "/tests/sim/import/logs/" + name + ".log").content;
}

ImportOptions said() {
  ImportOptions options;
  options.name = "ours";
  options.said = {"llama-3-8b", "iteration-llama-3-8b-h100", "dgx-h100", 0, {Seconds{0.04}}};
  options.machine = Cluster{};
  options.machine->gpus_per_node = 8;
  return options;
}

Imported imported_of(const std::vector<std::string>& texts, const ImportOptions& options = said()) {
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> paths;
  for (const std::string& text : texts)
    paths.push_back(folder.write(std::to_string(paths.size()) + ".log", text));
  return import_reader_for(paths).read(paths, options);
}

MeasuredRun row_in(const std::string& text, const ImportOptions& options = said()) {
  const Imported imported = imported_of({text}, options);
  REQUIRE(imported.runs.size() == 1);
  return imported.runs[0].row;
}

/// A log of torchtitan: each GPU takes 8 x 1000 tokens, so that 8000 tokens/s are 1 s.
std::string titan(const std::string& mesh, const std::vector<std::pair<int, std::string>>& steps) {
  std::string text = "[rank0]:[titan] Building 1-D device mesh with " + mesh +
                     "\n[rank0]:[titan] Training starts at step 1, with local batch size 8, global "
                     "batch size 64, sequence length 1000, total steps 10 (warmup 2)\n";
  for (const auto& [step, tps] : steps)
    text += "[rank0]:[titan] - root - INFO - step: " + std::to_string(step) +
            "  loss:  8.0  memory:  1.21GiB(0.86%)  tps: " + tps + "  tflops: 0.41  mfu: 0.04%\n";
  return text;
}

const std::string kEight = "['dp_shard'], [8]";
const std::string kFourSteps = titan(kEight, {{1, "50"}, {2, "8,000"}, {3, "7,992"}, {4, "8,008"}});

std::string megatron(const std::string& arguments, const std::string& times) {
  std::string text =
      "using world size: 16, data-parallel size: 16, context-parallel size: 1, "
      "tensor-model-parallel size: 1, pipeline-model-parallel size: 1\n"
      "------------------------ arguments ------------------------\n"
      "  micro_batch_size ................ 2\n  params_dtype .................... "
      "torch.bfloat16\n" +
      arguments;
  int number = 0;
  for (const std::string& time : split_words(times, ' '))
    text +=
        " [2024-10-24 16:22:31] iteration       " + std::to_string(++number) +
        "/   40000 | consumed samples:         1280 | elapsed time per iteration (ms): " + time +
        " | learning rate: 1.2E-05 | global batch size:    64 | lm loss: 1.1E+01 |\n";
  return text;
}

}  // namespace

TEST_CASE("a log of torchtitan is a row of FSDP2 without its warm-up", "[logs]") {
  const Imported imported = imported_of({logged("titan-h200-fsdp")});
  REQUIRE(imported.runs.size() == 1);
  const MeasuredRun& row = imported.runs[0].row;
  // 8 x 2048 tokens over 301,092, 359,546 and 347,712 tokens/s: the last is the median.
  CHECK(row.iteration.count() == Approx(16384. / 347'712));
  CHECK(imported.runs[0].least.count() == Approx(16384. / 359'546));
  CHECK(imported.runs[0].most.count() == Approx(16384. / 301'092));
  CHECK(imported.device == "NVIDIA H200");
  CHECK(row.nodes == 1);
  CHECK(row.gpus_per_node == 8);
  CHECK(row.batch == 8);
  CHECK(row.nccl == "2.27.5");
  CHECK(row.stack == "fsdp2-nccl");
  CHECK(to_text(row.sharding) == "fsdp");
  CHECK(row.precision.parameter == NumberType::Bf16);
  CHECK(row.precision.sum == NumberType::Fp32);
}

TEST_CASE("colours, their remains and the blanks of a web page do not matter", "[logs]") {
  const std::string plain = logged("titan-colours");
  const MeasuredRun row = row_in(plain);
  CHECK(row.iteration.count() == Approx(8192. / 7080));
  CHECK(runs_in_log({"a.log", plain}, Trainer::Torchtitan)[0].setup.model == "llama3 8B");
  std::string coloured = plain;
  for (std::size_t at = 0; (at = coloured.find("tps:", at)) != std::string::npos; at += 9)
    coloured.insert(at, "\x1b[36m");
  CHECK(row_in(coloured).iteration == row.iteration);
}

TEST_CASE("each of several ranks may print an iteration, some of them late", "[logs]") {
  const auto runs = runs_in_log({"a.log", logged("titan-all-ranks")}, Trainer::Torchtitan);
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].figures == std::vector<double>{10'007});  // step 4 is the first
  const std::string late =
      titan(kEight, {{1, "50"}, {2, "8,000"}, {1, "51"}, {3, "8,002"}, {2, "8,001"}, {3, "8,004"}});
  CHECK(runs_in_log({"a.log", late}, Trainer::Torchtitan)[0].figures ==
        std::vector<double>{8000.5, 8003});
}

TEST_CASE("a log that counts its batch in another way has the same row", "[logs]") {
  ImportOptions options = said();
  SECTION("micro-steps") {
    // 48 samples of 24 ranks: 2 a GPU, in 2 micro-steps of 1.
    const MeasuredRun row = row_in(logged("titan-accumulation"));
    CHECK(row.nodes * row.gpus_per_node == 24);
    CHECK(row.batch == 2);
    CHECK(row.accumulation == 2);
    CHECK(row.iteration.count() == Approx(2 * 4096. / 1427));
  }
  SECTION("tokens alone") {
    options.derive.weights.sequence = 1024;
    const std::string text =
        "Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, "
        "ep=1\n"
        "Trainer is initialized with 4096 tokens per DP rank, 65536 tokens per train step\n"
        "step: 1  loss: 2.0  tps: 10  mfu: 1%\nstep: 2  loss: 2.0  tps: 8,192  mfu: 1%\n";
    const MeasuredRun row = row_in(text, options);
    CHECK(row.batch == 8);  // 65536 / 8 / 1024
    CHECK(row.accumulation == 2);
    CHECK(row.iteration.count() == Approx(1));
  }
  SECTION("by flags: the log shows iterations alone") {
    options.derive.weights.sequence = 2048;
    options.batch = 8;
    const MeasuredRun row = row_in(logged("titan-mesh-of-2026"), options);
    CHECK(row.nodes * row.gpus_per_node == 2);
    CHECK(row.iteration.count() == Approx((16384. / 7334 + 16384. / 7313) / 2));
  }
  SECTION("words per second, in logs of 2024") {
    std::string text = kFourSteps;
    for (std::size_t at = 0; (at = text.find("tps:", at)) != std::string::npos;) text[at] = 'w';
    CHECK(row_in(text).iteration.count() == Approx(1));
  }
}

TEST_CASE("DDP, and shards of a node's ranks, are told from shards of all", "[logs]") {
  ImportOptions options = said();
  options.derive.weights.sequence = 8192;
  options.batch = 6;
  options.layout = {.nodes = 1, .gpus_per_node = 2};
  const MeasuredRun ddp = row_in(logged("titan-ddp"), options);
  CHECK(ddp.stack == "ddp-nccl");
  CHECK(to_text(ddp.sharding) == "none");
  CHECK(to_text(ddp.fusion) == "ddp");
  CHECK(row_in(titan("['dp_replicate', 'dp_shard'], [8, 1]", {{1, "5"}, {2, "8,000"}})).stack ==
        "ddp-nccl");
  const MeasuredRun hybrid =
      row_in(titan("['dp_replicate', 'dp_shard'], [2, 8]", {{1, "5"}, {2, "8,000"}}));
  CHECK(to_text(hybrid.sharding) == "hsdp");
  CHECK(hybrid.nodes == 2);
  CHECK_THROWS_WITH(row_in(titan("['dp_replicate', 'dp_shard'], [4, 4]", {{1, "5"}, {2, "8,000"}})),
                    Contains("0.log:1: shards over 4 ranks of nodes of 8 GPUs"));
}

TEST_CASE("only data parallelism is taken, and the line that says otherwise is named", "[logs]") {
  const std::vector<std::pair<int, std::string>> steps = {{1, "5"}, {2, "8,000"}};
  CHECK_THROWS_WITH(row_in(titan("['dp', 'tp'], [2, 2]", steps)),
                    Contains("0.log:1: tensor parallelism over 2 ranks (tp): gradcast forecasts "
                             "data parallelism alone"));
  CHECK_THROWS_WITH(row_in(logged("titan-tokens") + kFourSteps.substr(kFourSteps.find("step: 1 "))),
                    Contains("expert parallelism over 64 ranks (ep)"));
  CHECK_THROWS_WITH(row_in(logged("megatron-experts")),
                    Contains("expert parallelism over 4 ranks (expert_model_parallel_size)"));
  CHECK_THROWS_WITH(row_in(logged("megatron-pipeline")),
                    Contains("model parallelism over 4 ranks"));
  CHECK_THROWS_WITH(row_in(megatron("  context_parallel_size ........ 2\n", "9 9 9")),
                    Contains("context parallelism over 2 ranks (context_parallel_size)"));
}

TEST_CASE("a log of Megatron-LM is a row by its arguments", "[logs]") {
  const MeasuredRun row = row_in(logged("megatron-distributed-optimizer"));
  CHECK(row.iteration.count() == Approx(0.7198));  // of 729.9, 705.2 and 719.8 ms
  CHECK(row.nodes * row.gpus_per_node == 2);
  CHECK(row.batch == 4);
  CHECK(row.accumulation == 4);
  CHECK(to_text(row.sharding) == "zero1");
  CHECK(to_text(row.fusion) == "merged");
  CHECK_FALSE(row.overlap);
  CHECK(row.precision.gradient == NumberType::Fp32);
  const MeasuredRun overlapped = row_in(megatron(
      "  overlap_grad_reduce ............. True\n  ddp_bucket_size ................. None\n",
      "9000 500.5 500.5"));
  CHECK(overlapped.stack == "ddp-nccl");
  CHECK(overlapped.overlap);
  CHECK(overlapped.fusion.size.count == 80'000'000);  // 40 million elements of bf16
  CHECK(overlapped.iteration.count() == Approx(0.5005));
  CHECK(overlapped.nodes == 2);
  CHECK(to_text(row_in(megatron("  use_torch_fsdp2 ... True\n", "9 8 8")).sharding) == "fsdp");
  CHECK(row_in(megatron("  deepspeed ... True\n  zero_stage ... 2\n", "9 8 8")).stack ==
        "deepspeed-zero");
}

TEST_CASE("Megatron-LM's instances of an optimizer are shards of a node, or are refused",
          "[logs]") {
  // 16 ranks on nodes of 8, in two instances.
  const std::string fsdp =
      "  use_megatron_fsdp ... True\n  data_parallel_sharding_strategy ... optim_grads_params\n";
  const auto instances = [](int count) {
    return "  num_distributed_optimizer_instances ... " + std::to_string(count) + "\n";
  };
  CHECK(to_text(row_in(megatron(fsdp + instances(1), "9 8 8")).sharding) == "fsdp");
  CHECK(to_text(row_in(megatron(fsdp + instances(2), "9 8 8")).sharding) == "hsdp");
  CHECK_THROWS_WITH(row_in(megatron(fsdp + instances(4), "9 8 8")),
                    Contains("num_distributed_optimizer_instances 4: shards over 4 ranks of nodes "
                             "of 8 GPUs"));
  CHECK_THROWS_WITH(
      row_in(megatron(fsdp + instances(2) + "  outer_dp_sharding_strategy ... optim\n", "9 8 8")),
      Contains("outer_dp_sharding_strategy optim: the optimizer is sharded over all ranks"));
  CHECK_THROWS_WITH(
      row_in(megatron("  use_distributed_optimizer ... True\n" + instances(2), "9 8 8")),
      Contains("num_distributed_optimizer_instances 2: the optimizer's shards lie on 8 of 16"));
  CHECK(to_text(row_in(megatron(instances(2), "9 8 8")).sharding) == "none");
}

TEST_CASE("stages of Megatron-FSDP are those of ZeRO", "[logs]") {
  const auto sharding = [](const char* strategy) {
    return to_text(row_in(megatron("  use_megatron_fsdp ... True\n"
                                   "  data_parallel_sharding_strategy ... " +
                                       std::string(strategy) + "\n",
                                   "9 8 8"))
                       .sharding);
  };
  CHECK(sharding("no_shard") == "none");
  CHECK(sharding("optim") == "zero1");
  CHECK(sharding("optim_grads") == "zero2");
  CHECK(sharding("optim_grads_params") == "fsdp");
}

TEST_CASE("a number of buckets divides the model's parameters", "[logs]") {
  const std::string four =
      "  overlap_grad_reduce ... True\n  ddp_bucket_size ... None\n  ddp_num_buckets ... 4\n";
  // A fourth of 8 million, two bytes each; by the log where it counts them.
  ImportOptions options = said();
  options.said.elements = 8'000'000;
  CHECK(row_in(megatron(four, "9 8 8"), options).fusion.size.count == 4'000'000);
  const std::string counted =
      " > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 8080000\n";
  CHECK(row_in(megatron(four + counted, "9 8 8"), options).fusion.size.count == 4'040'000);
}

TEST_CASE("iterations of Megatron-LM's relatives are read", "[logs]") {
  const auto figure = [](const char* name) {
    const auto runs = runs_in_log({"a.log", logged(name)}, Trainer::Megatron);
    REQUIRE(runs[0].figures.size() == 1);
    return Approx(runs[0].figures[0]);
  };
  CHECK(0.6545 == figure("megatron-primus"));  // not the mean behind it
  CHECK(5.2406 == figure("megatron-tokens-per-second"));
  CHECK(87.8716 == figure("megatron-of-2023"));
  CHECK(runs_in_log({"a.log", logged("megatron-ascend")}, Trainer::Megatron)[0].starts == 1);
  CHECK(runs_in_log({"a.log", logged("megatron-launcher")}, Trainer::Megatron)[0].starts == 1);
  CHECK(is_training_log(logged("megatron-deepspeed"), Trainer::Megatron));
}

TEST_CASE("a run that was started again is one, and another set-up is another", "[logs]") {
  // Steps go back from 30 to 20; the first of each start is left out.
  const std::string again = titan(kEight, {{10, "50"},
                                           {20, "8,000"},
                                           {30, "8,000"},
                                           {40, "8,000"},
                                           {50, "8,000"},
                                           {20, "60"},
                                           {30, "4,000"},
                                           {40, "4,000"}});
  const Imported one = imported_of({again});
  REQUIRE(one.runs.size() == 1);
  CHECK(one.runs[0].iterations == 6);
  CHECK(one.steps_dropped == 2);
  CHECK_THAT(join(one.notes.dropped), Contains("of each of 2 starts"));
  const Imported two =
      imported_of({kFourSteps + titan("['dp_shard'], [16]", {{1, "50"}, {2, "7,900"}})});
  REQUIRE(two.runs.size() == 2);
  CHECK(two.runs[0].row.nodes == 1);
  CHECK(two.runs[1].row.nodes == 2);
}

TEST_CASE("what cuts a number, or is none, costs an iteration and is said", "[logs]") {
  const auto text = [](const std::string& third) {
    return titan(kEight, {{1, "50"}, {2, "8,000"}, {3, third}, {4, "8,000"}});
  };
  for (const char* cut : {"7,0[rank1]:[titan] x", "inf", "nan", "0", "-5", "7,0", "1e", ""}) {
    CAPTURE(cut);
    const Imported imported = imported_of({text(cut)});
    CHECK(imported.runs[0].iterations == 2);
    CHECK_THAT(join(imported.notes.dropped), Contains("1 iteration without a whole number"));
  }
  // The end of a log is cut anywhere: 8,00 may have been 8,000.
  const std::string end = "step: 5  loss: 1.0  tps: 8,00";
  CHECK(imported_of({kFourSteps + end}).runs[0].iterations == 3);
  std::string dos = kFourSteps;
  for (std::size_t at = 0; (at = dos.find('\n', at)) != std::string::npos; at += 2)
    dos.insert(at, "\r");
  CHECK(imported_of({dos}).runs[0].iterations == 3);
  CHECK(imported_of({kFourSteps + "validate step: 4  loss: 1.0  tps: 90  mfu\n"})
            .runs[0]
            .iterations == 3);
}

TEST_CASE("iterations before the last global batch are left out", "[logs]") {
  std::string text = megatron("", "9000 700 600 600");
  const std::size_t at = text.find("batch size:    64", text.find("700"));
  text.replace(at, 17, "batch size:    32");
  const Imported imported = imported_of({text});
  CHECK(imported.runs[0].iterations == 2);
  CHECK(imported.runs[0].row.batch == 4);
  CHECK_THAT(join(imported.notes.dropped), Contains("1 iteration with another global batch"));
}

TEST_CASE("what no log says is asked for in one line, with its flag", "[logs]") {
  ImportOptions nothing;
  nothing.name = "ours";
  CHECK_THROWS_WITH(
      imported_of({logged("titan-colours")}, nothing),
      "0.log does not say all that a measured row needs; give --model (it trains 'llama3 8B'), "
      "--cluster and --compute-seconds (an iteration on one GPU alone; or a log of one GPU beside "
      "it)");
  CHECK_THROWS_WITH(
      imported_of({logged("titan-all-ranks")}),
      Contains("give --nodes and --gpus-per-node, --sequence (tokens of a sample) and "
               "--batch (samples of a GPU in an iteration)"));
  CHECK_THROWS_WITH(imported_of({titan(kEight, {{1, "50"}})}), Contains("a run needs two"));
  CHECK_THROWS_WITH(imported_of({logged("titan-of-2024")}), Contains("prints no iteration"));
  ImportOptions other = said();
  other.batch = 4;
  CHECK_THROWS_WITH(imported_of({kFourSteps}, other), Contains("--batch 4: 0.log says 8 samples"));
  other = said();
  other.layout.gpus_per_node = 3;
  CHECK_THROWS_WITH(imported_of({kFourSteps}, other), Contains("8 ranks do not fill nodes of 3"));
  other.layout = {.nodes = 4, .gpus_per_node = {}};
  CHECK(row_in(kFourSteps, other).gpus_per_node == 2);
  other.layout.gpus_per_node = 4;
  CHECK_THROWS_WITH(imported_of({kFourSteps}, other), Contains("8 ranks do not fill 4 nodes of 4"));
}

TEST_CASE("a log of one GPU says what computing takes", "[logs]") {
  ImportOptions options = said();
  options.said.compute.clear();
  const std::string alone = titan("[], []", {{1, "5"}, {2, "9,000"}});
  std::string same_batch = alone;
  same_batch.replace(same_batch.find("global batch size 64"), 20, "global batch size 8");
  const Imported imported = imported_of({kFourSteps, same_batch}, options);
  REQUIRE(imported.runs.size() == 1);
  CHECK(imported.runs[0].row.compute.count() == Approx(8000. / 9000));
  CHECK_THROWS_WITH(imported_of({same_batch}, options), Contains("is of one GPU"));
}

TEST_CASE("runs with different batches need a time of one GPU each", "[logs]") {
  std::string large = kFourSteps;
  large.replace(large.find("local batch size 8, global batch size 64"), 40,
                "local batch size 16, global batch size 128");
  CHECK_THROWS_WITH(
      imported_of({kFourSteps, large}),
      Contains("one time for GPUs that take 8 samples of 1000 tokens and 16 samples"));
  ImportOptions options = said();
  options.said.compute = {Seconds{0.5}, Seconds{0.9}};
  CHECK(imported_of({kFourSteps, large}, options).runs[1].row.compute.count() == 0.9);
  options.said.compute.emplace_back(1);
  CHECK_THROWS_WITH(imported_of({kFourSteps, large}, options), Contains("3 times for 2 runs"));
}

TEST_CASE("files that look like ranks of one run are doubted", "[logs]") {
  CHECK_THAT(join(imported_of({kFourSteps, kFourSteps}).notes.unknown),
             Contains("whether 0.log and 1.log are of one run"));
}

TEST_CASE("rows of logs are read back, with paths from their own folder", "[logs]") {
  ImportOptions options = said();
  options.said.cluster = "out/platforms/ours.csv";
  options.said.compute = {Seconds{0.5}, Seconds{0.04}};
  const Imported imported = imported_of({kFourSteps, logged("titan-h200-fsdp")}, options);
  const ImportedFiles files = files_of(imported, "ours", shape_of(imported, {}), "out", {"from"});
  require_readable(files);
  REQUIRE(files.files.size() == 1);
  CHECK(files.paths.measured == "out/traces/measured-ours.csv");
  const MeasuredRuns read = load_measured_runs(files.files[0]);
  REQUIRE(read.runs.size() == 2);
  CHECK(read.runs[0].cluster == "../platforms/ours.csv");
  CHECK(read.runs[0].iteration.count() == Approx(1));
  CHECK(read.runs[1].nccl == "2.27.5");
  CHECK(read.runs[0].nccl.empty());
  CHECK_THAT(files.files[0].content, Contains("# row 1: 3 printed iterations; 90 % of them took"));
}
