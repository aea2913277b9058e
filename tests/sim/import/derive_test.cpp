#include "sim/import/weights/derive.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/weights/onnx.hpp"
#include "sim/import/weights/safetensors.hpp"
#include "tests/sim/import/checkpoint.hpp"
#include "tests/sim/import/onnx_writer.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::optional<Device> device(const std::string& name) {
  return device_named(
      load_devices(read_text_file(std::string(GRADCAST_SOURCE_DIR) + "/traces/devices.csv")), name);
}

Imported imported(const std::vector<NamedShape>& tensors, const DeriveChoice& choice,
                  const char* type = "BF16", int bytes = 2) {
  const TemporaryFolder folder;
  ImportNotes notes;
  std::vector<Weight> weights = read_safetensors(
      {folder.write("m.safetensors", safetensors_file(header_of(tensors, type, bytes)))}, notes);
  const std::string stored = stored_type(weights);
  return imported_from(network_of(std::move(weights), choice.weights, notes), "m", stored, choice);
}

const TensorTime& time_of(const IterationTrace& trace, const std::string& tensor) {
  return *std::find_if(trace.tensors.begin(), trace.tensors.end(),
                       [&](const TensorTime& time) { return time.tensor == tensor; });
}

}  // namespace

// Without its table (525,336,576) and its 65 normalisations of 4,096, Llama-3 8B has 7,504,658,432
// elements in matrices. 8192 tokens are 6 x 8192 x 7.505e9 = 3.689e14 FLOP, at 40 % of 989.4 TFLOPS
// 0.932 s. Normalisations, by memory: forward 3 passes and backward 5, of 8192 x 4096 x 2 bytes at
// 3.35 TB/s, 20 us each: 65 x 8 x 20 us = 10.4 ms. The table: 2 + 3 passes of as much, and 1.05 GB
// of zeros (0.31 ms).
TEST_CASE("Llama-3 8B on an H100 takes 6 FLOPs an element and token at the peak's share",
          "[derive]") {
  DeriveChoice choice;
  choice.device = device("h100-sxm");
  choice.tokens = 8192;
  const Imported result = imported(llama_3_8b(), choice);
  REQUIRE(result.trace);
  require_same_tensors(*result.model, *result.trace);
  CHECK(result.model->elements() == 8'030'261'248);
  CHECK(result.trace->batch == 8192);
  const double product = 2.0 * 8192 * 7'504'658'432 / (0.4 * 989.4e12);
  const double pass = 8192 * 4096 * 2.0 / 3.35e12;
  CHECK(result.trace->forward().count() ==
        Approx(product + 65 * 3 * pass + 2 * pass).epsilon(1e-5));
  CHECK(result.trace->backward().count() ==
        Approx(2 * product + 65 * 5 * pass + 3 * pass + 525'336'576 * 2 / 3.35e12).epsilon(1e-5));
  // One matrix: 2 x 8192 x 4096 x 14336 / 395.76e12 = 2.431 ms.
  CHECK(time_of(*result.trace, "model.layers.7.mlp.up_proj.weight").forward.count() ==
        Approx(2.431e-3).epsilon(1e-3));
  CHECK_THAT(join(result.provenance), Contains("evidence: derived") && Contains("40%") &&
                                          Contains("assumed") && Contains("8192 tokens"));
  CHECK_THAT(join(result.notes.inferred), Contains("40% of the device's peak is assumed") &&
                                              Contains("an update of 0: the MFU"));
  // Units that FSDP gathers as one.
  CHECK(result.model->tensors.front().unit == "embeddings");
  CHECK(result.model->tensors[1].unit == "model.layers.0");
  CHECK(result.model->tensors.back().unit == "head");
  CHECK_THAT(join(result.notes.unknown), Contains("32 attentions") && Contains("--sequence"));
}

// Each token meets 2048 of its sequence twice, 4096 wide: 2 x 2 x 2048 x 4096 = 33.6 MFLOP a layer,
// forward; it stands behind v, before the projection of the output.
TEST_CASE("attention has FLOPs of its own where the sequence is known", "[derive]") {
  DeriveChoice choice;
  choice.device = device("h100-sxm");
  choice.tokens = 8192;
  const Imported without = imported(llama_3_8b(), choice);
  choice.weights.sequence = 2048;
  const Imported with = imported(llama_3_8b(), choice);
  const double flops = 4.0 * 2048 * 4096;
  CHECK(with.model->forward_flops() - without.model->forward_flops() == Approx(32 * flops));
  const std::string v = "model.layers.0.self_attn.v_proj.weight";
  const double more = flops * 8192 / (0.4 * 989.4e12);
  CHECK((time_of(*with.trace, v).forward - time_of(*without.trace, v).forward).count() ==
        Approx(more).epsilon(1e-4));
  CHECK((time_of(*with.trace, v).backward - time_of(*without.trace, v).backward).count() ==
        Approx(2 * more).epsilon(1e-4));
}

TEST_CASE("four sequences of 2048 tokens take as long as 8192 tokens", "[derive]") {
  DeriveChoice tokens;
  tokens.device = device("a100-80gb");
  tokens.tokens = 8192;
  tokens.weights.sequence = 2048;
  DeriveChoice sequences = tokens;
  sequences.tokens.reset();
  sequences.batch = 4;
  sequences.weights.whole_sequences = true;
  const Imported a = imported(llama_3_8b(), tokens);
  const Imported b = imported(llama_3_8b(), sequences);
  CHECK(b.trace->batch == 4);
  CHECK(b.trace->iteration().count() == Approx(a.trace->iteration().count()).epsilon(1e-6));
  CHECK(b.model->forward_flops() == Approx(2048 * a.model->forward_flops()));
}

// A head that shares the table multiplies by it: 2 x 100 x 8 FLOP a token, though it is no tensor.
TEST_CASE("a tied head takes time, and has no gradient of its own", "[derive]") {
  const std::vector<NamedShape> tied{{"model.embed_tokens.weight", {100, 8}},
                                     {"model.layers.0.mlp.up_proj.weight", {8, 8}},
                                     {"model.norm.weight", {8}}};
  const Imported result = imported(tied, {});
  CHECK(result.model->tensors.size() == 3);
  CHECK(result.model->tensors.back().tensor == "model.norm.weight");
  CHECK(result.model->tensors.back().forward_flops == 2 * 8 + 2 * 100 * 8);
  CHECK_FALSE(result.trace);
}

// Two of four experts: each has 8 x 4 elements, so a token meets 2 x 32, 2 FLOP each.
TEST_CASE("experts ask how many of them a token uses", "[derive]") {
  std::vector<NamedShape> tensors{{"model.embed_tokens.weight", {100, 4}}};
  for (const char* expert : {"0", "1", "2", "3"})
    tensors.push_back(
        {std::string("model.layers.0.mlp.experts.") + expert + ".up_proj.weight", {8, 4}});
  tensors.push_back({"lm_head.weight", {100, 4}});
  DeriveChoice choice;
  choice.device = device("a100-80gb");
  choice.tokens = 1000;
  CHECK_THROWS_WITH(imported(tensors, choice),
                    Contains("how many of 4 experts") && Contains("--experts-per-token"));
  choice.weights.experts_per_token = 2;
  CHECK(imported(tensors, choice).model->forward_flops() == 2 * (2 * 32) + 2 * 400);
}

TEST_CASE("what only the person knows is asked for by its flag", "[derive]") {
  const std::vector<NamedShape> language{{"wte.weight", {10, 4}}, {"h.0.mlp.c_fc.weight", {4, 4}}};
  const std::vector<NamedShape> image{{"conv1.weight", {64, 3, 7, 7}}, {"fc.weight", {10, 64}}};
  const auto refused = [](const std::vector<NamedShape>& tensors, const DeriveChoice& choice,
                          const char* why) {
    CHECK_THROWS_WITH(imported(tensors, choice), Contains(why));
    CHECK_THROWS_AS(imported(tensors, choice), UsageError);
  };
  DeriveChoice choice;
  choice.device = device("v100");
  refused(language, choice, "--tokens N");
  choice.tokens = 100;
  refused(language, choice, "no peak of v100 in bf16; --dtype fp32 or fp16");
  choice.type = NumberType::Fp16;
  CHECK(imported(language, choice).trace);
  refused(image, choice, "1 convolutions: a checkpoint does not say");
  choice.batch = 3;
  refused(language, choice, "give one");
  choice.tokens.reset();
  refused(language, choice, "--sequence");
  choice.mfu = 1.5;
  choice.weights.sequence = 8;
  refused(language, choice, "--mfu 150%");
}

// 4.1 G multiply-accumulates an image forward and thrice that in all but the stem: at 64 images and
// 35 % of 15.7 TFLOPS that is 3 x 2 x 64 x 4.1e9 / 5.5e12 = 0.29 s; the least traffic adds some.
TEST_CASE("ResNet-50's ONNX gives a V100's iteration by its FLOPs", "[derive]") {
  const TemporaryFolder folder;
  DeriveChoice choice;
  choice.device = device("v100");
  choice.batch = 64;
  choice.mfu = 0.35;
  OnnxNetwork read =
      read_onnx(folder.write("r.onnx", resnet_50_onnx({1, 3, 224, 224})), choice.weights);
  const Imported result = imported_from(read.network, "resnet", read.stored_type, choice);
  CHECK(result.trace->iteration().count() > 0.29);
  CHECK(result.trace->iteration().count() < 0.40);
  require_same_tensors(*result.model, *result.trace);
  choice.batch.reset();
  choice.tokens = 64;
  OnnxNetwork again =
      read_onnx(folder.write("r.onnx", resnet_50_onnx({1, 3, 224, 224})), choice.weights);
  CHECK_THROWS_WITH(imported_from(again.network, "r", "F32", choice),
                    Contains("works on images: --batch N"));
}
