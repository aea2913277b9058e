// PyTorch's execution traces (torch.profiler.ExecutionTraceObserver): JSON, the host's operators.
#pragma once
#include <filesystem>
#include <string_view>

#include "sim/import/execution/execution_trace.hpp"

namespace gradcast {

/// Whether unpacked bytes begin as such a trace does.
bool is_pytorch_trace(std::string_view begin);

/// Reads a trace node by node, .json or .json.gz. Throws DataError.
ExecutionTrace read_pytorch_trace(const std::filesystem::path& path);

}  // namespace gradcast
