#include "sim/decide/options.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"
#include "sim/forecast/preset.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

using Changes = std::vector<ClusterProperty>;

std::vector<Option> options_on(const std::string& cluster, const Changes& changed = {},
                               const std::string& model = "resnet-50",
                               const std::string& sharding = "none",
                               const std::vector<std::string>& compressors = {},
                               const std::string& stack = "", const std::string& fusion = "") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request;
  request.model = model;
  request.cluster = cluster;
  request.costs.clear();
  request.today = true;
  request.changed = changed;
  request.sharding = parse_sharding(sharding);
  request.stack = stack;
  request.stack_given = !stack.empty();
  request.fusion_given = !fusion.empty();
  if (!fusion.empty()) request.fusion = parse_fusion(fusion);
  const Request today = with_defaults(request, files);
  return options_of(request, today, make_scenario(today, files), compressors, files);
}

/// ResNet-50 on DGX-1, as its software runs it.
struct Today {
  DataFiles files{GRADCAST_SOURCE_DIR};
  Request asked = [] {
    Request request;
    request.model = "resnet-50";
    request.cluster = "dgx-1-v100";
    request.today = true;
    return request;
  }();
  Request today = with_defaults(asked, files);
  Scenario now = make_scenario(today, files);
};

/// Flags of all options that are none of the refused: "nodes 8; nodes 2; ...".
std::vector<std::string> flags_of(const std::vector<Option>& options) {
  std::vector<std::string> all;
  for (const Option& option : options) {
    if (!option.refused.empty()) continue;
    std::string words;
    for (const auto& [flag, value] : option.flags)
      words += (words.empty() ? "" : " ") + flag + " " + value;
    all.push_back(words);
  }
  return all;
}

bool has(const std::vector<std::string>& all, const std::string& words) {
  return std::find(all.begin(), all.end(), words) != all.end();
}

std::string refusal(const std::vector<Option>& options, const std::string& name) {
  for (const Option& option : options)
    if (option.name.starts_with(name)) return option.refused;
  return "not among the options";
}

}  // namespace

TEST_CASE("each option changes one thing of the run", "[decide]") {
  const auto flags = flags_of(options_on("dgx-1-v100", {{"nodes", "4"}}));
  for (const char* words :
       {"nic-bandwidth 192Gbps", "nics-per-node 8", "nodes 8", "nodes 2", "batch 256",
        "fusion ddp overlap no", "fusion ddp:100MiB overlap yes", "fusion layer overlap yes",
        "sharding zero1", "sharding fsdp", "sharding hsdp", "recompute full"}) {
    CAPTURE(words);
    CHECK(has(flags, words));
  }
  CHECK(flags.size() == 12);
}

// Buckets of 50 MiB go on without the search; DDP's own, which its stack is known to have, are a
// second change.
TEST_CASE("a run that looks for unused parameters may stop to", "[decide]") {
  const auto options = [](const std::string& fusion, const std::string& sharding) {
    return options_on("dgx-1-v100", {{"nodes", "4"}}, "resnet-50", sharding, {}, "", fusion);
  };
  std::map<std::string, std::string> fusions;
  for (const Option& option : options("ddp-find-unused:50MiB", "none"))
    for (const auto& [flag, value] : option.flags)
      if (flag == "fusion" && option.name.find("overlap") == std::string::npos)
        CHECK(fusions.emplace(option.name, value).second);
  CHECK(fusions.at("no find_unused_parameters") == "ddp:50MiB");
  CHECK(fusions.at("no find_unused_parameters, buckets of 25MiB") == "ddp");
  CHECK(fusions.at("buckets of 100MiB") == "ddp-find-unused:100MiB");
  for (const Option& option : options("ddp-find-unused", "fsdp"))
    CHECK_FALSE(option.name.starts_with("no find_unused"));
}

// ResNet-50 has 102,228,128 bytes of gradients, and 0.4 MB of statistics. A table of 1 % would be
// 1,022,282 bytes.
TEST_CASE("a run whose DDP broadcasts large buffers may stop to", "[decide]") {
  Today run;
  Scenario& now = run.now;
  const auto without_buffers = [&] {
    return refusal(options_of(run.asked, run.today, now, {}, run.files), "broadcast_buffers=False");
  };
  CHECK(without_buffers() == "not among the options");
  std::vector<GradientTensor>& tensors = now.model.change().tensors;
  for (GradientTensor& tensor : tensors) tensor.buffer_bytes = tensor.counter_bytes = 0;
  tensors.front().buffer_bytes = 1'022'281;
  CHECK(without_buffers() == "not among the options");
  tensors.front().buffer_bytes = 1'022'282;
  CHECK(without_buffers().empty());
  now.broadcast_buffers = false;
  CHECK(without_buffers() == "not among the options");
}

TEST_CASE("a compute time that was asked for grows with the batch, but for the update",
          "[decide]") {
  Today run;
  Scenario& now = run.now;
  IterationTrace trace = *now.trace;
  trace.update = Seconds{0.02};
  now.trace = std::move(trace);
  Option option{"batch x 2", Change::Batch, run.asked};
  option.request.compute = Seconds{0.12};
  set_batch(option, 2 * now.batch(), now);
  CHECK(option.request.compute->count() == Approx(0.22));  // 0.02 s + 2 x 0.1 s
  CHECK(option.flags.back().second == "220ms");
}

