// Activations that layers keep for backward, by hand. scripts/activations counts them with PyTorch.
#include <catch2/catch.hpp>

#include "tests/sim/generate/network_tensors.hpp"

using namespace gradcast;

// An image of 784; each ReLU's output, which is the next layer's input, stands on the layer before
// it. The loss: 10 values, 4 bytes of log-probability and 8 of gradients for each.
TEST_CASE("a linear layer keeps its input and ReLU its output, each once", "[generate]") {
  const Model net = model("fnn-3");
  CHECK(tensor(net, "fc1.weight").kept_elements == 784 + 200);
  CHECK(tensor(net, "fc2.weight").kept_elements == 200);
  CHECK(tensor(net, "fc3.weight").kept_elements == 10);
  CHECK(tensor(net, "fc3.weight").kept_bytes == 10 * (4 + 8));
  CHECK(tensor(net, "fc1.bias").kept_elements == 0);
}

// The stem's pooling: 64 x 112 x 112 in, of which ReLU keeps its output, and 64 x 56 x 56 places
// of 8 bytes. The first bottleneck's input of 64 x 56 x 56 is read by conv1 and the shortcut.
TEST_CASE("what two layers read is kept once, and maximum pooling keeps places", "[generate]") {
  const Model net = model("resnet-50");
  CHECK(tensor(net, "conv1.weight").kept_elements == 3 * 224 * 224);
  CHECK(tensor(net, "bn1.weight").kept_elements == 2 * 64 * 112 * 112);  // in, and out of ReLU
  CHECK(tensor(net, "bn1.weight").kept_bytes == 8 * 64 * 56 * 56);
  CHECK(tensor(net, "layer1.0.conv1.weight").kept_elements == 64 * 56 * 56);
  CHECK(tensor(net, "layer1.0.downsample.0.weight").kept_elements == 0);
  CHECK(tensor(net, "layer1.0.conv1.weight").unit_input == 64 * 56 * 56);
  CHECK(tensor(net, "layer1.0.bn1.weight").unit_input == 0);
}

// 1024 tokens of 768. ln_1: its input. c_attn: its input, q, k and v, and attention's output, which
// is c_proj's input. ln_2: its input. c_fc: its input and its output, which GELU reads. mlp.c_proj:
// its input. Statistics of 4 bytes: 2 a token and normalisation, 12 heads a token; two masks.
TEST_CASE("a block of GPT-2 keeps 16 times its input", "[generate]") {
  const std::int64_t tokens = 1024;
  const std::int64_t input = tokens * 768;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  const Model net = model("gpt2-small");
  for (const GradientTensor& each : net.tensors) {
    if (each.unit != "transformer.h.3") continue;
    elements += each.kept_elements;
    bytes += each.kept_bytes;
  }
  CHECK(elements == 16 * input);
  CHECK(bytes == 2 * 2 * 4 * tokens + 4 * 12 * tokens + 2 * input);
  CHECK(tensor(net, "transformer.h.3.attn.c_attn.weight").kept_elements == 5 * input);
  CHECK(tensor(net, "transformer.h.3.attn.c_proj.weight").kept_elements == 0);
  CHECK(tensor(net, "transformer.h.3.ln_1.weight").unit_input == input);
}

// 50257 words: the logits, their log-probabilities in fp32 and two gradients in fp32; beside them
// the normalisation's input and output.
TEST_CASE("the loss of a language model keeps the words of every token", "[generate]") {
  const GradientTensor head = tensor(model("gpt2-small"), "transformer.ln_f.weight");
  CHECK(head.kept_elements == 1024 * (2 * 768 + 50'257));
  CHECK(head.kept_bytes == 1024 * (2 * 4 + 50'257 * 12));
}

// Keys and values of 1024, 8192 tokens. up_proj carries the gate: gate and up of 14336 each, the
// activated gate, and nothing more: their product is down_proj's input.
TEST_CASE("SwiGLU keeps three of its four values, and shared heads fewer keys", "[generate]") {
  const Model net = model("llama-3-8b");
  const std::string block = "model.layers.0.";
  CHECK(tensor(net, block + "self_attn.v_proj.weight").kept_elements ==
        8192 * (4096 + 2 * 1024 + 4096));
  CHECK(tensor(net, block + "mlp.gate_proj.weight").kept_elements == 8192 * 4096);
  CHECK(tensor(net, block + "mlp.up_proj.weight").kept_elements == 8192 * 3 * 14'336);
  CHECK(tensor(net, block + "mlp.down_proj.weight").kept_elements == 8192 * 14'336);
}
