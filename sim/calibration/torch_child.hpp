// PyTorch's operators, timed by kernels/bench/torch_baseline.py in a process of its own, which
// lives as long as the measurement. Questions and answers are one JSON object per line.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "sim/base/child_process.hpp"
#include "sim/base/units.hpp"

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

/// The child cannot answer any more, or never could: there is no Python or no torch, or it died or
/// hangs.
struct TorchGone : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class TorchChild {
 public:
  /// Runs `command` and reads its first message, which describes it. `interrupted` is called while
  /// waiting; when it is true, the wait ends with BenchInterrupted. `patience` limits each wait.
  /// The destructor first asks the child to end, and then ends it by force.
  TorchChild(const std::vector<std::string>& command, std::function<bool()> interrupted,
             Seconds patience = Seconds{300});

  /// "2.11.0, CUDA 13.0, NVIDIA H200"
  const std::string& version() const { return version_; }

  /// Throws TorchGone, TorchRefused, BenchInterrupted. `bytes` is 0, `path` what the child calls
  /// its variant.
  BenchResult measure(const BenchPoint& point, Seconds seconds);

 private:
  /// The resources that the destructor releases, also when a constructor throws.
  struct Process {
    pid_t id = -1;
    int channel = -1;       // its standard input and output
    Complaints complaints;  // its standard error
    bool busy = false;      // it was asked something and has not answered
    Process() = default;
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
  };

  void start(const std::vector<std::string>& command);
  void send(const std::string& line);
  std::string receive();
  [[noreturn]] void gone(const std::string& why);

  std::function<bool()> interrupted_;
  Seconds patience_;
  Process process_;
  std::string received_;
  std::string version_;
};

}  // namespace gradcast
