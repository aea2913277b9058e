// safetensors checkpoints: the header's names, shapes and types. The weights are not read.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/weights/weight.hpp"

namespace gradcast {

/// Whether a file begins as a safetensors file or as the index of one that is in several files.
/// `begin`: its first bytes.
bool is_safetensors(const std::filesystem::path& path, std::string_view begin);

/// One file, by its header. Throws DataError for a header that is longer than the file or than the
/// format allows, or that is not JSON; and for tensors whose sizes are no sizes, that lie over each
/// other or beyond the file, or that have the same name. A file that ends with its header is whole
/// enough: somebody fetched no more.
std::vector<Weight> read_safetensors_header(const std::filesystem::path& path);

/// The weights of a checkpoint in one file or several, or of its index
/// (model.safetensors.index.json), whose files lie beside it. They are in forward order, without
/// what is not trained; `notes` gets what was dropped and what was inferred.
std::vector<Weight> read_safetensors(const std::vector<std::filesystem::path>& files,
                                     ImportNotes& notes);

}  // namespace gradcast
