// A profiler trace of a fully sharded network on two ranks, with numbers that can be added in the
// head. Unit "layers.0" is one matrix of 24 elements; the root's unit is an embedding of 16 and an
// output layer of 32. Each step, in microseconds since its beginning, 1000 apart:
//
//   host, thread 1    gather of the root, launch 12; embedding 30-40, launch 32; gather of the
//   layer,
//                     launch 62; layer 80-90, launch 82; output 100-110, launch 102;
//                     optimizer 600-660, launch 610
//   host, thread 2    backward of the output 300-350, launch 310, its gradient 352; gather of the
//                     layer, launch 358; backward of the layer 400-450, launch 410, its gradient
//                     452, its scatter 458; of the embedding 500-520, launch 505, its gradient 522;
//                     the root's scatter 535
//   GPU, stream 7     40-60 embedding, 90-190 layer, 190-290 output; backward 320-420, 420-520 and
//                     520-560; 620-680 update
//   GPU, stream 20    gathers 14-24, 64-74, 360-370; scatters 520-560, 565-585
#pragma once
#include <string>

#include "tests/sim/import/toy_run.hpp"

namespace gradcast {

class ToyFsdp {
 public:
  bool marks = true;       // FSDP2's annotations
  bool shapes = true;      // of gradients
  bool sizes = true;       // of what NCCL was given
  bool again = true;       // the layer is gathered again in backward
  bool recompute = false;  // backward of the layer begins with its forward, 410-430 on the GPU
  bool flat = false;       // a unit has one gradient, as in FSDP1
  bool twice = false;      // the layer is scattered twice
  int world_size = 2;      // shards are of two
  bool copies = false;     // the shards of a copy are added up with those of the others
  std::string gather_type = "Float", scatter_type = "Float";
  int steps = 3;

  std::string text() const {
    std::string events;
    for (int step = 0; step < steps; ++step) add_step(events, step);
    return R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"Toy GPU"}],)"
           R"("distributedInfo":{"backend":"nccl","rank":0,"world_size":)" +
           std::to_string(world_size) + R"(},"traceEvents":[)" + events.substr(1) + "]}";
  }

 private:
  std::string mark(const std::string& name, int thread, int at, int lasting) const {
    return marks ? ToyRun::slice("user_annotation", name, thread, at, lasting) : "";
  }

  std::string collective(const std::string& name, const std::string& type, int elements, int at,
                         int lasting, int thread, int launched) const {
    return ToyRun::kernel("ncclDevKernel_" + name, 20, at, lasting, thread, launched,
                          R"("Collective name":")" + name + R"(","Group size":2,"dtype":")" + type +
                              "\"" +
                              (sizes ? R"(,"In msg nelems":)" + std::to_string(elements) : ""));
  }

  std::string gradient(int at, const std::string& dims) const {
    return ToyRun::slice("cpu_op", "torch::autograd::AccumulateGrad", 2, at, 3,
                         shapes ? R"("Input Dims":[)" + dims + "]" : "");
  }

  void add_step(std::string& events, int step) const {
    const int at = 1000 * step;
    const auto sequence = [&](int layer) {
      return R"("Sequence number":)" + std::to_string(10 * step + layer);
    };
    const auto forward = [&](const std::string& name, int layer, int start) {
      events += ToyRun::slice("cpu_op", name, 1, at + start, 10,
                              sequence(layer) + R"(,"Input Dims":[[6,4],[6,3]])");
    };
    events += ToyRun::slice("user_annotation", "ProfilerStep#" + std::to_string(step), 1, at, 1000);
    events += mark("FSDP::all_gather", 1, at + 10, 5);
    events += collective("_allgather_base", gather_type, 24, at + 14, 10, 1, at + 12);
    forward("aten::embedding", 0, 30);
    events += ToyRun::kernel("gather", 7, at + 40, 20, 1, at + 32);
    events += collective("_allgather_base", gather_type, 12, at + 64, 10, 1, at + 62);
    forward("aten::linear", 1, 80);
    events += ToyRun::kernel("gemm", 7, at + 90, 100, 1, at + 82);
    forward("aten::linear", 2, 100);
    events += ToyRun::kernel("gemm", 7, at + 190, 100, 1, at + 102);
    add_backward(events, at, sequence);
    events += ToyRun::slice("user_annotation", "Optimizer.step#SGD.step", 1, at + 600, 60);
    events += ToyRun::kernel("sgd", 7, at + 620, 60, 1, at + 610);
  }

  template <class Sequence>
  void add_backward(std::string& events, int at, const Sequence& sequence) const {
    events += ToyRun::slice("cpu_op", "AddmmBackward0", 2, at + 300, 50, sequence(2));
    events += ToyRun::kernel("gemm", 7, at + 320, 100, 2, at + 310);
    if (!flat) events += gradient(at + 352, "[4,8]");
    events += mark("FSDP::pre_backward (layers.0)", 2, at + 355, 15);
    if (again) events += collective("_allgather_base", gather_type, 12, at + 360, 10, 2, at + 358);
    events += ToyRun::slice("cpu_op", "AddmmBackward0", 2, at + 400, 50, sequence(1));
    if (recompute) {
      events += ToyRun::slice("cpu_op", "aten::linear", 2, at + 402, 6, R"("Sequence number":999)");
      events += ToyRun::kernel("gemm", 7, at + 420, 20, 2, at + 404);
    }
    events += ToyRun::kernel("gemm", 7, at + 440, 80, 2, at + 410);
    events += gradient(at + 452, "[24]");
    events += mark("FSDP::post_backward_reduce (layers.0)", 2, at + 456, 14);
    events += collective("_reduce_scatter_base", scatter_type, 24, at + 520, 40, 2, at + 458);
    if (twice) {
      events += mark("FSDP::post_backward_reduce (layers.0)", 2, at + 480, 10);
      events += gradient(at + 475, "[24]");
      events += collective("_reduce_scatter_base", scatter_type, 24, at + 560, 2, 2, at + 482);
    }
    if (copies)
      events +=
          ToyRun::kernel("ncclDevKernel_AllReduce", 21, at + 561, 3, 2, at + 460,
                         R"("Collective name":"allreduce","Group size":2,"In msg nelems":12)");
    events += ToyRun::slice("cpu_op", "EmbeddingBackward0", 2, at + 500, 20, sequence(0));
    events += ToyRun::kernel("scatter", 7, at + 520, 40, 2, at + 505);
    events += gradient(at + 522, flat ? "[48]" : "[4,4]");
    events += mark("FSDP::post_backward_reduce", 2, at + 530, 20);
    events += collective("_reduce_scatter_base", scatter_type, 48, at + 565, 20, 2, at + 535);
  }
};

}  // namespace gradcast
