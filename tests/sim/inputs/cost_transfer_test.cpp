#include "sim/inputs/cost_transfer.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

CostRow row(std::int64_t elements, double encode, double decode = 0) {
  CostRow row;
  row.compressor = "topk";
  row.implementation = "torch";
  row.elements = elements;
  row.density = 0.001;
  row.distribution = "normal";
  row.encode = row.encode_p95 = Seconds{encode};
  row.decode = row.decode_p95 = Seconds{decode};
  row.evidence = "published";
  return row;
}

Device device(const char* name, double bandwidth, double launch) {
  return {name, BytesPerSecond{bandwidth}, Seconds{launch}, "a toy"};
}

std::vector<Device> committed() {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return load_devices(files.read(kDevices, "devices"));
}

/// Seconds of torch.topk by a fit in n log2 n.
double fit(double per_comparison, double n) { return per_comparison * n * std::log2(n); }

/// The authors' fits.
constexpr double kP102Fit = 2.18896957e-10;
constexpr double kV100Fit = 4.99671953e-10;

/// Their timings on a P102-100.
struct Timed {
  std::int64_t elements;
  double seconds;
};
constexpr Timed kTimed[] = {{14'728'266, 0.091353}, {25'557'032, 0.15405}, {61'100'840, 0.383776}};

}  // namespace

TEST_CASE("a CPU is known by its name, also as /proc/cpuinfo has it", "[costs]") {
  for (const char* cpu : {"CPU", "cpu of a laptop", "Intel(R) Xeon(R) Processor", "AMD EPYC 7763"})
    CHECK(is_cpu(cpu));
  for (const char* gpu :
       {"V100-PCIE-32GB", "NVIDIA H100 beside an AMD EPYC", "AMD Instinct MI250X"})
    CHECK_FALSE(is_cpu(gpu));
}

// Twice the launch, four times the bandwidth. The floor of 1 s in 1, 5 and 9 s becomes 2; the rest
// above it, 0, 4 and 8, becomes 0, 1 and 2.
TEST_CASE("the floor goes with launches, what is above it with bandwidth", "[cost_transfer]") {
  const CostTable table{"costs", {row(10, 1, 10), row(100, 5, 10), row(1000, 9, 10)}};
  const CostTable scaled = scaled_to(table, device("a", 100, 3), device("b", 400, 6));
  CHECK(scaled.rows[0].encode.count() == Approx(2));
  CHECK(scaled.rows[1].encode.count() == Approx(3));
  CHECK(scaled.rows[2].encode.count() == Approx(4));
  CHECK(scaled.rows[2].encode_p95.count() == Approx(4));
  CHECK(scaled.rows[2].decode.count() == Approx(20));  // nothing but a floor
  CHECK(scaled.rows[0].evidence == "derived");
  CHECK(scaled.device == "b, scaled from a");
}

// Four times the bandwidth and twice the multiprocessors: kernels that memory does not bound take
// 1/2 of the time instead of 1/4, twice as long. A table that says 1.5 by itself has then
// e^sqrt(ln(1.5)^2 + ln(2)^2) = e^0.803 = 2.23.
TEST_CASE("scaled costs may be as dear as multiprocessors alone make them", "[cost_transfer]") {
  Device from = device("a", 100, 3);
  Device to = device("b", 400, 3);
  from.sms = 80;
  to.sms = 160;
  CostTable table{"costs", {row(10, 1), row(100, 5)}};
  CHECK(scaled_to(table, from, to).rows[0].factors.high == Approx(2));
  table.rows[0].factors = {0.7, 1.5};
  const CostFactors both = scaled_to(table, from, to).rows[0].factors;
  CHECK(both.high == Approx(2.232).epsilon(1e-3));
  CHECK(both.low == 0.7);
  // If their number is not known, nothing says that they are faster at all.
  to.sms = 0;
  CHECK(scaled_to(table, from, to).rows[1].factors.high == Approx(4));
  CHECK(scaled_to(table, from, from).rows[0].factors == table.rows[0].factors);
}

