#include <catch2/catch.hpp>
#include <set>

#include "tests/sim/generate/network_tensors.hpp"

using namespace gradcast;

namespace {

std::vector<std::string> units(const Model& model) {
  std::vector<std::string> all;
  for (const GradientTensor& each : model.tensors)
    if (all.empty() || all.back() != each.unit) all.push_back(each.unit);
  return all;
}

}  // namespace

// A block of GPT-2 small, 1024 tokens: 768 x (3 + 1 + 4 + 4) x 768 weights a token, and attention 2
// x 1024 x 768 a token; two normalisations of 768. The head 50257 x 768 a token, the last
// normalisation 768. 1024 x (12 x (7,077,888 + 1,572,864 + 1536) + 38,597,376 + 768) = 145.8 G.
TEST_CASE("GPT-2's arithmetic is that of its matrices, of attention and of the head",
          "[generate]") {
  const double block = 12.0 * 768 * 768 + 2.0 * 1024 * 768 + 2 * 768;
  const double macs = 1024 * (12 * block + 50'257.0 * 768 + 768);
  CHECK(model("gpt2-small").forward_flops() == Approx(2 * macs).epsilon(1e-9));
}

// The table is 50257 x 768. It is first in forward order: its gradient is ready last.
TEST_CASE("a tied head has no tensor, and its arithmetic is the last normalisation's",
          "[generate]") {
  const Model gpt2 = model("gpt2-small");
  CHECK(gpt2.tensors.front().tensor == "transformer.wte.weight");
  CHECK(gpt2.tensors.front().elements == 50'257 * 768);
  CHECK(gpt2.tensors.front().forward_flops == 0);
  CHECK(tensor(gpt2, "transformer.ln_f.weight").forward_flops == 2.0 * 1024 * (50'257 * 768 + 768));
  for (const GradientTensor& each : gpt2.tensors)
    CHECK(each.tensor.find("lm_head") == std::string::npos);
}

// Attention has no tensor either: query, key and value of 768 each a token, then 2 x 1024 x 768.
TEST_CASE("what attention computes stands on the product before it", "[generate]") {
  CHECK(tensor(model("gpt2-small"), "transformer.h.0.attn.c_attn.weight").forward_flops ==
        2.0 * 1024 * (3 * 768 * 768 + 2 * 1024 * 768));
}

// The model without heads has 335,141,888 parameters. To name words: 1024 x 1024 + 1024, a
// normalisation of 2 x 1024, and a bias a word; to judge sentences: 2 x 1024 + 2.
TEST_CASE("BERT has both heads that it is trained with, the larger one on 80 tokens",
          "[generate]") {
  const Model bert = model("bert-large");
  CHECK(bert.elements() == 335'141'888 + 1024 * 1024 + 1024 + 2 * 1024 + 30'522 + 2 * 1024 + 2);
  CHECK(tensor(bert, "cls.predictions.transform.dense.weight").forward_flops ==
        2.0 * 80 * 1024 * 1024);
  CHECK(tensor(bert, "bert.pooler.dense.weight").forward_flops == 2.0 * 1024 * 1024);
  CHECK(tensor(bert, "cls.predictions.transform.LayerNorm.weight").forward_flops ==
        2.0 * 80 * (1024 + 1024 * 30'522));
}

// 8 heads of 128 for keys and values are shared by 32 of queries. A sequence of 8192: 8192 x (4096
// x 4096 x 2 + 2 x 4096 x 1024 + 3 x 4096 x 14336 + 2 x 8192 x 4096 + 2 x 4096) a block.
TEST_CASE("Llama 3's heads share keys and values, and it is kept in bf16", "[generate]") {
  const Model llama = model("llama-3-8b");
  CHECK(tensor(llama, "model.layers.31.self_attn.k_proj.weight").elements == 4096 * 1024);
  CHECK(tensor(llama, "lm_head.weight").elements == 4096 * 128'256);
  const double block =
      2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14'336 + 2.0 * 8192 * 4096 + 2 * 4096;
  CHECK(llama.forward_flops() ==
        Approx(2 * 8192 * (32 * block + 4096.0 * 128'256 + 4096)).epsilon(1e-9));
  for (const GradientTensor& each : llama.tensors) CHECK(each.type == NumberType::Bf16);
  for (const GradientTensor& each : model("gpt2-xl").tensors) CHECK(each.type == NumberType::Fp32);
}

// 196 patches of 16 x 16 x 3 and one token more.
TEST_CASE("a vision transformer looks at 197 tokens and classifies one", "[generate]") {
  const Model vit = model("vit-b-16");
  CHECK(vit.tensors.front().tensor == "conv_proj.weight");
  CHECK(vit.tensors.front().forward_flops == 2.0 * 196 * 16 * 16 * 3 * 768);
  CHECK(tensor(vit, "encoder.pos_embedding").elements == 197 * 768);
  CHECK(tensor(vit, "class_token").elements == 768);
  CHECK(tensor(vit, "heads.head.weight").forward_flops == 2.0 * 768 * 1000);
}

// The embeddings, each block, and the last normalisation with the head, as torchtitan shards Llama.
TEST_CASE("what is sharded as one is a block, the embeddings or the head", "[generate]") {
  CHECK(units(model("llama-3-8b")).size() == 1 + 32 + 1);
  CHECK(units(model("gpt2-xl")).size() == 1 + 48 + 1);
  CHECK(units(model("bert-base")).size() == 1 + 12 + 1);
  CHECK(units(model("vit-l-16")).size() == 1 + 24 + 1);
  CHECK(units(model("resnet-101")).size() == 1 + 33 + 1);
  CHECK(units(model("llama-2-7b")).front() == "embeddings");
  CHECK(units(model("llama-2-7b"))[1] == "model.layers.0");
  CHECK(units(model("llama-2-7b")).back() == "head");
}
