#include "sim/import/weights/safetensors.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/weights/weight_order.hpp"
#include "tests/sim/import/checkpoint.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::vector<std::string> names_of(const std::vector<Weight>& weights) {
  std::vector<std::string> names;
  for (const Weight& weight : weights) names.push_back(weight.name);
  return names;
}

std::int64_t elements_in(const std::vector<Weight>& weights) {
  std::int64_t sum = 0;
  for (const Weight& weight : weights) sum += weight.elements();
  return sum;
}

}  // namespace

// 2 x 128256 x 4096 + 32 x (2 x 4096 + 2 x 4096^2 + 2 x 1024 x 4096 + 3 x 14336 x 4096) + 4096
// = 1,050,673,152 + 32 x 218,112,000 + 4,096 = 8,030,261,248.
TEST_CASE("a header of Llama-3 8B has its 8,030,261,248 parameters, as the network uses them",
          "[safetensors]") {
  const TemporaryFolder folder;
  ImportNotes notes;
  const std::vector<Weight> weights = read_safetensors(
      {folder.write("model.safetensors", safetensors_file(header_of(llama_3_8b())))}, notes);
  CHECK(weights.size() == 291);
  CHECK(elements_in(weights) == 8'030'261'248);
  const std::vector<std::string> names = names_of(weights);
  CHECK(names.front() == "model.embed_tokens.weight");
  CHECK(std::vector<std::string>(names.begin() + 1, names.begin() + 11) ==
        std::vector<std::string>{
            "model.layers.0.input_layernorm.weight", "model.layers.0.self_attn.q_proj.weight",
            "model.layers.0.self_attn.k_proj.weight", "model.layers.0.self_attn.v_proj.weight",
            "model.layers.0.self_attn.o_proj.weight",
            "model.layers.0.post_attention_layernorm.weight", "model.layers.0.mlp.gate_proj.weight",
            "model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.down_proj.weight",
            "model.layers.1.input_layernorm.weight"});
  CHECK(names[289] == "model.norm.weight");
  CHECK(names[290] == "lm_head.weight");
  CHECK_THAT(join(notes.inferred), Contains("order") && !Contains("lm_head"));
}

TEST_CASE("torchvision's ResNet names come out as the network runs: stem, blocks, fc",
          "[safetensors]") {
  std::vector<Weight> weights;
  for (const char* name :
       {"bn1.bias", "bn1.weight", "conv1.weight", "fc.bias", "fc.weight", "layer1.0.bn1.weight",
        "layer1.0.bn2.weight", "layer1.0.conv1.weight", "layer1.0.conv2.weight",
        "layer1.0.downsample.0.weight", "layer1.0.downsample.1.weight", "layer1.1.conv1.weight",
        "layer10.0.conv1.weight", "layer2.0.conv1.weight"})
    weights.push_back({name, {1}, "F32"});
  sort_in_forward_order(weights);
  CHECK(names_of(weights) ==
        std::vector<std::string>{
            "conv1.weight", "bn1.weight", "bn1.bias", "layer1.0.conv1.weight",
            "layer1.0.bn1.weight", "layer1.0.conv2.weight", "layer1.0.bn2.weight",
            "layer1.0.downsample.0.weight", "layer1.0.downsample.1.weight", "layer1.1.conv1.weight",
            "layer2.0.conv1.weight", "layer10.0.conv1.weight", "fc.weight", "fc.bias"});
}

TEST_CASE("GPT-2's and BERT's blocks come out as they run", "[safetensors]") {
  std::vector<Weight> gpt;
  for (const char* name :
       {"h.0.attn.c_attn.bias", "h.0.attn.c_attn.weight", "h.0.attn.c_proj.weight",
        "h.0.ln_1.weight", "h.0.ln_2.weight", "h.0.mlp.c_fc.weight", "h.0.mlp.c_proj.weight",
        "h.1.ln_1.weight", "ln_f.bias", "ln_f.weight", "wpe.weight", "wte.weight"})
    gpt.push_back({name, {1}, "F32"});
  sort_in_forward_order(gpt);
  CHECK(names_of(gpt) == std::vector<std::string>{"wte.weight", "wpe.weight", "h.0.ln_1.weight",
                                                  "h.0.attn.c_attn.weight", "h.0.attn.c_attn.bias",
                                                  "h.0.attn.c_proj.weight", "h.0.ln_2.weight",
                                                  "h.0.mlp.c_fc.weight", "h.0.mlp.c_proj.weight",
                                                  "h.1.ln_1.weight", "ln_f.weight", "ln_f.bias"});
  std::vector<Weight> bert;
  const std::string layer = "bert.encoder.layer.0.";
  for (const std::string& name :
       {layer + "attention.output.LayerNorm.weight", layer + "attention.output.dense.weight",
        layer + "attention.self.key.weight", layer + "attention.self.query.weight",
        layer + "attention.self.value.weight", layer + "intermediate.dense.weight",
        layer + "output.LayerNorm.weight", layer + "output.dense.weight",
        std::string("bert.embeddings.LayerNorm.weight"),
        std::string("bert.embeddings.word_embeddings.weight"),
        std::string("bert.pooler.dense.weight"), std::string("cls.predictions.bias")})
    bert.push_back({name, {1}, "F32"});
  sort_in_forward_order(bert);
  CHECK(names_of(bert) ==
        std::vector<std::string>{
            "bert.embeddings.word_embeddings.weight", "bert.embeddings.LayerNorm.weight",
            layer + "attention.self.query.weight", layer + "attention.self.key.weight",
            layer + "attention.self.value.weight", layer + "attention.output.dense.weight",
            layer + "attention.output.LayerNorm.weight", layer + "intermediate.dense.weight",
            layer + "output.dense.weight", layer + "output.LayerNorm.weight",
            "bert.pooler.dense.weight", "cls.predictions.bias"});
}

TEST_CASE("what is not trained is dropped, and said", "[safetensors]") {
  const TemporaryFolder folder;
  Json header = Json::parse(header_of({{"bn1.running_mean", {64}},
                                       {"bn1.running_var", {64}},
                                       {"bn1.weight", {64}},
                                       {"h.0.attn.bias", {1, 1, 8, 8}},
                                       {"h.0.attn.c_attn.bias", {24}},
                                       {"rotary_emb.inv_freq", {4}}}));
  header["bn1.num_batches_tracked"] = {
      {"dtype", "I64"}, {"shape", Json::array()}, {"data_offsets", {1000, 1008}}};
  ImportNotes notes;
  const auto weights =
      read_safetensors({folder.write("a.safetensors", safetensors_file(header.dump()))}, notes);
  CHECK(names_of(weights) == std::vector<std::string>{"h.0.attn.c_attn.bias", "bn1.weight"});
  CHECK_THAT(join(notes.dropped),
             Contains("3 tensors without gradients, running statistics: bn1.running_mean, "
                      "bn1.running_var, ...") &&
                 Contains("masks: h.0.attn.bias") && Contains("positions: rotary_emb.inv_freq"));
  // Two statistics of 64 numbers of 2 bytes, and a counter of 64 bits. Masks are not counted.
  CHECK(weights[1].buffer_bytes == 2 * 64 * 2);
  CHECK(weights[1].counter_bytes == 8);
  CHECK(gradient_of("bn1", weights[1]).buffer_bytes == 256);
  CHECK(weights[0].buffer_bytes + weights[0].counter_bytes == 0);
  CHECK_THAT(join(notes.used), Contains("running statistics, 264 bytes: buffers, which DDP"));
}

TEST_CASE("a head that shares the embedding's table is one gradient, and that is said",
          "[safetensors]") {
  const TemporaryFolder folder;
  ImportNotes notes;
  read_safetensors({folder.write("a.safetensors",
                                 safetensors_file(header_of({{"model.embed_tokens.weight", {10, 4}},
                                                             {"model.norm.weight", {4}}})))},
                   notes);
  CHECK_THAT(join(notes.inferred),
             Contains("no lm_head.weight") && Contains("'model.embed_tokens.weight'"));
}

TEST_CASE("a checkpoint in several files is one model, by its files or by its index",
          "[safetensors]") {
  const TemporaryFolder folder;
  const std::string one =
      folder.write("one.safetensors", safetensors_file(header_of({{"layers.0.w", {2, 2}}})));
  const std::string two =
      folder.write("two.safetensors", safetensors_file(header_of({{"layers.1.w", {2, 2}}})));
  const auto index = [&](const std::string& map) {
    return folder.write("model.safetensors.index.json", "{\"weight_map\": " + map + "}");
  };
  const std::vector<std::string> both{"layers.0.w", "layers.1.w"};
  ImportNotes notes;
  CHECK(names_of(read_safetensors({two, one}, notes)) == both);
  const std::string good =
      index(R"({"layers.0.w": "one.safetensors", "layers.1.w": "two.safetensors"})");
  CHECK(names_of(read_safetensors({good}, notes)) == both);
  CHECK(names_of(read_safetensors({good, one, two}, notes)) == both);  // each once
  const auto refused = [&](const std::string& map, const char* why) {
    CHECK_THROWS_WITH(read_safetensors({index(map)}, notes), Contains(why));
  };
  refused(R"({"layers.0.w": "three.safetensors"})", "'three.safetensors', which does not lie");
  refused(R"({"layers.2.w": "one.safetensors"})", "'layers.2.w', which it has not");
  refused(R"({"layers.0.w": "../one.safetensors"})", "no file beside it");
  refused("[]", "weight_map");
  const std::string copy =
      folder.write("copy.safetensors", safetensors_file(header_of({{"layers.0.w", {2, 2}}})));
  CHECK_THROWS_WITH(read_safetensors({one, copy}, notes),
                    Contains("copy.safetensors") && Contains("which an earlier file has too"));
}

TEST_CASE("a header that lies is refused in one line", "[safetensors]") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& file, const char* why) {
    const std::string path = folder.write("a.safetensors", file);
    CHECK_THROWS_WITH(read_safetensors_header(path), Contains("a.safetensors") && Contains(why));
  };
  const auto tensor = [](const std::string& entry) {
    return safetensors_file("{\"w\":" + entry + "}");
  };
  refused("\x01", "1 bytes; a safetensors file begins with 8");
  refused(little_endian(~std::uint64_t{0}) + "{}", "18446744073709551615 bytes; the most is");
  refused(little_endian(100) + "{}", "100 bytes, but only 2 follow");
  refused(safetensors_file("{}"), "has no tensors");
  refused(safetensors_file("[1]"), "no JSON object");
  refused(safetensors_file("{\"w\":"), "no whole JSON");
  refused(safetensors_file(std::string(200, '[')), "deeper than 100");
  refused(tensor("3"), "has no \"dtype\"");
  refused(tensor(R"({"dtype":"F33","shape":[1],"data_offsets":[0,4]})"), "the type 'F33'");
  refused(tensor(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), "a size of -1");
  refused(tensor(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), "the size '1.5'");
  refused(tensor(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})"),
          "more than 2147483647 elements");
  refused(tensor(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})"),
          "which is none");
  refused(tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), "lies from 4 to 0");
  refused(tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), "take 8 bytes");
  refused(tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":)") + "]", "no whole JSON");
  refused(safetensors_file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                           R"("v":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})"),
          "'v' lies over 'w'");
  refused(safetensors_file(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                           R"("w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"),
          "two tensors 'w'");
  refused(safetensors_file(header_of({{"w", {8}}}), 4), "ends at byte 16 of the 4");
  refused(safetensors_file(header_of({{"a\nb", {8}}})), "no plain text");
}

TEST_CASE("a quantised checkpoint is refused: its tensors are not those that are trained",
          "[safetensors]") {
  const TemporaryFolder folder;
  ImportNotes notes;
  CHECK_THROWS_WITH(
      read_safetensors({folder.write("a.safetensors", safetensors_file(header_of(
                                                          {{"layers.0.q_proj.qweight", {8}}})))},
                       notes),
      Contains("quantised"));
}

TEST_CASE("an adapter is refused: it is not the model", "[safetensors]") {
  const TemporaryFolder folder;
  ImportNotes notes;
  const std::string name = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight";
  CHECK_THROWS_WITH(
      read_safetensors(
          {folder.write("a.safetensors", safetensors_file(header_of({{name, {8, 64}}})))}, notes),
      Contains("is an adapter") && Contains("give the checkpoint of that model"));
}
