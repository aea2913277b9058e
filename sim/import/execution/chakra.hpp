// Chakra execution traces (.et, .et.gz): messages of protobuf, each with its size before it.
#pragma once
#include <filesystem>
#include <string_view>

#include "sim/import/execution/execution_trace.hpp"

namespace gradcast {

/// Whether unpacked bytes begin as such a trace does: with a GlobalMetadata message.
bool is_chakra(std::string_view begin);

/// Reads a trace message by message. Throws DataError.
ExecutionTrace read_chakra(const std::filesystem::path& path);

}  // namespace gradcast