TEST_CASE("an option's flags say what its request says", "[decide]") {
  for (const Option& option : options_on("dgx-1-v100", {{"nodes", "4"}})) {
    CAPTURE(option.name);
    for (const auto& [flag, value] : option.flags) {
      if (flag == "batch") CHECK(std::to_string(*option.request.batch) == value);
      if (flag == "recompute") CHECK(to_text(option.request.recompute) == value);
      if (flag == "sharding") CHECK(to_text(option.request.sharding) == value);
      if (flag != "nodes") continue;
      // The value that was given is replaced: a property that stands twice would be refused.
      CHECK(option.request.changed == Changes{{"nodes", value}});
    }
  }
}

TEST_CASE("switches between nodes are doubled with the NICs", "[decide]") {
  const auto flags = flags_of(options_on(
      "10gbe", {{"nodes", "8"}, {"nodes_per_leaf", "4"}, {"leaf_uplink_bandwidth", "20Gbps"}}));
  CHECK(has(flags, "nic-bandwidth 18.86Gbps leaf-uplink-bandwidth 40Gbps"));
}

TEST_CASE("what a cluster cannot have is refused with the reason", "[decide]") {
  const auto one_node = options_on("10gbe", {{"nodes", "1"}, {"gpus_per_node", "4"}});
  CHECK_THAT(refusal(one_node, "network x 2"), Contains("one node"));
  CHECK(refusal(one_node, "nodes / 2") == "not among the options");
  CHECK_THAT(refusal(options_on("dgx-a100"), "NICs x 2"), Contains("every GPU has a NIC"));
  const auto unequal = options_on("10gbe", {{"compute_speed@0", "0.5"}});
  CHECK_THAT(refusal(unequal, "nodes x 2"), Contains("nodes differ"));
  CHECK_THAT(refusal(unequal, "network x 2"), Contains("nodes differ"));
}

TEST_CASE("one GPU has neither schedules nor shards nor compressors to choose", "[decide]") {
  const auto options =
      options_on("10gbe", {{"nodes", "1"}, {"gpus_per_node", "1"}}, "resnet-50", "none", {"topk"});
  CHECK(flags_of(options) == std::vector<std::string>{"nodes 2", "batch 256", "recompute full"});
  CHECK_THAT(refusal(options, "topk"), Contains("one GPU"));
}

TEST_CASE("compressors are refused where they have nothing to compress", "[decide]") {
  const std::vector<std::string> both{"fp16", "topk"};
  const auto fp32 = options_on("dgx-a100", {}, "gpt2-small", "none", both);
  CHECK(refusal(fp32, "fp16").empty());
  CHECK(refusal(fp32, "topk").empty());
  const auto bf16 = options_on("dgx-h100", {}, "llama-3-8b", "none", both);
  CHECK_THAT(refusal(bf16, "fp16"), Contains("16 bits already"));
  CHECK(refusal(bf16, "topk").empty());
  const auto sharded = options_on("dgx-h100", {}, "llama-3-8b", "fsdp", both);
  CHECK_THAT(refusal(sharded, "topk"), Contains("HSDP"));
}

TEST_CASE("a sharding that the named software does not have is no option", "[decide]") {
  const auto on = [](const std::string& stack) {
    return options_on("dgx-a100", {}, "gpt2-small", "none", {}, stack);
  };
  CHECK_THAT(refusal(on("horovod-nccl"), "FSDP"), Contains("horovod-nccl has no --sharding fsdp"));
  CHECK_THAT(refusal(on("horovod-nccl"), "ZeRO-1"), Contains("has no --sharding zero1"));
  // PyTorch has both, FSDP by software of its own.
  CHECK(has(flags_of(on("ddp-nccl")), "sharding zero1"));
  CHECK(has(flags_of(on("ddp-nccl")), "sharding fsdp stack fsdp2-nccl"));
  CHECK(has(flags_of(on("")), "sharding fsdp"));
  // So has DDP as somebody's cluster has shown it.
  const TemporaryFolder folder;
  std::string learned =
      read_text_file(std::filesystem::path(GRADCAST_SOURCE_DIR) / "platforms/stack-ddp-nccl.csv")
          .content;
  const std::size_t at = learned.find("\ndiscrepancy,");
  learned.replace(at + 1, learned.find('\n', at + 1) - at - 1, "model_factor,,1.1,3%,3 runs,,,");
  CHECK(has(flags_of(on(folder.write("stack-ours.csv", learned))),
            "sharding fsdp stack fsdp2-nccl"));
}

TEST_CASE("a sharded run may stop sharding, and keeps its units as buckets", "[decide]") {
  const auto flags = flags_of(options_on("dgx-h100", {}, "llama-3-8b", "fsdp"));
  CHECK(has(flags, "sharding none"));
  CHECK_FALSE(has(flags, "sharding fsdp"));
  CHECK(has(flags, "overlap no"));
  CHECK(std::none_of(flags.begin(), flags.end(),
                     [](const std::string& words) { return words.starts_with("fusion"); }));
}

TEST_CASE("the compressors that are tried by themselves are known, and an unknown one is named",
          "[decide]") {
  for (const std::string& name : usual_compressors()) CHECK(find_compressor(name) != nullptr);
  CHECK_THROWS_AS(options_on("10gbe", {}, "resnet-50", "none", {"topp"}), ValueError);
}
