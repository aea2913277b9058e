// A build without CUDA has no GPU to time.
#include "kernels/bench/bench.hpp"

namespace gradcast {

std::unique_ptr<Bench> make_gpu_bench(int /*device*/) { return nullptr; }

}  // namespace gradcast
