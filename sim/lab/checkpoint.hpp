// The state of a training in a file, so that it goes on after an interruption as if there had been
// none.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "sim/lab/training.hpp"

namespace gradcast::lab {

/// `identity` is all that decides the training's result: settings, data, program. The file is
/// written whole or not at all.
void write_checkpoint(const std::filesystem::path& path, const std::string& identity,
                      const TrainingState& state);

/// None if there is no such file. Throws DataError if the file is damaged or has another identity.
/// `parameters` and `workers` are the training's numbers of them.
std::optional<TrainingState> read_checkpoint(const std::filesystem::path& path,
                                             const std::string& identity, std::size_t parameters,
                                             std::size_t workers);

/// The content of such a file, for tests and for who reads it.
std::string checkpoint_bytes(const std::string& identity, const TrainingState& state);
TrainingState checkpoint_state(const std::string& file, std::string_view bytes,
                               const std::string& identity, std::size_t parameters,
                               std::size_t workers);

}  // namespace gradcast::lab
