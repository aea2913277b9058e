// Sharding and number types, as flags and in answers.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "tests/run_program.hpp"

using Json = nlohmann::ordered_json;

namespace {

const std::vector<std::string> kLlama{
    "simulate",  "--model",       "llama-3-8b", "--trace",  "iteration-llama-3-8b-h100",
    "--cluster", "ib-400g-rails", "--engine",   "analytic", "--overlap",
    "yes",       "--format",      "json"};

Json simulated(const std::vector<std::string>& more) {
  std::vector<std::string> words = kLlama;
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = gradcast_with(words);
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out)["results"][0];
}

void resnet_refuses(std::vector<std::string> more, const std::string& says) {
  more.insert(more.begin(), {"simulate", "--model", "resnet-50"});
  refuses(more, 2, says);
}

}  // namespace

// A block's forward is computed again, but that of the head is not. Its 2 samples keep no more than
// their blocks' inputs, one block, and the head's words.
TEST_CASE("recomputation takes time and saves memory", "[cli]") {
  const Json none = simulated({});
  const Json full = simulated({"--recompute", "full"});
  CHECK(none["recompute"] == "none");
  CHECK(full["activations_memory_bytes"] < none["activations_memory_bytes"]);
  const double more =
      full["backward_seconds"].get<double>() - none["backward_seconds"].get<double>();
  const double forward = none["forward_seconds"];
  CHECK(more > 0.9 * forward);
  CHECK(more < forward);
  const Json wide = simulated({"--activation-type", "fp32"});
  CHECK(wide["activations_memory_bytes"] > none["activations_memory_bytes"]);
  CHECK(wide["iteration_seconds"] == none["iteration_seconds"]);
  refuses({"simulate", "--payload", "1MiB", "--recompute", "full"}, 2, "recomputes nothing");
  refuses({"simulate", "--model", "vgg-16", "--recompute", "full"}, 2, "names no units");
}

