#include "sim/generate/assumed_mfu.hpp"

namespace gradcast {
namespace {

// KellerJordan/modded-nanogpt@0006a9c, README.md: llm.c trained GPT-2 (124M) on 10 G tokens, on 8
// A100 in 90 minutes, on 8 H100 in 45: 231,481 and 462,963 tokens/s a GPU. A token has 3 x 284.9
// MFLOP: 197.9 and 395.7 TFLOP/s.
constexpr std::string_view kLlmC =
    "llm.c trained this model on 10 G tokens on 8 A100 in 90 minutes, on 8 H100 in 45:\n"
    "  KellerJordan/modded-nanogpt@0006a9c, README.md; from that by arithmetic (derived)";

// mosaicml/llm-foundry@061f2c7, scripts/train/benchmarking/README.md, bf16, 8 GPUs, sharded.
constexpr std::string_view kMosaic350m =
    "MPT of 350m, 1024 tokens, on 8 A100 80GB (published):\n"
    "  mosaicml/llm-foundry@061f2c7, scripts/train/benchmarking/README.md";
constexpr std::string_view kMosaic350mH100 =
    "that of an MPT of 760m, 1024 tokens, on 8 H100 (published; of 350m there is none in bf16):\n"
    "  mosaicml/llm-foundry@061f2c7, scripts/train/benchmarking/README.md";
constexpr std::string_view kMosaic760m =
    "MPT of 760m, 1024 tokens, on 8 GPUs (published):\n"
    "  mosaicml/llm-foundry@061f2c7, scripts/train/benchmarking/README.md";
constexpr std::string_view kMosaic1b =
    "MPT of 1b, 1024 tokens, on 8 GPUs (published):\n"
    "  mosaicml/llm-foundry@061f2c7, scripts/train/benchmarking/README.md";
constexpr std::string_view kMosaic7b =
    "MPT of 7b, 4096 tokens, on 8 GPUs, which compute activations twice (published):\n"
    "  mosaicml/llm-foundry@061f2c7, scripts/train/benchmarking/README.md";

constexpr std::string_view kTorchtitanA100 =
    "this model on 64 A100 80GB, sharded, some activations computed twice (published):\n"
    "  pytorch/torchtitan@0413364, docs/performance.md";

// 6,667 tokens/s a GPU. A token has 3 x 19.30 GFLOP: 386 TFLOP/s.
constexpr std::string_view kTorchtitanH100 =
    "this model on 8 H100 at 500 W, sharded, compiled, some activations computed twice "
    "(published):\n"
    "  pytorch/torchtitan@31a17bf, benchmarks/llama3_h100_202412_torchtitan.md";

// Fine-tuning for SQuAD, 384 tokens, fp16, one GPU: 443 and 812 sequences/s of BERT-base, 152 and
// 301 of BERT-large. A sequence has, without heads, 3 x (2 x 384 x 84.93 M weights + 12 x 4 x 768 x
// 384^2) = 212 GFLOP and 3 x (2 x 384 x 301.99 M + 24 x 4 x 1024 x 384^2) = 739 GFLOP: 93.9, 172.2,
// 112.4 and 222.5 TFLOP/s.
constexpr std::string_view kLambdaBert =
    "fine-tuning this model on 384 tokens, fp16, on one GPU: 443 and 812 (base), 152 and 301 "
    "(large)\n"
    "  sequences/s on A100 80GB SXM4 and H100 80GB SXM5: lambdal/deeplearning-benchmark@0551cb7,\n"
    "  pytorch/pytorch-train-throughput-fp16.csv; from that by arithmetic (derived)";

// 693 and 1428 images/s of ViT g/14 on 8 GPUs. An image has 264 tokens (NeMo's), 40 blocks of 25.23
// M weights, attention 40 x 4 x 1408 x 264^2: 3 x 548.5 GFLOP: 142.5 and 293.7 TFLOP/s a GPU.
constexpr std::string_view kNemoVit =
    "that of ViT g/14, 693 and 1428 images/s on 8 A100 80GB and 8 H100: NVIDIA's NeMo user guide,\n"
    "  Vision Transformer, Performance; from that by arithmetic (derived), and assumed for this "
    "model";

constexpr std::string_view kGptNeo =
    "that of GPT-2 (124M), assumed for this model: llm.c trained it on 10 G tokens on 8 A100 in\n"
    "  90 minutes, on 8 H100 in 45: KellerJordan/modded-nanogpt@0006a9c, README.md; from that by\n"
    "  arithmetic (derived)";

constexpr std::string_view kA100 = "a100-80gb";
constexpr std::string_view kH100 = "h100-sxm";

}  // namespace

const std::vector<AssumedMfu>& assumed_mfus() {
  static const std::vector<AssumedMfu> all{
      {"gpt2-small", kA100, 64, 63.4, kLlmC},
      {"gpt2-small", kH100, 64, 40.0, kLlmC},
      {"gpt2-medium", kA100, 64, 50.51, kMosaic350m},
      {"gpt2-medium", kH100, 64, 39.76, kMosaic350mH100},
      {"gpt2-large", kA100, 48, 47.76, kMosaic760m},
      {"gpt2-large", kH100, 48, 39.76, kMosaic760m},
      {"gpt2-xl", kA100, 18, 60.15, kMosaic1b},
      {"gpt2-xl", kH100, 18, 41.95, kMosaic1b},
      {"bert-base", kA100, 64, 30.1, kLambdaBert},
      {"bert-base", kH100, 64, 17.4, kLambdaBert},
      {"bert-large", kA100, 32, 36.0, kLambdaBert},
      {"bert-large", kH100, 32, 22.5, kLambdaBert},
      {"llama-2-7b", kA100, 2, 54.84, kMosaic7b},
      {"llama-2-7b", kH100, 2, 40.42, kMosaic7b},
      {"llama-3-8b", kA100, 1, 58.2, kTorchtitanA100},
      {"llama-3-8b", kH100, 2, 39.0, kTorchtitanH100},
      {"vit-b-16", kA100, 512, 45.7, kNemoVit},
      {"vit-b-16", kH100, 512, 29.7, kNemoVit},
      {"vit-l-16", kA100, 256, 45.7, kNemoVit},
      {"vit-l-16", kH100, 256, 29.7, kNemoVit},
      {"gpt-neo-125m", kA100, 64, 63.4, kGptNeo},
      {"gpt-neo-125m", kH100, 64, 40.0, kGptNeo},
  };
  return all;
}

// huggingface/pytorch-image-models@5e7d47c, results/benchmark-train-amp-nhwc-pt112-cu113-rtx3090
// and -nchw-: columns train_batch_size and train_step_time. SGD, synthetic images of 224 x 224 (299
// of inception-v4), PyTorch 1.12.
const std::vector<TimedSteps>& timed_steps() {
  constexpr std::string_view kRtx3090 = "rtx-3090";
  static const std::vector<TimedSteps> all{
      {"resnet-50", kRtx3090, 512, 0.419528, 0.618983, 128},
      {"resnet-101", kRtx3090, 256, 0.340740, 0.448321, 128},
      {"resnet-152", kRtx3090, 192, 0.380547, 0.516516, 64},
      {"wide-resnet-101-2", kRtx3090, 192, 0.533868, 0.661356, 64},
      {"resnext-50-32x4d", kRtx3090, 384, 0.382776, 0.577966, 128},
      {"resnext-101-32x8d", kRtx3090, 128, 0.407622, 0.461854, 64},
      {"densenet-161", kRtx3090, 128, 0.318189, 0.367416, 64},
      {"densenet-201", kRtx3090, 192, 0.338221, 0.425987, 64},
      {"inception-v4", kRtx3090, 192, 0.471399, 0.603734, 64},
      {"vgg-16", kRtx3090, 384, 0.702994, 0.824954, 128},
      {"vit-b-16", kRtx3090, 192, 0.487729, 0.490391, 128},
      {"vit-l-16", kRtx3090, 64, 0.544512, 0.544981, 64},
  };
  return all;
}

}  // namespace gradcast
