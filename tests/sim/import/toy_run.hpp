// A profiler trace of a network of two layers on two ranks, with numbers that can be added in the
// head. Each step, in microseconds since its beginning, 1000 apart:
//
//   host, thread 1    step 0-1000; linear 10-50, launch 20; linear 60-100, launch 70;
//                     optimizer 600-660, launch 610
//   host, thread 2    backward of the second 300-350, launch 310, its gradient (32) 352;
//                     backward of the first 400-450, launch 410, its gradient (16) 452;
//                     all-reduce of both 456, launch 458
//   GPU, stream 7     30-130, 130-230 forward; 320-420, 420-520 backward; 620-680 update
//   GPU, stream 20    500-620 all-reduce of 48 elements
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/import/kineto/event_reader.hpp"
#include "sim/import/readers.hpp"
#include "tests/temporary_folder.hpp"

namespace gradcast {

class ToyRun {
 public:
  int steps = 3;
  int rank = 0;
  int world_size = 2;
  int late = 0;           // microseconds that this rank comes later to its all-reduce
  bool compiled = false;  // one node of the backward pass, which sends both gradients itself
  int sends_every = 1;    // steps: gradients add up in the others
  std::string step_name = "ProfilerStep#";  // "": steps are not marked
  bool gradients = true;                    // marked as done
  bool optimizer = true;                    // its calls are marked
  std::string optimizer_class = "SGD";
  std::string optimizer_call;  // an operator in its calls, if any
  std::string head;            // members of the trace, with a comma behind each
  std::string gradient_dims[2] = {R"("Input Dims":[[16]])", R"("Input Dims":[[4,8]])"};
  std::string dtype = "Float";  // of what the all-reduces send
  std::string more;             // events, with a comma before each

  std::string text() const {
    std::string events;
    for (int step = 0; step < steps; ++step) add_step(events, step);
    return R"({"schemaVersion":1,)" + head +
           R"("deviceProperties":[{"id":0,"name":"Toy GPU"}],)"
           R"("distributedInfo":{"backend":"nccl","rank":)" +
           std::to_string(rank) + R"(,"world_size":)" + std::to_string(world_size) +
           R"(},"traceEvents":[)" + events.substr(1) + more + R"(],"traceName":"toy"})";
  }

  static std::string slice(const std::string& category, const std::string& name, int thread, int at,
                           int lasting, const std::string& args = "") {
    return R"(,{"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":9,"tid":)" +
           std::to_string(thread) + R"(,"ts":)" + std::to_string(at) + R"(,"dur":)" +
           std::to_string(lasting) + R"(,"args":{)" + args + "}}";
  }

