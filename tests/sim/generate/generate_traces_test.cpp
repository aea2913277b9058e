#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/generate/networks.hpp"
#include "sim/generate/profile.hpp"
#include "sim/generate/published_gpu.hpp"
#include "sim/inputs/iteration_trace.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::filesystem::path kRoot = GRADCAST_SOURCE_DIR;

IterationTrace trace(const std::string& model, const std::string& device = "v100") {
  const std::string path = "traces/iteration-" + model + "-" + device + ".csv";
  for (const GeneratedFile& file : iteration_trace_files(kRoot))
    if (file.path == path) return load_iteration_trace(TextFile{file.path, file.content});
  throw std::logic_error("no trace of '" + model + "'");
}

Seconds backward_of(const IterationTrace& trace, const std::string& tensor) {
  for (const TensorTime& time : trace.tensors)
    if (time.tensor == tensor) return time.backward;
  throw std::logic_error("no tensor '" + tensor + "'");
}

/// A convolution and a dense layer: 3 x 3 x 1 x 2 weights and 2 biases; 2 x 2 x 2 x 5 and 5.
Architecture small() {
  Architecture net({1, 4, 4});
  net.convolution("c", 2, square(3), true);
  net.relu();
  net.linear("l", 5);
  return net;
}

std::vector<ComputeTime> matched(const std::string& rows) {
  return match_profile(
      small(),
      TextFile{"profile.csv", "operator,parameters,forward_seconds,backward_seconds\n" + rows});
}

}  // namespace

// Table 2, ResNet-50: 0.699 x 65.8 %, 0.810 x 56.8 %, 0.655 x 70.2 %, 0.586 x 78.5 %: 0.4599,
// 0.4601, 0.4598, 0.4600; their mean is 0.4600.
TEST_CASE("a trace adds up to what one GPU took in Table 2", "[generate]") {
  CHECK(trace("resnet-50").iteration().count() == Approx(0.4600).margin(1e-7));
  CHECK(trace("alexnet").iteration().count() == Approx(0.0804).margin(1e-7));
  CHECK(trace("vgg-16").iteration().count() == Approx(1.1207).margin(1e-7));
  CHECK(trace("inception-v4").iteration().count() == Approx(0.6899).margin(1e-7));
}

// 604 tensors are written to the nanosecond, forward and backward: 1e-6 s is more than their
// rounding.
TEST_CASE("a trace adds up to the computation of MG-WFBP's plotting scripts", "[generate]") {
  CHECK(trace("resnet-152").iteration().count() == Approx(0.883118444).margin(1e-6));
  CHECK(trace("densenet-161").iteration().count() == Approx(0.47765481).margin(1e-6));
  CHECK(trace("densenet-201").iteration().count() == Approx(0.360877356).margin(1e-6));
  CHECK(trace("resnet-152").batch == 128);
  CHECK(trace("densenet-161").batch == 64);
}

// At the peak rate a product takes what its multiply-accumulates do: DenseNet-201's last layer has
// 1920 x 1000 an image, twice in backward, its first convolution 64 x 3 x 7 x 7 for each of 112 x
// 112 places, once in backward, since no gradient of the image is needed: 3.84 M to 118.0 M.
TEST_CASE("shares of the DenseNets are the roofline's", "[generate]") {
  const IterationTrace densenet = trace("densenet-201");
  const double first = 112.0 * 112 * 64 * 3 * 7 * 7;
  CHECK(backward_of(densenet, "classifier.bias") / backward_of(densenet, "features.conv0.weight") ==
        Approx(2 * 1920 * 1000 / first).epsilon(1e-4));
}

// In the profile, VGG-16's first dense layer (with the ReLU and dropout behind it) has 4.605 ms of
// 438.6 ms backward: 1.05 %.
TEST_CASE("shares are the profile's", "[generate]") {
  const IterationTrace vgg = trace("vgg-16");
  CHECK(backward_of(vgg, "classifier.0.bias") / vgg.backward() == Approx(0.0105).epsilon(0.01));
}

TEST_CASE("no gradient is ready before its layer's backward is done", "[generate]") {
  const IterationTrace resnet = trace("resnet-50");
  // Backward comes to the bias first: it carries the time, and the weight is ready with it.
  CHECK(backward_of(resnet, "fc.bias") > Seconds{0});
  CHECK(backward_of(resnet, "fc.weight") == Seconds{0});
  CHECK(backward_of(resnet, "conv1.weight") > Seconds{0});  // alone in its layer
}

// AlexNet's four elementwise operators move 44 bytes for each of 61,100,840 elements: 3.51 ms at
// 765 GB/s. Only the biases and the first weight among its 16 tensors are so small that launches
// take longer.
TEST_CASE("the update is the optimizer's traffic", "[generate]") {
  CHECK(trace("alexnet").update.count() == Approx(44.0 * 61'100'840 / 765e9).epsilon(0.03));
}

TEST_CASE("a profile of the same operators is taken in order", "[generate]") {
  const auto times = matched("conv,20,0.1,0.2\nfc,45,0.3,0.4\n");
  REQUIRE(times.size() == 2);
  CHECK(times[1].forward == Seconds{0.3});
  CHECK(times[1].backward == Seconds{0.4});
}

