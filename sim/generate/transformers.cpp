// Transformers. One sample is a sequence of tokens, or the patches of an image.
#include "sim/generate/networks.hpp"

namespace gradcast {
namespace {

/// One row number for each token.
Shape tokens(std::int64_t count) { return {1, 1, count}; }

constexpr std::int64_t kHeadWidth = 64;  // Llama's: 128

/// The second half of a block of GPT-2's and of GPT-Neo's.
void gpt_feed_forward(Architecture& net, const std::string& name, std::int64_t width) {
  net.layer_norm(name + ".ln_2", true);
  net.linear_of_steps(name + ".mlp.c_fc", 4 * width, true);
  net.activation(4 * width);
  net.linear_of_steps(name + ".mlp.c_proj", width, true);
}

/// The query, key and value of each head stand in one product, as in the authors' code. Dropout of
/// 10 % follows both halves; GPT-Neo has none.
void gpt2_block(Architecture& net, const std::string& name, std::int64_t width) {
  net.layer_norm(name + ".ln_1", true);
  net.linear_of_steps(name + ".attn.c_attn", 3 * width, true);
  net.attention(width, width, kHeadWidth);
  net.linear_of_steps(name + ".attn.c_proj", width, true);
  net.dropout();
  net.add();
  gpt_feed_forward(net, name, width);
  net.dropout();
  net.add();
}

/// GPT-2's, but query, key and value are three products without a bias. Every second block attends
/// to the last 256 tokens only; huggingface computes all scores and masks the others, so nothing is
/// saved.
void gpt_neo_block(Architecture& net, const std::string& name, std::int64_t width) {
  net.layer_norm(name + ".ln_1", true);
  const Place in = net.here();
  net.linear_of_steps(name + ".attn.attention.q_proj", width, false);
  net.from(in);
  net.linear_of_steps(name + ".attn.attention.k_proj", width, false);
  net.from(in);
  net.linear_of_steps(name + ".attn.attention.v_proj", width, false);
  net.attention(width, width, kHeadWidth);
  net.linear_of_steps(name + ".attn.attention.out_proj", width, true);
  net.add();
  gpt_feed_forward(net, name, width);
  net.add();
}

void bert_block(Architecture& net, const std::string& name, std::int64_t width) {
  const Place in = net.here();
  net.linear_of_steps(name + ".attention.self.query", width, true);
  net.from(in);
  net.linear_of_steps(name + ".attention.self.key", width, true);
  net.from(in);
  net.linear_of_steps(name + ".attention.self.value", width, true);
  net.attention(width, width, kHeadWidth);
  net.linear_of_steps(name + ".attention.output.dense", width, true);
  net.dropout();
  net.add();
  net.layer_norm(name + ".attention.output.LayerNorm", true);
  net.linear_of_steps(name + ".intermediate.dense", 4 * width, true);
  net.activation(4 * width);
  net.linear_of_steps(name + ".output.dense", width, true);
  net.dropout();
  net.add();
  net.layer_norm(name + ".output.LayerNorm", true);
}

/// `key_value_width`: the width of all heads that queries share. Rotating queries and keys is not
/// counted.
void llama_block(Architecture& net, const std::string& name, std::int64_t width,
                 std::int64_t key_value_width, std::int64_t feed_forward) {
  net.layer_norm(name + ".input_layernorm", false);
  const Place in = net.here();
  net.linear_of_steps(name + ".self_attn.q_proj", width, false);
  net.from(in);
  net.linear_of_steps(name + ".self_attn.k_proj", key_value_width, false);
  net.from(in);
  net.linear_of_steps(name + ".self_attn.v_proj", key_value_width, false);
  net.attention(width, key_value_width, 2 * kHeadWidth);
  net.linear_of_steps(name + ".self_attn.o_proj", width, false);
  net.add();
  net.layer_norm(name + ".post_attention_layernorm", false);
  const Place normed = net.here();
  net.linear_of_steps(name + ".mlp.gate_proj", feed_forward, false);
  net.from(normed);
  net.linear_of_steps(name + ".mlp.up_proj", feed_forward, false);
  net.with_shape({2 * feed_forward, 1, normed.shape.width});
  net.activation(feed_forward);
  net.linear_of_steps(name + ".mlp.down_proj", width, false);
  net.add();
}

void vit_block(Architecture& net, const std::string& name, std::int64_t width) {
  net.layer_norm(name + ".ln_1", true);
  net.linear_of_steps(name + ".self_attention.in_proj", 3 * width, true);
  net.attention(width, width, kHeadWidth);
  net.linear_of_steps(name + ".self_attention.out_proj", width, true);
  net.add();
  net.layer_norm(name + ".ln_2", true);
  net.linear_of_steps(name + ".mlp.0", 4 * width, true);
  net.activation(4 * width);
  net.linear_of_steps(name + ".mlp.3", width, true);
  net.add();
}

// The head is the table of words once more: its arithmetic stands on the last normalisation. A
// sample has 1024 tokens, though the table may have more positions.
Architecture gpt(int blocks, std::int64_t width, std::int64_t positions,
                 void (*block)(Architecture&, const std::string&, std::int64_t)) {
  constexpr std::int64_t kWords = 50'257;
  Architecture net(tokens(1024));
  net.unit("embeddings");
  net.embedding("transformer.wte", kWords, width);
  net.embedding("transformer.wpe", positions, width);
  net.add();
  if (block == gpt2_block) net.dropout();
  for (int i = 0; i < blocks; ++i) {
    const std::string name = "transformer.h." + std::to_string(i);
    net.unit(name);
    block(net, name, width);
  }
  net.unit("head");
  net.layer_norm("transformer.ln_f", true);
  net.tied_linear(kWords);
  net.loss();
  return net;
}

Architecture gpt2(int blocks, std::int64_t width) { return gpt(blocks, width, 1024, gpt2_block); }

// BERT is trained with two heads. One names the masked words, 80 of the 512 tokens; its product is
// the table of words once more. The other judges the first token: does one sentence follow the
// other?
Architecture bert(int blocks, std::int64_t width) {
  constexpr std::int64_t kWords = 30'522;
  constexpr std::int64_t kPositions = 512;
  constexpr std::int64_t kMasked = 80;
  Architecture net(tokens(kPositions));
  net.unit("embeddings");
  net.embedding("bert.embeddings.word_embeddings", kWords, width);
  net.embedding("bert.embeddings.position_embeddings", kPositions, width);
  net.add();
  net.embedding("bert.embeddings.token_type_embeddings", 2, width);
  net.add();
  net.layer_norm("bert.embeddings.LayerNorm", true);
  net.dropout();
  for (int i = 0; i < blocks; ++i) {
    const std::string name = "bert.encoder.layer." + std::to_string(i);
    net.unit(name);
    bert_block(net, name, width);
  }
  net.unit("head");
  net.steps(1);
  net.linear_of_steps("bert.pooler.dense", width, true);
  net.activation(width);
  net.steps(kMasked);
  net.linear_of_steps("cls.predictions.transform.dense", width, true);
  net.activation(width);
  net.layer_norm("cls.predictions.transform.LayerNorm", true);
  net.tied_linear(kWords);
  net.bias("cls.predictions");
  net.loss();
  net.with_shape({width, 1, 1});
  net.linear_of_steps("cls.seq_relationship", 2, true);
  return net;
}

struct LlamaShape {
  int blocks = 32;
  std::int64_t width = 4096;
  std::int64_t key_value_width = 4096;  // keys and values: queries share their heads
  std::int64_t feed_forward = 0;
  std::int64_t words = 0;
  std::int64_t sequence = 0;
};

Architecture llama(const LlamaShape& shape) {
  Architecture net(tokens(shape.sequence), NumberType::Bf16);
  net.unit("embeddings");
  net.embedding("model.embed_tokens", shape.words, shape.width);
  for (int i = 0; i < shape.blocks; ++i) {
    const std::string name = "model.layers." + std::to_string(i);
    net.unit(name);
    llama_block(net, name, shape.width, shape.key_value_width, shape.feed_forward);
  }
  net.unit("head");
  net.layer_norm("model.norm", false);
  net.linear_of_steps("lm_head", shape.words, false);
  net.loss();
  return net;
}

// 14 x 14 patches of 16 x 16 become a sequence, and one learned token that is classified in the end
// makes 197.
Architecture vit(int blocks, std::int64_t width) {
  constexpr std::int64_t kPatches = 196;
  Architecture net({3, 224, 224});
  net.unit("embeddings");
  net.convolution("conv_proj", width, square(16, 16), true);
  net.with_shape({width, 1, kPatches});
  net.learned_rows("class_token", 1);
  net.steps(kPatches + 1);
  net.learned_rows("encoder.pos_embedding", kPatches + 1);
  for (int i = 0; i < blocks; ++i) {
    const std::string name = "encoder.layers.encoder_layer_" + std::to_string(i);
    net.unit(name);
    vit_block(net, name, width);
  }
  net.unit("head");
  net.layer_norm("encoder.ln", true);
  net.steps(1);
  net.linear("heads.head", 1000);
  net.loss();
  return net;
}

}  // namespace

std::vector<Network> transformers() {
  const std::string gpt2_source = "OpenAI's GPT-2 as huggingface/transformers has it, ";
  const std::string gpt2_sample = "one sequence of 1024 tokens";
  const std::string bert_source =
      "BertForPreTraining of huggingface/transformers, both heads, uncased, ";
  const std::string bert_sample = "one sequence of 512 tokens, 80 of them masked";
  const std::string image = "one image of 224 x 224";
  return {
      {"gpt2-small", gpt2_source + "gpt2", gpt2(12, 768), gpt2_sample},
      {"gpt2-medium", gpt2_source + "gpt2-medium", gpt2(24, 1024), gpt2_sample},
      {"gpt2-large", gpt2_source + "gpt2-large", gpt2(36, 1280), gpt2_sample},
      {"gpt2-xl", gpt2_source + "gpt2-xl", gpt2(48, 1600), gpt2_sample},
      {"gpt-neo-125m", "EleutherAI's GPT-Neo 125M as huggingface/transformers has it",
       gpt(12, 768, 2048, gpt_neo_block), gpt2_sample},
      {"bert-base", bert_source + "base", bert(12, 768), bert_sample},
      {"bert-large", bert_source + "large", bert(24, 1024), bert_sample},
      {"llama-2-7b", "Meta's Llama 2 7B as huggingface/transformers has it",
       llama({.feed_forward = 11'008, .words = 32'000, .sequence = 4096}),
       "one sequence of 4096 tokens"},
      {"llama-3-8b", "Meta's Llama 3 8B as huggingface/transformers has it; of Llama 3.1 too",
       llama({.key_value_width = 1024, .feed_forward = 14'336, .words = 128'256, .sequence = 8192}),
       "one sequence of 8192 tokens"},
      {"vit-b-16", "torchvision vit_b_16, 1000 classes", vit(12, 768), image},
      {"vit-l-16", "torchvision vit_l_16, 1000 classes", vit(24, 1024), image},
  };
}

}  // namespace gradcast
