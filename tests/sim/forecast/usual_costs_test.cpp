// The cost table that is used if nobody names one.
#include "sim/forecast/usual_costs.hpp"

#include <catch2/catch.hpp>

#include "sim/forecast/preset.hpp"
#include "sim/plan/plan_summary.hpp"

using namespace gradcast;

namespace {

Request of(const char* model, const char* trace) {
  Request request;
  request.model = model;
  request.trace = trace;
  request.costs.clear();
  return request;
}

Request usual(const Request& request) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return with_usual_costs(request, files);
}

}  // namespace

TEST_CASE("a V100 has today's kernels today, and the paper's by the paper's preset",
          "[usual_costs]") {
  Request v100 = of("resnet-50", "");
  CHECK(usual(v100).costs == kPaperCosts);
  CHECK(usual(v100).costs == Request{}.costs);
  CHECK(usual(v100).costs_device.empty());
  v100.today = true;
  CHECK(usual(v100).costs == kDerivedCosts);
  CHECK(usual(v100).costs_device.empty());  // the simulated GPU is one
  v100.implementation = "torch";
  CHECK(usual(v100).costs == kPaperCosts);
}

TEST_CASE("costs follow the GPU of the trace", "[usual_costs]") {
  const Request h100 = usual(of("gpt2-xl", "iteration-gpt2-xl-h100"));
  CHECK(h100.costs == kDerivedCosts);
  CHECK(h100.costs_device == "h100-sxm");
  CHECK(usual(of("gpt2-xl", "iteration-gpt2-xl-a100")).costs_device == "a100-80gb");
}

TEST_CASE("costs of a GPU that nobody names are not scaled, nor are those of a collective alone",
          "[usual_costs]") {
  Request unnamed = of("transformer-cs336-xl", "iteration-transformer-cs336-xl-128-tokens");
  CHECK(usual(unnamed).costs == kPaperCosts);
  CHECK(usual(unnamed).costs_device.empty());
  unnamed.today = true;
  CHECK(usual(unnamed).costs == kDerivedCosts);
  CHECK(usual(unnamed).costs_device.empty());
  Request alone = of("", "");
  alone.payload = Bytes{1'000'000};
  CHECK(usual(alone).costs == kPaperCosts);
}

// VGG-16 has traces of a V100 and an RTX 3090: an H100 compresses at its own speed all the same, whether the
// trace is scaled to it or to a time that was measured there. So it does for a trace that names no
// GPU.
TEST_CASE("today's costs are those of the cluster's GPU where the trace is of none or another",
          "[usual_costs]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto device = [&](Request request, const char* cluster) {
    request.cluster = cluster;
    request.today = true;
    return with_defaults(request, files).costs_device;
  };
  Request request = of("vgg-16", "");
  CHECK(device(request, "dgx-h100") == "h100-sxm");
  request.compute = Seconds{0.3};
  CHECK(device(request, "dgx-h100") == "h100-sxm");
  CHECK(device(request, "10gbe-4x4").empty());
  CHECK(device(of("bert-base", ""), "aws-p3-16xlarge").empty());  // a V100, with an A100's trace
  const Request unnamed = of("transformer-cs336-xl", "iteration-transformer-cs336-xl-128-tokens");
  CHECK(device(unnamed, "dgx-a100") == "a100-80gb");
  CHECK(device(unnamed, "100gbe").empty());  // whose file names no GPU
}

TEST_CASE("costs follow the GPU that a person names, or whose compute time is given",
          "[usual_costs]") {
  Request traced = of("vgg-16-cifar", "iteration-vgg-16-cifar-p102-100");
  traced.today = true;
  traced.cluster = "dgx-a100";
  CHECK(usual(traced).costs_device == "p102-100");  // the trace says how fast it computes
  Request timed = traced;
  timed.compute = Seconds{0.04};  // of the cluster's GPU: the trace is scaled to it
  CHECK(usual(timed).costs_device == "a100-80gb");
  Request named = traced;
  named.changed.push_back({"gpu", "h100-sxm"});
  CHECK(usual(named).costs_device == "h100-sxm");
  named.cluster = "10gbe-4x4";
  named.changed.back().value = "v100";
  CHECK(usual(named).costs_device.empty());  // the tables are of one
}

TEST_CASE("a trace that is missing is the forecast's to refuse", "[usual_costs]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const Request missing = with_usual_costs(of("gpt2-xl", "iteration-gpt2-xl-h1"), files);
  CHECK(missing.costs == kPaperCosts);
  CHECK_THROWS_WITH(make_scenario(missing, files), Catch::Contains("iteration-gpt2-xl-h1"));
}

