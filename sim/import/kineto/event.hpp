// One event of a profiler trace, as far as the importer looks at it.
#pragma once
#include <cstdint>
#include <string_view>

#include "sim/timeline/spans.hpp"

namespace gradcast::kineto {

/// Kind of an event, by its category; old traces spell categories in their own way.
enum class Category : std::uint8_t {
  Other,
  Operator,    // cpu_op, Operator
  Annotation,  // user_annotation
  Kernel,      // kernel, Kernel
  Memcpy,      // gpu_memcpy, Memcpy
  Memset,      // gpu_memset, Memset
  Runtime,     // cuda_runtime, cuda_driver, Runtime, and those of ROCm
};

Category category_of(std::string_view text);

/// A slice (ph "X"). Its texts are valid while it is handed over.
struct Event {
  std::string_view name{};
  Category category = Category::Other;
  std::string_view process{};  // numbers as text
  std::string_view thread{};
  Nanoseconds start = 0;
  Nanoseconds duration = 0;

  // Values of args; -1 or "" if the event has none.
  std::int64_t correlation = -1;
  std::int64_t sequence = -1;  // joins an operator and its gradient's
  std::int64_t device = -1;    // of a GPU operation
  std::int64_t bytes = -1;     // of a copy
  std::int64_t blocks = -1;    // of a kernel: the product of its grid
  std::int64_t threads = -1;   // of a block of it
  std::string_view dims{};     // "Input Dims": [[64,128],[]]
  std::string_view collective{};
  std::int64_t elements_in = -1;  // "In msg nelems"
  std::int64_t group_size = -1;
  std::string_view element_type{};
  std::string_view group{};  // what the process group is for: "default_pg"
};

/// The items of the n-th list in "[[64,128],[]]"; -1 where there is none or it is no such text.
std::int64_t elements_of_dims(std::string_view dims, int list = 0);
/// Its first item.
std::int64_t first_of_dims(std::string_view dims, int list = 0);

/// The elements for which a kernel of so many blocks and threads a block has room: it has at least
/// as many, less what a block takes. -1 for a kernel that is not elementwise.
std::int64_t elementwise_elements(std::string_view kernel, std::int64_t blocks,
                                  std::int64_t threads);

/// Most elements of a block: 128 threads with 4 elements each
/// (ATen/native/cuda/thread_constants.h). The true count is less than this below the room.
inline constexpr std::int64_t kElementsOfBlock = 512;

}  // namespace gradcast::kineto
