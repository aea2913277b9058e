// CUDA's memory, and a stream.
#include <new>

#include "kernels/cuda_check.hpp"
#include "kernels/device_memory.hpp"

namespace gradcast::on_cuda {
namespace {

class Graph final : public Recording {
 public:
  Graph(cudaGraph_t graph, cudaStream_t stream) : graph_(graph), stream_(stream) {
    CUDA_CHECK(cudaGraphInstantiate(&executable_, graph, 0));
  }
  ~Graph() override {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void replay() override { CUDA_CHECK(cudaGraphLaunch(executable_, stream_)); }

 private:
  cudaGraph_t graph_;
  cudaGraphExec_t executable_ = nullptr;
  cudaStream_t stream_;
};

class Queue final : public DeviceQueue {
 public:
  explicit Queue(int device) {
    CUDA_CHECK(cudaSetDevice(device));
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Queue() override { cudaStreamDestroy(stream_); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw std::bad_alloc();
    }
    CUDA_CHECK(error);
    return memory;
  }
  void release(void* memory) override { cudaFree(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
    wait();
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
    wait();
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_));
  }
  void wait() override { CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  void* stream() override { return stream_; }
  std::unique_ptr<Recording> record(const std::function<void()>& enqueue) override {
    CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);  // or the stream records for ever
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    CUDA_CHECK(cudaStreamEndCapture(stream_, &graph));
    return std::make_unique<Graph>(graph, stream_);
  }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceQueue> make_queue(int device) { return std::make_unique<Queue>(device); }

}  // namespace gradcast::on_cuda
