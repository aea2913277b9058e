#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/sim/generate/network_tensors.hpp"

using namespace gradcast;

namespace {

struct Published {
  std::int64_t parameters;
  std::size_t tensors;
  double multiply_accumulates;
};

}  // namespace

// Multiply-accumulates of all but Inception-V4 as torchvision's documentation has them.
// Tensors of ResNet-152: 3 + 8 + 36 + 3 = 50 bottlenecks of three convolutions and three
// normalisations of two tensors, 9 each; four shortcuts of 3; the stem's 3, the last layer's 2:
// 467. DenseNet-161: 6 + 12 + 36 + 24 = 78 layers of two normalisations and two convolutions, 6
// each; three transitions of 3; the stem's 3, the last normalisation's 2, the last layer's 2: 484.
// DenseNet-201 has 6 + 12 + 48 + 32 = 98 layers, 20 more: 484 + 20 x 6 = 604.
// The last six are in Table 1 of the paper, which has their parameters. Multiply-accumulates can be
// worked out: FNN-3 784 x 200 + 200 x 200 + 200 x 10 = 198,800; LeNet-5 150 x 28 x 28 + 2400 x 10 x
// 10 + 48,000 + 10,080 + 840 = 416,520; ResNet-20 40.6 M (He et al.); VGG-16 at 32 x 32 313 M;
// LSTM-PTB 35 x (36 M of two LSTM layers + 15 M of the last) = 1785 M; LSTM-AN4 is below.
// Tensors: ResNet-20 has 19 convolutions and normalisations of 3 together, and 2: 59. VGG-16 13 x 4
// + 2 = 54. LSTM-PTB 1 + 2 x 4 + 2 = 11. LSTM-AN4 2 x 4 + 5 x 4 + 4 x 2 + 1 + 2 + 1 = 40.
// ResNet-101: 3 + 4 + 23 + 3 = 33 bottlenecks of 9, and 17 as above: 314. ResNeXt and Wide ResNet
// have the tensors of the ResNet of their depth; parameters and multiply-accumulates are those of
// torchvision's documentation.
// The transformers below it have their parameters from the safetensors of huggingface's gpt2,
// gpt2-medium, gpt2-large, gpt2-xl, bert-base-uncased, Llama-2-7b and Meta-Llama-3-8B, and from
// torchvision's documentation; BERT-large's are worked out below. Tensors: GPT-2 12 a block and 4;
// GPT-Neo has three products of one tensor each where GPT-2 has one of two, 13 a block and 4;
// BERT 16 a block, 5 of its embeddings, 2 of the pooler and 7 of the heads; Llama 9 a block and 3;
// ViT 12 a block and 4 before, 4 behind them. Their multiply-accumulates are worked out below.
TEST_CASE("the networks have their published parameters, to the last one", "[generate]") {
  const std::map<std::string, Published> published{
      {"alexnet", {61'100'840, 16, 0.71e9}},
      {"vgg-16", {138'357'544, 32, 15.5e9}},
      {"resnet-50", {25'557'032, 161, 4.1e9}},
      {"inception-v4", {42'679'816, 449, 6.12e9}},
      {"resnet-152", {60'192'808, 467, 11.51e9}},
      {"densenet-161", {28'681'000, 484, 7.73e9}},
      {"densenet-201", {20'013'928, 604, 4.29e9}},
      {"fnn-3", {199'210, 6, 198'800}},
      {"lenet-5", {61'706, 10, 416'520}},
      {"resnet-20", {269'722, 59, 40.6e6}},
      {"vgg-16-cifar", {14'728'266, 54, 313e6}},
      {"resnet-50-cifar", {23'520'842, 161, 1.30e9}},
      {"lstm-ptb", {66'034'000, 11, 1785e6}},
      {"lstm-an4", {27'569'568, 40, 1.95e9}},
      {"resnet-101", {44'549'160, 314, 7.80e9}},
      {"resnext-50-32x4d", {25'028'904, 161, 4.23e9}},
      {"resnext-101-32x8d", {88'791'336, 314, 16.41e9}},
      {"wide-resnet-101-2", {126'886'696, 314, 22.75e9}},
      {"gpt2-small", {124'439'808, 148, 145.8e9}},
      {"gpt2-medium", {354'823'168, 292, 414e9}},
      {"gpt2-large", {774'030'080, 436, 887e9}},
      {"gpt2-xl", {1'557'611'200, 580, 1758e9}},
      {"gpt-neo-125m", {125'198'592, 160, 145.8e9}},
      {"bert-base", {110'106'428, 206, 50.3e9}},
      {"bert-large", {336'226'108, 398, 170e9}},
      {"llama-2-7b", {6'738'415'616, 291, 31.5e12}},
      {"llama-3-8b", {8'030'261'248, 291, 79.1e12}},
      {"vit-b-16", {86'567'656, 152, 17.56e9}},
      {"vit-l-16", {304'326'632, 296, 61.55e9}},
  };
  CHECK(all_networks().size() == published.size());
  for (const auto& [name, expected] : published) {
    const Model made = model(name);
    CAPTURE(name);
    CHECK(made.elements() == expected.parameters);
    CHECK(made.tensors.size() == expected.tensors);
    CHECK(made.forward_flops() == Approx(2 * expected.multiply_accumulates).epsilon(0.02));
  }
}

TEST_CASE("tensors have names of their own, and FLOPs stand on a layer's first", "[generate]") {
  for (const Network& network : all_networks()) {
    std::set<std::string> names;
    for (const Operator& each : network.architecture.operators())
      for (const GradientTensor& tensor : each.tensors) {
        CAPTURE(network.name, tensor.tensor);
        CHECK(names.insert(tensor.tensor).second);
        const bool first = &tensor == &each.tensors.front();
        CHECK((tensor.forward_flops > 0) == (first && each.multiply_accumulates > 0));
      }
  }
}

// 224 + 2 x 2 - 11 = 217, over a stride of 4: 54 steps, 55 places. 64 filters of 11 x 11 x 3.
// 53 layers with 26,560 channels: mean and variance of each in fp32, and a count in int64.
TEST_CASE("ResNet-50's buffers are two statistics a channel, and a count a layer", "[generate]") {
  CHECK(model("resnet-50").buffers() == std::vector{Bytes{2 * 26'560 * 4}, Bytes{53 * 8}});
  CHECK(model("gpt2-small").buffers().empty());
}

TEST_CASE("AlexNet's first convolution is what can be multiplied out", "[generate]") {
  const GradientTensor first = tensor(model("alexnet"), "features.0.weight");
  CHECK(first.elements == 64 * 11 * 11 * 3);
  CHECK(first.forward_flops == 2.0 * 55 * 55 * 64 * 11 * 11 * 3);
}

// Five poolings halve 224 to 7; 512 channels of 7 x 7 into 4096.
TEST_CASE("VGG-16's first dense layer is three quarters of the network", "[generate]") {
  const Model vgg = model("vgg-16");
  CHECK(tensor(vgg, "classifier.0.weight").elements == 512 * 7 * 7 * 4096);
  CHECK(100 * tensor(vgg, "classifier.0.weight").elements > 74 * vgg.elements());
}

// torchvision registers a bottleneck's shortcut after its three convolutions.
TEST_CASE("tensors come in forward order, shortcuts after the branch they join", "[generate]") {
  const Model resnet = model("resnet-50");
  CHECK(resnet.tensors.front().tensor == "conv1.weight");
  CHECK(resnet.tensors[9].tensor == "layer1.0.conv3.weight");
  CHECK(resnet.tensors[12].tensor == "layer1.0.downsample.0.weight");
  CHECK(resnet.tensors.back().tensor == "fc.bias");
}

// DenseNet-161 begins with 96 channels, and each layer adds 48: the third of the first block reads
// 96 + 2 x 48, and narrows them to 4 x 48. Its sixth leaves 96 + 6 x 48 = 384 channels, which the
// transition halves.
TEST_CASE("a dense layer reads the channels of all before it", "[generate]") {
  const Model densenet = model("densenet-161");
  CHECK(tensor(densenet, "features.denseblock1.denselayer3.conv1.weight").elements ==
        (96 + 2 * 48) * (4 * 48));
  CHECK(tensor(densenet, "features.denseblock1.denselayer3.conv2.weight").elements ==
        4 * 48 * 3 * 3 * 48);
  CHECK(tensor(densenet, "features.transition1.conv.weight").elements == 384 * 192);
}

// Four blocks of 6, 12, 48 and 32 layers, 32 channels each, halved after the first three: 64 + 192,
// 128 + 384, 256 + 1536, 896 + 1024 = 1920 channels of 7 x 7 at the end.
TEST_CASE("DenseNet-201 ends with 1920 channels", "[generate]") {
  CHECK(tensor(model("densenet-201"), "classifier.weight").elements == 1920 * 1000);
  const Architecture net = densenet_201();
  CHECK(net.operators()[net.operators().size() - 2].in.height == 7);
}

// Normalisation, ReLU and convolution, in this order; the first convolution is the stem's.
TEST_CASE("a dense layer normalises before it convolves", "[generate]") {
  const Model densenet = model("densenet-201");
  CHECK(densenet.tensors[0].tensor == "features.conv0.weight");
  CHECK(densenet.tensors[3].tensor == "features.denseblock1.denselayer1.norm1.weight");
  CHECK(densenet.tensors[5].tensor == "features.denseblock1.denselayer1.conv1.weight");
  CHECK(densenet.tensors[8].tensor == "features.denseblock1.denselayer1.conv2.weight");
  CHECK(densenet.tensors[9].tensor == "features.denseblock1.denselayer2.norm1.weight");
  CHECK(densenet.tensors.back().tensor == "classifier.bias");
}

// At 224 the stem leaves 25 x 25, the reductions 12 x 12 and 5 x 5; 1536 channels go into the last
// layer.
TEST_CASE("Inception-V4 ends with 1536 channels", "[generate]") {
  CHECK(tensor(model("inception-v4"), "last_linear.weight").elements == 1536 * 1000);
  const Architecture net = inception_v4();
  CHECK(net.operators()[net.operators().size() - 2].in.height == 5);
}

// Option A: where the width doubles, a block has its two convolutions and no third.
TEST_CASE("ResNet-20's shortcuts have no parameters", "[generate]") {
  const Model resnet = model("resnet-20");
  CHECK(tensor(resnet, "layer2.0.conv1.weight").elements == 16 * 32 * 3 * 3);
  CHECK(tensor(resnet, "layer2.0.conv1.weight").forward_flops == 2.0 * 16 * 16 * 16 * 32 * 3 * 3);
  CHECK(tensor(resnet, "fc.weight").elements == 64 * 10);
  for (const GradientTensor& each : resnet.tensors)
    CHECK(each.tensor.find("downsample") == std::string::npos);
}

// 14 x 14 left of 28 x 28 padded to 32 (28, then halved), 10, 5: 16 maps of 5 x 5 go into 120.
TEST_CASE("LeNet-5 ends its convolutions with 16 maps of 5 x 5", "[generate]") {
  CHECK(tensor(model("lenet-5"), "fc1.weight").elements == 16 * 5 * 5 * 120);
  CHECK(tensor(model("lenet-5"), "conv2.weight").forward_flops == 2.0 * 10 * 10 * 16 * 6 * 5 * 5);
}

// Four gates of 1500 on 1500 inputs and 1500 outputs of the step before, for 35 words.
TEST_CASE("an LSTM's arithmetic is that of both its matrices, at each step", "[generate]") {
  const Model ptb = model("lstm-ptb");
  CHECK(tensor(ptb, "lstm.weight_ih_l0").elements == 4 * 1500 * 1500);
  CHECK(tensor(ptb, "lstm.bias_hh_l1").elements == 4 * 1500);
  CHECK(tensor(ptb, "lstm.weight_ih_l0").forward_flops == 2.0 * 35 * 4 * 1500 * (1500 + 1500));
  CHECK(tensor(ptb, "word_embeddings.weight").forward_flops == 0);
}

// 161 frequencies: (161 + 40 - 41) / 2 + 1 = 81, (81 + 20 - 21) / 2 + 1 = 41, 32 channels of each:
// 1312. 101 steps: (101 + 10 - 11) / 2 + 1 = 51, and with a stride of 1 still 51.
// 14,432 + 32 + 64 + 236,544 + 32 + 64 of convolutions; 4 x 800 x (1312 + 800) + 6400 = 6,764,800
// and four of 4 x 800 x 1600 + 6400 = 5,126,400; 4 x 1600 of normalisations between; 21 x 800 of
// the lookahead; 1600 + 29 x 800: 27,569,568.
TEST_CASE("LSTM-AN4 is deepspeech.pytorch in one direction, with 21 weights of lookahead",
          "[generate]") {
  const Model an4 = model("lstm-an4");
  CHECK(tensor(an4, "rnns.0.rnn.weight_ih_l0").elements == 4 * 800 * 1312);
  CHECK(tensor(an4, "rnns.0.rnn.weight_ih_l0").forward_flops == 2.0 * 51 * 4 * 800 * (1312 + 800));
  CHECK(tensor(an4, "conv.seq_module.3.weight").forward_flops == 2.0 * 41 * 51 * 32 * 32 * 21 * 11);
  CHECK(tensor(an4, "lookahead.0.weight").elements == 21 * 800);
  CHECK(14'432 + 32 + 64 + 236'544 + 32 + 64 + 6'764'800 + 4 * 5'126'400 + 4 * 1600 + 21 * 800 +
            1600 + 29 * 800 ==
        an4.elements());
}

TEST_CASE("a window that does not fit is our own defect", "[generate]") {
  Architecture tiny({3, 2, 2});
  CHECK_THROWS_AS(tiny.pool(square(3)), std::logic_error);
}
