// Exit code 77 is what ctest shows as "Skipped" (SKIP_RETURN_CODE): Catch2 v2 has no SKIP().
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "kernels/gpu.hpp"

int main(int argc, char** argv) {
  if (gradcast::gpu_devices().empty()) return 77;
  return Catch::Session().run(argc, argv);
}
