// Memory that a caller lends. Both C++ and CUDA read this file: C++17.
#pragma once
#include <cstddef>
#include <new>

namespace gradcast {

/// Memory on the device for the tables and the scratch of an encoder, a packer, or their like. With
/// it, making one neither allocates nor waits for the device: so one is made anew where k or a
/// pointer changes. It belongs to what was made there, until that is gone and its last call is
/// done.
struct Workspace {
  void* memory = nullptr;  // nullptr: what is made takes its own, and waits until it is ready
  std::size_t bytes = 0;
  void* stream = nullptr;  // on which tables are uploaded, before the first call
};

/// A lent workspace has too few bytes.
struct WorkspaceTooSmall : std::bad_alloc {
  explicit WorkspaceTooSmall(std::size_t bytes) : needed(bytes) {}
  const char* what() const noexcept override { return "the workspace has too few bytes"; }
  std::size_t needed;
};

}  // namespace gradcast
