// Nsight Systems' exports (nsys export --type sqlite) as the events of a profiler trace.
#pragma once
#include <filesystem>
#include <functional>

#include "sim/import/kineto/event_reader.hpp"

namespace gradcast {

/// Hands over kernels, copies, launches and NVTX ranges. Ranges of PyTorch's emit_nvtx ("aten::add,
/// seq = 5, sizes = [[64]]") are operators, others annotations. The environment that the export
/// holds is never read. Throws DataError, MissingError.
kineto::Head read_nsys_events(const std::filesystem::path& path,
                              const std::function<void(const kineto::Event&)>& take);

}  // namespace gradcast