TEST_CASE("a choice of costs is kept", "[usual_costs]") {
  Request named = of("gpt2-xl", "iteration-gpt2-xl-h100");
  named.costs = "cost-v100-floor";
  CHECK(usual(named) == named);
  Request elsewhere = of("gpt2-xl", "iteration-gpt2-xl-h100");
  elsewhere.costs_device = "h200";
  CHECK(usual(elsewhere).costs_device == "h200");
  // Choices that only the paper's table has.
  for (const bool paper : {false, true}) {
    Request torch = of("gpt2-xl", "iteration-gpt2-xl-h100");
    (paper ? torch.mode : torch.implementation) = paper ? "paper" : "torch";
    CHECK(usual(torch).costs == kPaperCosts);
    CHECK(usual(torch).costs_device == "h100-sxm");
  }
}

// NCCL 2.10.3 came with PyTorch 1.10, 1.11 and 1.12, 2.14.3 with 1.13. Gaussian-k calls neither
// torch.topk nor randperm.
TEST_CASE("torch is a PyTorch of today, unless NCCL's version says that it is older",
          "[usual_costs]") {
  Request asked = of("resnet-50", "");
  asked.today = true;
  asked.implementation = "torch";
  asked.compressor = "topk";
  CHECK(usual(asked).costs == kTorchCosts);
  CHECK(usual(asked).costs_device == "v100");  // the trace's
  for (const char* nccl : {"2.14.3", "2.27.5", "torch-1.12", "torch-2.10"}) {
    asked.nccl = nccl;
    CHECK(usual(asked).costs == kTorchCosts);
  }
  for (const char* nccl : {"2.8.4", "2.10.3", "torch-1.9", "torch-1.11"}) {
    asked.nccl = nccl;
    CHECK(usual(asked).costs == kPaperCosts);
  }
  asked.nccl = "";
  Request defined = asked;  // the paper's definitions are PyTorch's operators too
  defined.implementation = "";
  defined.compressor = "dgc";
  defined.mode = "paper";
  CHECK(usual(defined).costs == kTorchCosts);
  asked.compressor = "gaussian";
  CHECK(usual(asked).costs == kPaperCosts);
  asked.compressor = "randk";
  CHECK(usual(asked).costs == kTorchCosts);
  asked.today = false;
  CHECK(usual(asked).costs == kPaperCosts);
}

// fp16 reads 4 and writes 2 bytes of each of 1,557,611,200 gradients: 9.35 GB at 41 % of 870.4 GB/s
// on the simulated V100, where its arithmetic takes longer than its bytes, and 3350 / 900 times as
// fast on an H100: 7.05 ms. PowerSGD moves 16 bytes an element (P and Q are less than 0.1 % of
// that): 24.9 GB at 70 % in 10.98 ms.
TEST_CASE("GPT-2 XL on H100 has costs of PowerSGD and fp16 without a flag", "[usual_costs]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request = of("gpt2-xl", "iteration-gpt2-xl-h100");
  request.cluster = "dgx-h100";
  const auto planned = [&](const char* compressor) {
    request.compressor = compressor;
    return make_plan(make_scenario(with_usual_costs(request, files), files));
  };
  const Plan fp16 = planned("fp16");
  REQUIRE(fp16.buckets.size() == 1);
  CHECK(fp16.buckets[0].cost.encode.count() == Approx(7.05e-3).epsilon(0.005));
  const PlannedBucket powersgd = planned("powersgd").buckets[0];
  CHECK((powersgd.first_encode + powersgd.cost.encode).count() == Approx(10.98e-3).epsilon(0.01));
  CHECK(evidence_of(fp16) == "derived");
  // e^sqrt(ln(1.5)^2 + ln(2.256)^2) = e^0.909 = 2.48
  CHECK(cost_factors_of(fp16).high == Approx(2.48).epsilon(0.002));
  CHECK(cost_factors_of(fp16).low == Approx(0.41).epsilon(0.01));
}

TEST_CASE("scaled costs say whose they are", "[usual_costs]") {
  CHECK(scaled_costs_words(kDerivedCosts, "h100-sxm") ==
        "derived for h100-sxm from the simulated V100: not measured");
  CHECK(scaled_costs_words(kDerivedCosts, "") == "derived from the simulated V100: not measured");
  CHECK(scaled_costs_words("mine", "h200") == "scaled to h200 from mine: not measured there");
  CHECK(scaled_costs_words(kPaperCosts, "").empty());
}
