// What PyTorch's child says: one JSON object a line.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>

#include "kernels/bench/bench.hpp"

namespace gradcast {

/// The child could not answer this one question: it lacks the compressor, or is out of memory.
struct TorchRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Its first line, which describes it: "2.11.0, CUDA 13.0, NVIDIA H200". Throws ValueError with the
/// child's own words where it says why it cannot begin, and for a line that is none of its.
std::string read_torch_hello(const std::string& line);

/// The answer to a question with so many numbers of workers. `bytes` is 0, `path` what the child
/// calls its variant. Throws TorchRefused with the child's own words, ValueError for a line that is
/// no answer.
BenchResult read_torch_answer(const std::string& line, std::size_t workers);

}  // namespace gradcast
