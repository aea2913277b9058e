#include "kernels/gpu.hpp"

#include <catch2/catch.hpp>

TEST_CASE("a device that is there has a name, multiprocessors and memory", "[gpu]") {
  for (const gradcast::GpuDevice& device : gradcast::gpu_devices()) {
    CHECK_FALSE(device.name.empty());
    CHECK(device.multiprocessors > 0);
    CHECK(device.memory_bytes > 1e9);
  }
}
