// `gradcast import` of checkpoints, graphs, execution traces and other programs' files.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/run_program.hpp"
#include "tests/sim/import/checkpoint.hpp"
#include "tests/sim/import/onnx_writer.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

const std::string kAstra =
    "DATA\n2\nconv1 -1 1000 NONE 0 800 NONE 0 1200 ALLREDUCE 400 30\n"
    "fc -1 200 NONE 0 150 NONE 0 250 ALLREDUCE 4000 70\n";

}  // namespace

// From a checkpoint that nobody trained on a device that nobody has: the derived iteration takes
// 0.943 s (derive_test.cpp has the arithmetic), and `breakeven` answers on what was written.
TEST_CASE("a checkpoint and a device become a forecast, which says that it is derived", "[cli]") {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("model.safetensors", safetensors_file(header_of(llama_3_8b())));
  const std::string my = (folder.path / "my").string();
  const Ran ran = gradcast_with(
      {"import", file, "--device", "h100-sxm", "--tokens", "8192", "-o", my, "--format", "json"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Json result = Json::parse(ran.out)["results"][0];
  CHECK(result["kind"] == "safetensors");
  CHECK(result["gradients"] == 291);
  CHECK(result["elements"] == 8'030'261'248);
  CHECK(result["shapes"] == "recorded");
  CHECK(result["window_seconds"].is_null());
  CHECK(result["forward_seconds"].get<double>() + result["backward_seconds"].get<double>() ==
        Approx(0.943).epsilon(1e-3));
  const std::vector<std::string> what{"breakeven",
                                      "--model",
                                      my + "/models/model.csv",
                                      "--trace",
                                      my + "/traces/iteration-model-h100-sxm.csv",
                                      "--fusion",
                                      "ddp",
                                      "--overlap",
                                      "yes",
                                      "--cluster",
                                      "10gbe",
                                      "--nodes",
                                      "8",
                                      "--compressor",
                                      "topk",
                                      "--over",
                                      "nic-bandwidth",
                                      "--engine",
                                      "analytic"};
  const Ran answer = gradcast_with(what);
  CHECK(answer.exit_code == 0);
  CHECK_THAT(answer.out, Contains("topk against the fastest dense run") &&
                             Contains("surely pays") &&
                             Contains("derived for h100-sxm from the simulated V100"));
  CHECK_THAT(answer.err, Contains("the model's times are derived. Nothing here was measured"));
}

TEST_CASE("a forecast says that the samples of an imported checkpoint are tokens", "[cli]") {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("model.safetensors", safetensors_file(header_of(llama_3_8b())));
  const std::string my = (folder.path / "my").string();
  const auto assumed = [&](const std::vector<std::string>& how, const std::string& batch) {
    std::vector<std::string> words{"import", file, "--device", "h100-sxm", "-o", my};
    words.insert(words.end(), how.begin(), how.end());
    REQUIRE(gradcast_with(words).exit_code == 0);
    const Ran ran = gradcast_with({"simulate", "--model", my + "/models/model.csv", "--trace",
                                   my + "/traces/iteration-model-h100-sxm.csv", "--cluster",
                                   "dgx-h100", "--sharding", "fsdp", "--preset", "today", "--batch",
                                   batch, "--format", "json"});
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    return Json::parse(ran.out)["results"][0]["assumed"].get<std::string>();
  };
  CHECK_THAT(assumed({"--tokens", "8192"}, "1"),
             Contains("; a sample is a token, of which a GPU has 1"));
  CHECK_THAT(assumed({"--batch", "2", "--sequence", "4096"}, "2"),
             Contains("; a sample is a sequence, of which a GPU has 2"));
}

TEST_CASE("import finds the kind by content, whatever the file's name", "[cli]") {
  const TemporaryFolder folder;
  const std::string my = (folder.path / "my").string();
  const auto kind_of = [&](const std::string& content, std::vector<std::string> more) {
    std::vector<std::string> words{"import", folder.write("what", content), "-o", my, "--format",
                                   "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = gradcast_with(words);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    return Json::parse(ran.out)["results"][0]["kind"];
  };
  CHECK(kind_of(safetensors_file(header_of({{"fc.weight", {8, 4}}})), {}) == "safetensors");
  CHECK(kind_of(resnet_50_onnx({1, 3, 224, 224}), {}) == "onnx");
  CHECK(kind_of(kAstra, {"--tick", "1ns"}) == "astra_sim");
  CHECK(kind_of("node2 -- Linear(in_features=4, out_features=2, bias=True) -- "
                "forward_compute_time=1.0, backward_compute_time=2.0, activation_size=8.0, "
                "parameter_size=40.0\n",
                {"--batch", "3"}) == "pipedream");
}

TEST_CASE("import asks for what a file cannot say, and refuses what it has no use for", "[cli]") {
  const TemporaryFolder folder;
  const std::string my = (folder.path / "my").string();
  const std::string weights = folder.write(
      "m.safetensors",
      safetensors_file(header_of({{"wte.weight", {10, 4}}, {"h.0.fc.weight", {4, 4}}})));
  const std::string text = folder.write("a.txt", kAstra);
  const auto refused = [&](std::vector<std::string> words, int code, const char* why) {
    words.insert(words.begin(), "import");
    words.insert(words.end(), {"-o", my});
    refuses(words, code, why);
    CHECK_FALSE(std::filesystem::exists(my));  // nothing is written
  };
  refused({weights, "--device", "h100-sxm"}, 2, "--tokens N");
  refused({weights, "--device", "h2000", "--tokens", "8"}, 2, "did you mean 'h200'?");
  refused({weights, "--device", "gp100", "--tokens", "8"}, 2, "nor in another type");
  refused({weights, "--device", "v100", "--tokens", "8"}, 2, "no peak of v100 in bf16");
  refused({weights, "--tokens", "8"}, 2, "--tokens needs --device");
  refused({weights, "--tick", "1ns"}, 2, "--tick is for text workloads");
  refused({text}, 2, "--tick 1ns");
  refused({text, "--device", "v100", "--tick", "1ns"}, 2, "--device is for checkpoints");
  refused({weights, "--image", "224x224"}, 2, "--image is for ONNX");
  refused({folder.write("m.onnx", resnet_50_onnx({1, 3, -1, -1})), "--image", "224"}, 2,
          "no height x width");
  refused({folder.write("bad", little_endian(1 << 20) + "{\"a\":")}, 3, "only 5 follow");
  for (const std::string mark : {"\xff\xfe", "\xfe\xff"})
    refused({folder.write("powershell.log", mark + "#a b")}, 3,
            "is text in UTF-16; make it UTF-8 (iconv -f UTF-16 -t UTF-8)");
}