// 80 of a V100 against 132 of an H100, and 900 GB/s against 3350: 0.606 / 0.269 = 2.26.
TEST_CASE("the committed devices have multiprocessors, each of them", "[cost_transfer]") {
  const std::vector<Device> devices = committed();
  for (const Device& each : devices) {
    CAPTURE(each.name);
    CHECK(each.sms >= 25);
  }
  const CostTable table{"costs", {row(10'000'000'000, 1)}};  // which are read in 44 ms
  CHECK(scaled_to(table, device_named(devices, "v100"), device_named(devices, "h100-sxm"))
            .rows[0]
            .factors.high == Approx(2.256).epsilon(1e-3));
}

TEST_CASE("a GPU is known by the name that its driver prints", "[cost_transfer]") {
  const std::vector<Device> devices = committed();
  const std::pair<const char*, const char*> names[] = {{"NVIDIA H100 80GB HBM3", "h100-sxm"},
                                                       {"NVIDIA H100 PCIe", "h100-pcie"},
                                                       {"NVIDIA A100-SXM4-80GB", "a100-80gb"},
                                                       {"NVIDIA A100-SXM4-40GB", "a100-40gb"},
                                                       {"NVIDIA A100-PCIE-40GB", "a100-40gb"},
                                                       {"NVIDIA A100 80GB PCIe", "a100-80gb-pcie"},
                                                       {"NVIDIA GeForce RTX 2080 Ti", "rtx-2080ti"},
                                                       {"NVIDIA A10G", "a10"},
                                                       {"Tesla V100-SXM2-16GB", "v100"}};
  for (const auto& [printed, name] : names) {
    CAPTURE(printed);
    const Device* meant = device_meant(devices, printed);
    REQUIRE(meant != nullptr);
    CHECK(meant->name == name);
  }
  CHECK(device_meant(devices, "unnamed") == nullptr);
}

// Rank 1 takes 1 and 5 s, rank 4 takes 3 and 11: floors of 1 and 3, which become 2 and 6. Above
// them 4 and 8 become 1 and 2.
TEST_CASE("each parameter has a floor of its own", "[cost_transfer]") {
  CostTable table{"costs", {row(10, 1), row(100, 5), row(10, 3), row(100, 11)}};
  for (std::size_t i = 0; i < 4; ++i) table.rows[i].parameter = i < 2 ? 1 : 4;
  const CostTable scaled = scaled_to(table, device("a", 100, 3), device("b", 400, 6));
  CHECK(scaled.rows[1].encode.count() == Approx(2 + 1));
  CHECK(scaled.rows[2].encode.count() == Approx(6));
  CHECK(scaled.rows[3].encode.count() == Approx(6 + 2));
}

TEST_CASE("from a device to itself nothing changes but the evidence", "[cost_transfer]") {
  const CostTable table{"costs", {row(10, 1, 3), row(100, 5, 4)}};
  const CostTable same = scaled_to(table, device("a", 100, 3), device("a", 100, 3));
  CHECK(same.rows[1].encode == table.rows[1].encode);
  CHECK(same.rows[1].decode == table.rows[1].decode);
}

// A row of several tensors takes as many launches as one tensor: its floor is theirs, 1 s. Alone,
// nothing tells it, and 9 s become 9/4.
TEST_CASE("a line of one size has no floor to tell, rows of several tensors have that of one",
          "[cost_transfer]") {
  CostRow model = row(1000, 9);
  model.tensors = 161;
  const Device from = device("a", 100, 3);
  const Device to = device("b", 400, 3);
  CHECK(scaled_to({"costs", {row(10, 1), model}}, from, to).rows[1].encode.count() == Approx(3));
  CHECK(scaled_to({"costs", {model}}, from, to).rows[0].encode.count() == Approx(2.25));
}

// Both are known of torch.topk in PyTorch up to 1.1: P102-100 (440 GB/s) and V100 (900 GB/s). By
// bandwidth the V100 would take 440/900 = 0.49 times as long; it took 1.9 to 2.1 times. Reading
// 25.6 M elements takes a P102-100 0.23 ms, and topk 154 ms: one block's work, which stays as long.
TEST_CASE("torch.topk takes as long on another GPU, and was off by a factor of two",
          "[cost_transfer]") {
  const std::vector<Device> devices = committed();
  CostTable table{"topk", {row(1, 0)}};  // launches are nothing beside it
  for (const Timed& timed : kTimed) table.rows.push_back(row(timed.elements, timed.seconds));
  const CostTable scaled =
      scaled_to(table, device_named(devices, "p102-100"), device_named(devices, "v100"));
  const double factors[] = {1.917, 2.041, 2.059};
  for (std::size_t i = 0; i < std::size(kTimed); ++i) {
    const double n = static_cast<double>(kTimed[i].elements);
    CAPTURE(n);
    CHECK(scaled.rows[i + 1].encode.count() == Approx(kTimed[i].seconds));
    const double off = fit(kV100Fit, n) / scaled.rows[i + 1].encode.count();
    CHECK(off == Approx(factors[i]).epsilon(2e-3));
    CHECK(off < scaled.rows[i + 1].factors.high);
    CHECK(scaled.rows[i + 1].factors.low == Approx(1 / 2.1));
    // The fits themselves: the V100's is 2.28 times the other.
    CHECK(fit(kV100Fit, n) / fit(kP102Fit, n) == Approx(2.283).epsilon(1e-3));
  }
}

// torch.topk of PyTorch 2.6 on an H20 (pytorch/pytorch#164459): 0.135 ms of 1 M, 3.56 of 100
// M, 36.6 of 1 G. A straight line through the first two is 0.135 + 999 x 3.425/99 = 34.7 ms at the
// third.
TEST_CASE("a modern torch.topk goes on beyond its table to 5 %", "[cost_transfer]") {
  const CostTable table{"h20", {row(1'000'000, 0.135e-3), row(100'000'000, 3.56e-3)}};
  const double beyond =
      table.estimate({.compressor = "topk", .elements = 1'000'000'000, .density = 0.001})
          .encode.count();
  CHECK(beyond == Approx(34.7e-3).epsilon(0.01));
  CHECK(beyond / 36.6e-3 == Approx(0.948).epsilon(0.01));
}

// Reading 100 M elements takes an H20 0.1 ms, and topk 3.56. DGC's sampling reads memory, its topk
// does not, and which prevails goes by the density: all of its lines are scaled.
TEST_CASE("what memory explains is scaled, whatever the density", "[cost_transfer]") {
  const std::vector<Device> devices = committed();
  const Device& v100 = device_named(devices, "v100");
  const CostTable modern{"v100", {row(1'000'000, 0.135e-3), row(100'000'000, 3.56e-3)}};
  CHECK_FALSE(stays_as_it_is(modern, v100, "topk", "torch"));
  DataFiles files(GRADCAST_SOURCE_DIR);
  const CostTable old = load_cost_table(files.read(kCostTables, "cost-v100-pytorch-1.1"));
  for (const char* compressor : {"topk", "rtopk"})
    CHECK(stays_as_it_is(old, v100, compressor, "torch"));
  for (const char* compressor : {"dgc", "trimmed", "gaussian", "randk", "fp16"})
    CHECK_FALSE(stays_as_it_is(old, v100, compressor, "torch"));
}

TEST_CASE("a table's device is what it says, what its name says, or what is named",
          "[cost_transfer]") {
  const std::vector<Device> devices = committed();
  CHECK(device_of({"traces/cost-v100-pytorch-1.1.csv", {}}, "", devices).name == "v100");
  CHECK(device_of({"mine.csv", {}, "NVIDIA H200"}, "", devices).name == "h200");
  CHECK(device_of({"mine.csv", {}, "Tesla V100-PCIE-32GB"}, "", devices).name == "v100");
  CHECK(device_of({"mine.csv", {}, "NVIDIA H200"}, "p100", devices).name == "p100");
  CHECK_THROWS_WITH(device_of({"mine.csv", {}}, "", devices),
                    Contains("'mine' of mine.csv is none of traces/devices.csv: --costs-of"));
  CHECK_THROWS_WITH(device_named(devices, "h2000"), Contains("did you mean 'h200'?"));
  CHECK(device_meant(devices, "a100-80gb-pcie")->name == "a100-80gb-pcie");
  CHECK(device_meant(devices, "h2000") == nullptr);
}

TEST_CASE("a devices file that is wrong is named with its line", "[cost_transfer]") {
  const auto refused = [](const std::string& rows, const char* why) {
    CHECK_THROWS_WITH(
        load_devices({"devices.csv", "device,memory_bandwidth,launch,source\n" + rows}),
        Contains("devices.csv") && Contains(why));
  };
  refused("a,900,1us,x\n", "'900' has no unit");
  refused("a,900GBps,0,x\n", "more than 0 s");
  refused("a,900GBps,1us,\n", "column 'source': is empty");
  refused("a,900GBps,1us,x\na,900GBps,1us,x\n", "devices.csv:3: column 'device': 'a' stands twice");
  refused("", "has no device");
  CHECK_THROWS_WITH(
      load_devices({"devices.csv", "device,memory_bandwidth,launch,source,sms\na,9GBps,1us,x,0\n"}),
      Contains("devices.csv:2: column 'sms'"));
  CHECK_THROWS_WITH(load_devices({"devices.csv",
                                  "device,memory_bandwidth,launch,source,bf16\na,9GBps,1us,x,7\n"}),
                    Contains("devices.csv:2: column 'bf16': '7' has no unit"));
}

// 80 SMs x 1024 FLOP a cycle x 1.53 GHz = 125 TFLOPS; 108 SMs x 2048 x 1.41 GHz = 312; 528 tensor
// cores x 1024 x 1.83 GHz = 989.4; TF32 has half of that.
TEST_CASE("a device has a dense peak for each type of numbers, or none", "[cost_transfer]") {
  const std::vector<Device> devices = committed();
  const auto peak = [&](const char* device, NumberType type) {
    return device_named(devices, device).peak(type);
  };
  CHECK(peak("v100", NumberType::Fp16)->value == Approx(80 * 1024 * 1.53e9).epsilon(0.01));
  CHECK_FALSE(peak("v100", NumberType::Bf16));
  CHECK(peak("a100-40gb", NumberType::Bf16)->value == Approx(108 * 2048 * 1.41e9).epsilon(0.01));
  CHECK(peak("h100-sxm", NumberType::Bf16)->value == Approx(528 * 1024 * 1.83e9).epsilon(0.001));
  CHECK(peak("h100-sxm", NumberType::Tf32)->value == Approx(528 * 512 * 1.83e9).epsilon(0.001));
  CHECK_FALSE(peak("gp100", NumberType::Fp32));
}
