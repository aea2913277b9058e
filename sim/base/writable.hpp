// Whether a file could be written, asked before the work whose answer goes there.
#pragma once
#include <filesystem>

namespace gradcast {

/// Throws the Error (1) that write_text_file would throw: the folder does not exist or is closed,
/// the name is a folder. Nothing is written.
void require_file_writable(const std::filesystem::path& file);

/// The same for a folder that is made when it is needed, with those above it.
void require_folder_writable(const std::filesystem::path& folder);

}  // namespace gradcast