TEST_CASE("a profile of another network is refused, and both are named", "[generate]") {
  CHECK_THROWS_WITH(matched("conv,20,0.1,0.2\nfc,44,0.3,0.4\n"),
                    Contains("'fc' has 44 parameters, layer 'l' in its place 45"));
  CHECK_THROWS_WITH(matched("conv,20,0.1,0.2\n"), Contains("ends before layer 'l'"));
  CHECK_THROWS_WITH(matched("conv,20,0.1,0.2\nfc,45,0.3,0.4\nmore,1,0,0\n"),
                    Contains("goes on after the last layer with 'more'"));
}

// Forward reads its input twice and writes; backward reads input and gradient twice and writes: 3
// and 5 passes of 4 x 128 x 64 x 56 x 56 bytes at 765 GB/s.
TEST_CASE("batch normalisation takes three passes forward and five backward", "[generate]") {
  Architecture net({64, 56, 56});
  net.batch_norm("b");
  const double pass = 4.0 * 128 * 56 * 56 * 64 / 765e9;
  CHECK(roofline(net.operators()[0], 128, false, peaks_of(kV100)).forward.count() ==
        Approx(3 * pass));
  CHECK(roofline(net.operators()[0], 128, false, peaks_of(kV100)).backward.count() ==
        Approx(5 * pass));
}

// 1 x 1, 64 to 256 channels of 56 x 56, batch 128: 51.4 M multiply-accumulates an image, 13.15
// GFLOP, 0.94 ms at 14 TFLOP/s. Traffic: 128 x 56 x 56 x (64 + 256) x 4 bytes = 514 MB, 0.67 ms:
// less.
TEST_CASE("a roofline takes the slower of arithmetic and memory", "[generate]") {
  Architecture net({64, 56, 56});
  net.convolution("c", 256, square(1), false);
  net.relu();
  const double product = 2.0 * 128 * 56 * 56 * 64 * 256 / 14e12;
  const ComputeTime convolution = roofline(net.operators()[0], 128, false, peaks_of(kV100));
  CHECK(convolution.forward.count() == Approx(product));
  CHECK(convolution.backward.count() == Approx(2 * product));
  CHECK(roofline(net.operators()[0], 128, true, peaks_of(kV100)).backward.count() ==
        Approx(product));

  // ReLU: 411 MB an activation, read and written: 822 MB at 765 GB/s; backward a third pass.
  const double pass = 4.0 * 128 * 56 * 56 * 256 / 765e9;
  CHECK(roofline(net.operators()[1], 128, false, peaks_of(kV100)).forward.count() ==
        Approx(2 * pass));
  CHECK(roofline(net.operators()[1], 128, false, peaks_of(kV100)).backward.count() ==
        Approx(3 * pass));
}

// 128 images at 1317.333 and 920.632 images/s, 64 sequences at 392.
TEST_CASE("traces of a P102-100 add up to gTop-k's runs on one of them", "[generate]") {
  CHECK(trace("vgg-16-cifar", "p102-100").iteration().count() ==
        Approx(128 / 1317.333).margin(1e-6));
  CHECK(trace("resnet-20", "p102-100").iteration().count() == Approx(128 / 920.632).margin(1e-6));
  CHECK(trace("lstm-ptb", "p102-100").iteration().count() == Approx(64 / 392.0).margin(1e-6));
  CHECK(trace("lstm-ptb", "p102-100").batch == 64);
  CHECK(trace("lstm-ptb", "p102-100").device == "P102-100");
  CHECK_THROWS_AS(trace("alexnet", "p102-100"), std::logic_error);  // its V100's shares serve
}

// Two steps of one sample, 1000 inputs and 1000 outputs: 2 x 2 x 4000 x 2000 FLOP are 2.3 us at 14
// TFLOP/s. Memory takes longer: 8,008,000 parameters, the 4,000,000 on its own output once more,
// and 2000 in and 2000 out, of 4 bytes, at 765 GB/s: 62.8 us.
TEST_CASE("an LSTM reads the weights on its own output at every step", "[generate]") {
  Architecture net({1000, 1, 2});
  net.lstm("rnn", 0, 1000);
  const double bytes = 4.0 * (8'008'000 + 4'000'000 + 2000 + 2000);
  CHECK(roofline(net.operators()[0], 1, false, peaks_of(kV100)).forward.count() ==
        Approx(bytes / 765e9));
  CHECK(roofline(net.operators()[0], 1, false, peaks_of(kV100)).backward.count() ==
        Approx(2 * bytes / 765e9));
}

// Three words of 10 values, of a table of 100 rows: 30 read and 30 written; backward fills 1000
// with zeros, then reads 30 and adds them to 30.
TEST_CASE("an embedding copies rows, and clears a gradient of the whole table", "[generate]") {
  Architecture net({1, 1, 3});
  net.embedding("e", 100, 10);
  const ComputeTime time = roofline(net.operators()[0], 1, true, peaks_of(kV100));
  CHECK(time.forward.count() == Approx(4.0 * 60 / 765e9));
  CHECK(time.backward.count() == Approx(4.0 * (1000 + 90) / 765e9));
  CHECK(net.here().shape.channels == 10);
}