  /// A kernel, and the call that launched it.
  static std::string kernel(const std::string& name, int stream, int at, int lasting, int thread,
                            int launched, const std::string& args = "") {
    const std::string link = R"("correlation":)" + std::to_string(100'000 + launched);
    return slice("cuda_runtime", "cudaLaunchKernel", thread, launched, 3, link) +
           R"(,{"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":)" +
           std::to_string(stream) + R"(,"ts":)" + std::to_string(at) + R"(,"dur":)" +
           std::to_string(lasting) + R"(,"args":{"device":0,)" + link +
           (args.empty() ? "" : "," + args) + "}}";
  }

 private:
  // host, thread 2    backward 300-500, launches 310, 320; all-reduces 400, 430; copy 415;
  //                   gradients 510, 520, launch 512
  // GPU, stream 7     320-420, 420-450 backward; 455-460 copy; 530-540 add; 620-680 update
  // GPU, stream 20    450-480 all-reduce, 480-500 all-reduce
  void add_compiled(std::string& events, int at) const {
    const std::string args =
        R"("Collective name":"allreduce","Group size":)" + std::to_string(world_size);
    events += slice("cpu_op", "CompiledFunctionBackward", 2, at + 300, 200);
    events += kernel("gemm", 7, at + 320, 100, 2, at + 310);
    events += kernel("gemm", 7, at + 420, 30, 2, at + 320);
    events += kernel("ncclKernel_AllReduce", 20, at + 450, 30, 2, at + 400, args);
    events += kernel("copy", 7, at + 455, 5, 2, at + 415);
    events += kernel("ncclKernel_AllReduce", 20, at + 480, 20, 2, at + 430, args);
    events += slice("cpu_op", "torch::autograd::AccumulateGrad", 2, at + 510, 3, gradient_dims[0]);
    events += kernel("add", 7, at + 530, 10, 2, at + 512);
    events += slice("cpu_op", "torch::autograd::AccumulateGrad", 2, at + 520, 3, gradient_dims[1]);
    events += slice("user_annotation", "Optimizer.step#SGD.step", 1, at + 600, 60);
    events += kernel("sgd", 7, at + 620, 60, 1, at + 610);
  }

  void add_step(std::string& events, int step) const {
    const int at = 1000 * step;
    const auto sequence = [&](int layer) {
      return R"("Sequence number":)" + std::to_string(10 * step + layer);
    };
    if (!step_name.empty())
      events += slice("user_annotation", step_name + std::to_string(step), 1, at, 1000);
    events += slice("cpu_op", "aten::linear", 1, at + 10, 40, sequence(0));
    events += kernel("gemm", 7, at + 30, 100, 1, at + 20);
    events += slice("cpu_op", "aten::linear", 1, at + 60, 40, sequence(1));
    events += kernel("gemm", 7, at + 130, 100, 1, at + 70);
    if (compiled) {
      add_compiled(events, at);
      return;
    }
    events += slice("cpu_op", "AddmmBackward0", 2, at + 300, 50, sequence(1));
    events += kernel("gemm", 7, at + 320, 100, 2, at + 310);
    if (gradients)
      events +=
          slice("cpu_op", "torch::autograd::AccumulateGrad", 2, at + 352, 3, gradient_dims[1]);
    events += slice("cpu_op", "AddmmBackward0", 2, at + 400, 50, sequence(0));
    events += kernel("gemm", 7, at + 420, 100, 2, at + 410);
    if (gradients)
      events +=
          slice("cpu_op", "torch::autograd::AccumulateGrad", 2, at + 452, 3, gradient_dims[0]);
    if (world_size > 1 && (step + 1) % sends_every == 0) {
      events += slice("cpu_op", "c10d::allreduce_", 2, at + 456, 10);
      events += kernel("ncclKernel_AllReduce", 20, at + 500 + late, 120 - late, 2, at + 458,
                       R"("Collective name":"allreduce","In msg nelems":48,"Group size":)" +
                           std::to_string(world_size) + R"(,"dtype":")" + dtype + '"');
    }
    if (optimizer)
      events +=
          slice("user_annotation", "Optimizer.step#" + optimizer_class + ".step", 1, at + 600, 60);
    if (!optimizer_call.empty()) events += slice("cpu_op", optimizer_call, 1, at + 605, 20);
    events += kernel("sgd", 7, at + 620, 60, 1, at + 610);
  }
};

/// The reader's result for such files.
inline Imported imported_toys(const std::vector<ToyRun>& runs, const ImportOptions& options = {}) {
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> paths;
  for (const ToyRun& run : runs)
    paths.emplace_back(folder.write("rank" + std::to_string(paths.size()) + ".json", run.text()));
  return import_reader_for(paths).read(paths, options);
}

inline Imported imported_toy(const ToyRun& run, const ImportOptions& options = {}) {
  return imported_toys({run}, options);
}

inline Imported imported_text(const std::string& text) {
  const TemporaryFolder folder;
  return import_reader_named("kineto").read({folder.write("trace.json", text)}, {});
}

/// Microseconds.
inline double micro(Seconds time) { return time.count() * 1e6; }

inline bool says(const std::vector<std::string>& sentences, const std::string& part) {
  for (const std::string& sentence : sentences)
    if (sentence.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace gradcast
