#include "sim/import/kineto/elementwise.hpp"

namespace gradcast::kineto {
namespace {

constexpr std::int64_t kElementsOfThread = 4;

}  // namespace

std::int64_t elementwise_elements(std::string_view kernel, std::int64_t blocks,
                                  std::int64_t threads) {
  if (blocks <= 0 || threads <= 0 || threads > 1024) return -1;
  // Others than these divide their work in ways of their own.
  const bool known = kernel.find("vectorized_elementwise_kernel") != std::string_view::npos ||
                     kernel.find("unrolled_elementwise_kernel") != std::string_view::npos;
  // 64 threads until PyTorch 1.8, 128 since.
  if (!known || (threads != 64 && threads != 128)) return -1;
  return blocks * threads * kElementsOfThread;
}

}  // namespace gradcast::kineto
