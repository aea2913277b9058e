// PyTorch's operators, timed by kernels/bench/torch_baseline.py in a process of its own, which
// lives as long as the measurement: one JSON object a line to and fro.
#pragma once
#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "sim/base/units.hpp"

namespace gradcast {

/// The child cannot be asked any more, or never could: no Python, no torch, it died or hangs.
struct TorchGone : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// This one question it could not answer: a compressor it lacks, out of memory.
struct TorchRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class TorchChild {
 public:
  /// Runs `command` and reads what it says of itself. `interrupted` is asked while waiting, and
  /// makes any wait end with BenchInterrupted; `patience` bounds each wait. The destructor ends the
  /// child: asks it to, then does not ask.
  TorchChild(const std::vector<std::string>& command, std::function<bool()> interrupted,
             Seconds patience = Seconds{300});

  /// "2.11.0, CUDA 13.0, NVIDIA H200"
  const std::string& version() const { return version_; }

  /// Throws TorchGone, TorchRefused, BenchInterrupted. `bytes` is 0, `path` what the child calls
  /// its variant.
  BenchResult measure(const BenchPoint& point, Seconds seconds);

 private:
  /// What the destructor gives back, a constructor's that throws included.
  struct Process {
    pid_t id = -1;
    int channel = -1;                 // its standard input and output
    std::FILE* complaints = nullptr;  // its standard error
    bool busy = false;                // it was asked something and has not answered
    Process() = default;
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
  };

  void start(const std::vector<std::string>& command);
  void send(const std::string& line);
  std::string receive();
  [[noreturn]] void gone(const std::string& why);
  std::string last_complaint();

  std::function<bool()> interrupted_;
  Seconds patience_;
  Process process_;
  std::string received_;
  std::string version_;
};

}  // namespace gradcast
