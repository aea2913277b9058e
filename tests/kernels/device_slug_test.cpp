#include "kernels/bench/device_slug.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

TEST_CASE("a device's name becomes a file's: makers and marks go, what is no letter joins",
          "[kernels]") {
  CHECK(device_slug("NVIDIA H200") == "h200");
  CHECK(device_slug("Tesla V100-PCIE-32GB") == "v100-pcie-32gb");
  CHECK(device_slug("Intel(R) Xeon(R) CPU @ 2.20GHz") == "intel-xeon");
  CHECK(device_slug("Intel(R) Xeon(R) Processor") == "intel-xeon");
  CHECK(device_slug("") == "device");
}