TEST_CASE("sharding decides what a rank sends and keeps", "[cli]") {
  // 8,030,261,248 parameters of bf16 are S = 16,060,522,496 bytes; 64 ranks.
  const Json none = simulated({"--sharding", "none"});
  CHECK(none["sent_bytes_per_rank"] == 31'619'153'664);  // 2 x 63/64 S
  CHECK(none["parameters_memory_bytes"] == 16'060'522'496);
  const Json fsdp = simulated({"--sharding", "fsdp", "--optimizer", "adam"});
  CHECK(fsdp["sent_bytes_per_rank"] == 47'428'730'496);    // 3 x 63/64 S
  CHECK(fsdp["parameters_memory_bytes"] == 250'945'664);   // S / 64
  CHECK(fsdp["optimizer_memory_bytes"] == 1'505'673'984);  // 12 bytes an element, of 1/64
  const Json hsdp = simulated({"--sharding", "hsdp"});
  CHECK(hsdp["shards"] == 8);
  CHECK(hsdp["replicas_of_shards"] == 8);
  CHECK(hsdp["sent_bytes_per_rank"] == 45'672'110'848);  // 3 x 7/8 S + 2 x 7/8 S/8
  const Json fp32 = simulated({"--sharding", "none", "--sum-type", "fp32"});
  CHECK(fp32["sent_bytes_per_rank"] == 2 * 31'619'153'664);
}

TEST_CASE("compressing across replicas leaves what shards send as it is", "[cli]") {
  const Json topk = simulated({"--sharding", "hsdp", "--compressor", "topk", "--costs",
                               "cost-v100-floor", "--extrapolate", "yes"});
  CHECK(topk["outside"] == "input bf16, and its costs are of fp32");
  CHECK(topk["residual_memory_bytes"] == 4'015'130'624);  // 4 bytes of an eighth of the elements
  // 3 x 7/8 S, and of the others' eighth a thousandth in pairs of 8 bytes, seven times.
  const double gathered = topk["sent_bytes_per_rank"].get<double>() - 3 * 7.0 / 8 * 16'060'522'496;
  CHECK(gathered == Approx(7 * 8 * 8'030'261'248.0 / 8 / 1000).epsilon(1e-3));
}

TEST_CASE("what sharding does not go with is refused in one line", "[cli]") {
  resnet_refuses({"--sharding", "zero3"}, "--sharding: 'zero3' is what fsdp does");
  resnet_refuses({"--sharding", "fsdp", "--compressor", "topk"}, "nothing is left for compressor");
  resnet_refuses({"--sharding", "zero2", "--queue", "priority"}, "priority queue");
  resnet_refuses({"--sharding", "zero2", "--fusion", "mg-wfbp"}, "plans all-reduces");
  resnet_refuses({"--sharding", "zero2", "--shard-group", "3"},
                 "shards of 3 ranks (shard-group) do not divide 16 GPUs");
  resnet_refuses({"--unit-size", "big"}, "--unit-size: 'big' is not a number of parameters");
  resnet_refuses({"--gradient-type", "tf32"}, "--gradient-type: 'tf32' is a type of products");
  resnet_refuses({"--prefetch", "-1"}, "--prefetch");
  resnet_refuses({"--accumulation", "2", "--synchronise", "every", "--fusion", "cycle:5ms,64MiB"},
                 "sent in every micro-step only");
  refuses({"simulate", "--model", "alexnet", "--sharding", "fsdp"}, 2,
          "names no units (column 'unit')");
  refuses({"simulate", "--payload", "1MiB", "--sharding", "fsdp"}, 2, "no parameters to shard");
  refuses({"sweep", "--model", "resnet-50", "--stack", "nono"}, 2, "unknown stack 'stack-nono'");
}

TEST_CASE("the figures of the sharding tutorial are what the program prints", "[cli]") {
  const std::string tutorial =
      gradcast::read_text_file(std::string(GRADCAST_SOURCE_DIR) + "/docs/tutorial-sharding.md")
          .content;
  // The commands stand on lines that begin with 'scripts/run', their output on the lines below, up
  // to the next blank one. '...' stands for parts left out.
  const UsersPreset usual;
  int commands = 0;
  const std::string begin = "    scripts/run ";
  for (std::size_t at = tutorial.find(begin); at != std::string::npos;
       at = tutorial.find(begin, at + 1)) {
    std::size_t end = tutorial.find('\n', at);
    std::vector<std::string> words;
    std::string word;
    for (std::size_t i = at + begin.size(); i <= end; ++i) {
      const char letter = tutorial[i];
      if (letter == '\\') {  // the command goes on in the next line
        end = tutorial.find('\n', end + 1);
        i = tutorial.find_first_not_of(" \n", i + 1) - 1;
      } else if (letter == ' ' || letter == '\n') {
        if (!word.empty()) words.push_back(std::exchange(word, {}));
      } else {
        word += letter;
      }
    }
    const Ran ran = gradcast_with(words);
    CAPTURE(words, ran.err);
    REQUIRE(ran.exit_code == 0);
    for (std::size_t line = end + 1; tutorial.compare(line, 4, "    ") == 0;) {
      const std::size_t line_end = tutorial.find('\n', line);
      const std::string shown = tutorial.substr(line + 4, line_end - line - 4);
      if (shown != "...") CHECK_THAT(ran.out, Catch::Contains(shown));
      line = line_end + 1;
    }
    ++commands;
  }
  CHECK(commands >= 5);
}

TEST_CASE("every command says which cluster it took where none is named", "[cli]") {
  const std::vector<std::vector<std::string>> asked = {
      {"simulate"},
      {"sweep", "--nodes", "2,4"},
      {"breakeven", "--compressor", "fp16", "--over", "nic-bandwidth"},
      {"decide", "--compressor", "fp16"}};
  const UsersPreset today;
  const std::string said = "no cluster is named: this is 10gbe-4x4, the default";
  for (std::vector<std::string> words : asked) {
    CAPTURE(words);
    words.insert(words.end(), {"--model", "resnet-50", "--engine", "analytic"});
    CHECK(gradcast_with(words).err.find(said) != std::string::npos);
    words.insert(words.end(), {"--cluster", "10gbe-4x4"});
    CHECK(gradcast_with(words).err.find(said) == std::string::npos);
  }
}
